/*
 * static_path: a request's path as the name of a file below a folder.
 *
 * Percent escapes are decoded once, and what they stand for never parts a name: an escaped '/' or
 * NUL is no file of ours. Neither is anything whose name begins with a dot: that keeps `.` and `..`
 * away, and what people hide. A path that ends in '/' names the folder's index.html.
 *
 * Plane: turn. The kernel (openat2) has the last word on what is below the folder.
 */
#ifndef WEIR_HANDLERS_STATIC_PATH_H
#define WEIR_HANDLERS_STATIC_PATH_H

#include "dataplane/core/span.h"

enum { STATIC_NAME_BYTES = 1024 }; /* with its end */

/* Behind a folder's name. */
#define STATIC_INDEX "index.html"

/* Writes the name, ended by NUL. 0, or the code that refuses the path: 400, 404 or 414. */
unsigned static_path_name(struct span path, char name_out[STATIC_NAME_BYTES]);

#endif
