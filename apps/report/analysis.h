/*
 * analysis: the Python side, called as a program.
 *
 * Plane: setup.
 */
#ifndef WEIR_REPORT_ANALYSIS_H
#define WEIR_REPORT_ANALYSIS_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stddef.h>

extern const char analysis_python[]; /* the interpreter that Debian's packages are for */

/*
 * Becomes `python3 -m analysis.MODULE ARGUMENTS`, where `arguments` end with NULL. Returns only on
 * failure: negative errno with `error` filled; -ENOENT if there is no repository to be found or no
 * interpreter.
 */
int analysis_exec(const char *module, const char *const *arguments, struct tp_error *error);

/*
 * A verb whose flags are the analysis's: becomes analysis.MODULE with what stands behind argv[0].
 * Returns an exit status only if it cannot, and then says why in the name of `program`.
 */
int analysis_verb(const char *program, const char *module, char **argv);

/* Says in the name of `program` which packages are missing. Whether none is. */
bool analysis_ready(const char *program);

/*
 * The packages that analysis needs and this host lacks: how many, and in `packages` Debian's names,
 * joined by blanks.
 */
int analysis_missing(char *packages, size_t packages_bytes);

#endif
