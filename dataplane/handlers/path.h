/*
 * path: what a request's path says behind its percent escapes.
 *
 * Plane: turn.
 */
#ifndef WEIR_HANDLERS_PATH_H
#define WEIR_HANDLERS_PATH_H

#include "dataplane/core/span.h"

#include <stdbool.h>

/* The byte at `*at`, decoded once; passes over it. -1: it is a percent sign and no escape. */
int path_next(struct span path, size_t *at);

/*
 * Whether some part of the path is "." or "..": as anybody might read it who resolves such parts,
 * so escaped or not, between slashes of either kind, escaped or not, and before a ';'.
 */
bool path_has_dots(struct span path);

#endif
