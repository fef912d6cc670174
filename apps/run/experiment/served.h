/*
 * served: the files that an experiment gives its servers.
 *
 * "server_config" names a configuration of `weir serve` below the experiment's folder; its routes
 * may name folders there (static:DIR). Plan and result know each file by its digest, and a result
 * holds all of them under the names that they have, so that it can be repeated from there alone.
 * Nothing leads out of the folder: no absolute path, no "..", no link.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_SERVED_H
#define WEIR_RUN_SERVED_H

#include "apps/run/experiment/complaint.h"
#include "apps/run/store/directory.h"

enum {
	SERVED_FILES_MAX = 1000,
	SERVED_BYTES_MAX = 64 * 1024 * 1024, /* of all together */
};

/*
 * Judges "server_config" and what it names, and fills what of the experiment is made of it; whether
 * there is an upstream is known by then.
 */
void served_judge(const struct judge *judge);

/* Copies the files into a result. 0, or the directory's failure. */
int served_copy(const struct experiment *experiment, struct directory *directory);

#endif
