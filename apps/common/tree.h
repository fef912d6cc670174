/*
 * tree: folders with all that is above or below them.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_APPS_TREE_H
#define WEIR_APPS_TREE_H

#include <sys/types.h>

/* Makes a folder and those above it, as far as they lack, with this mode. 0 or negative errno. */
int tree_make(const char *path, mode_t mode);

/*
 * Removes whatever is at `path`, a folder with all in it, as far as it goes. Links are removed, not
 * followed, and another file system that is mounted below is left alone. 0, also if nothing is
 * there; or the negative errno of the first thing that could not be removed.
 */
int tree_remove(const char *path);

/*
 * The same, tried again for up to 5 s as long as folders are not empty: a process that is just
 * being killed may still put things in.
 */
int tree_remove_busy(const char *path);

#endif
