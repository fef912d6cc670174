/*
 * lock: one measurement at a time on a host.
 *
 * A file is locked as long as this process lives and says who holds it. It is every user's: one may
 * hold what another has made. The children do not inherit it.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_LOCK_H
#define WEIR_RUN_LOCK_H

#include "dataplane/transport/transport.h"

/* Where the lock is if no flag says otherwise: one place, whoever asks. */
const char *lock_default_path(void);

/*
 * Takes it without waiting; `what` is noted in it. A descriptor to keep open, or -EBUSY and others
 * with `error` filled.
 */
int lock_take(const char *path, const char *what, struct tp_error *error);

/*
 * Locks a folder, in which no file is made for it, against others that do so. A descriptor to keep
 * open; -EBUSY with the holder named in `error` as far as the kernel tells, or another negative
 * errno.
 */
int lock_folder(const char *path, struct tp_error *error);

#endif
