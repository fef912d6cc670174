/*
 * program: the weir that serves in a cell: the runner's own, or one built for a variant.
 *
 * The load generator is always the runner's own, so that variants differ by their server alone.
 * Filled by whoever builds; a plan that runs nothing has programs that were never built.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_PROGRAM_H
#define WEIR_RUN_PROGRAM_H

#include "apps/provenance/sha256.h"

#include <jansson.h>
#include <limits.h>

struct program {
	char path[PATH_MAX];	       /* what is executed; "" if it was not built */
	char sha256[SHA256_HEX_BYTES]; /* of that file; "" if it was not built */
	json_t *build;		       /* weir.build/1, and how it was made; NULL if not built */
};

/* The running program itself. 0, or negative errno if it cannot be read. */
int program_own(struct program *program_out);

/* Gives up what it refers to. */
void program_fini(struct program *program);

#endif
