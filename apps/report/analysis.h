/*
 * analysis: the Python side, called as a program.
 *
 * Plane: setup.
 */
#ifndef WEIR_REPORT_ANALYSIS_H
#define WEIR_REPORT_ANALYSIS_H

#include "dataplane/transport/transport.h"

#include <stddef.h>

extern const char analysis_python[]; /* the interpreter that Debian's packages are for */

/*
 * Becomes `python3 -m analysis.report RESULT`. Returns only on failure: negative errno with `error`
 * filled; -ENOENT if there is no repository to be found or no interpreter.
 */
int analysis_exec_report(const char *result, struct tp_error *error);

/*
 * The packages that analysis needs and this host lacks: how many, and in `packages` Debian's names,
 * joined by blanks.
 */
int analysis_missing(char *packages, size_t packages_bytes);

#endif
