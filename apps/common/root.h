/*
 * root: where the repository is that this program was built from.
 *
 * The launcher says so in WEIR_ROOT. Without it, the folders above the program are searched for
 * analysis/.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_ROOT_H
#define WEIR_APPS_ROOT_H

#include <limits.h>

/* 0; or -ENOENT when neither way leads to it. */
int root_find(char root[PATH_MAX]);

#endif
