/*
 * build_cache: the folder that holds the programs of variants.
 *
 * It is weir's own: a file in it, BUILD_CACHE_MARKER, says so, and a folder that has other things
 * in it and not this file is refused, so that nothing of anybody's is hidden or removed. Its
 * entries (build_entry.h) have names of their own; nothing of any other name is touched but scratch
 * folders, `scratch-` and six letters, which runners take and give back. Who has a scratch folder
 * holds the lock in it: what nobody holds and is still there, a killed runner has left. Process ids
 * would not tell, for the folder may be seen from other hosts and containers.
 *
 * Who makes or sweeps scratch folders holds the marker's lock meanwhile. Plane: setup.
 */
#ifndef WEIR_RUN_BUILD_CACHE_H
#define WEIR_RUN_BUILD_CACHE_H

#include "apps/run/sample/interrupt.h"
#include "dataplane/transport/transport.h"

#include <limits.h>

#define BUILD_CACHE_MARKER ".weir-builds"

/* Folder names in the cache leave room below PATH_MAX for what is in them. */
enum { BUILD_CACHE_NAMES_BYTES = 96 };

struct build_scratch {
	char path[PATH_MAX]; /* "" if it was never taken */
	int lock;
};

/*
 * Makes the cache's folder if need be, removes what killed runners left in it, and says its full
 * path. 0; -ENOTEMPTY if the folder is there and not weir's; -EINTR if interrupted; or another
 * negative errno; with `error` filled.
 */
int build_cache_open(const char *path, struct interrupt *interrupt, char cache_out[PATH_MAX],
		     struct tp_error *error);

/*
 * A folder in the cache that nobody else removes, with nothing in it but the file `lock`. 0, or as
 * above.
 */
int build_scratch_take(struct build_scratch *scratch, const char *cache,
		       struct interrupt *interrupt, struct tp_error *error);

/* Removes it. One that was never taken, but zeroed, is fine. */
void build_scratch_give_back(struct build_scratch *scratch);

#endif
