/*
 * claim: things of this host that one living process has, each by a name.
 *
 * A claim is a file in a folder, locked by its owner for as long as it lives and holding "pid N".
 * The kernel lets go of the lock when the owner dies, however it dies, so that a file nobody has
 * locked is a stale claim: what it stands for was left behind and may be removed. A process id
 * alone would not tell, for it may be another's by now. Looking at a claim does not disturb it.
 *
 * Whoever takes, drops or removes claims holds the folder's own lock meanwhile (claim_lock): so
 * what a claim stands for is made and removed by one at a time. The folder is writable to its user
 * only.
 *
 * Plane: setup, main thread.
 */
#ifndef WEIR_APPS_CLAIM_H
#define WEIR_APPS_CLAIM_H

#include "dataplane/transport/transport.h"

#include <sys/types.h>

/* Where the claims of all of weir's processes on this host are. */
#define CLAIM_FOLDER "/run/weir"

enum { CLAIM_NAME_BYTES = 64 };

enum claim_state {
	CLAIM_NONE,
	CLAIM_HELD,
	CLAIM_STALE,
};

struct claim {
	char name[CLAIM_NAME_BYTES];
	enum claim_state state;
	pid_t pid; /* of the owner, as the file says; 0 if it does not */
};

/*
 * Locks the folder, which is made if it is not there, and waits up to 10 s for whoever has it. A
 * descriptor that is closed to unlock; or negative errno with `error` filled.
 */
int claim_lock(const char *folder, struct tp_error *error);

/*
 * Claims a name, which may be stale. A descriptor, by which it is held; -EBUSY if a living process
 * holds it, or another negative errno; with `error` filled.
 */
int claim_take(const char *folder, const char *name, struct tp_error *error);

/* Gives a claim up. */
void claim_drop(const char *folder, const char *name, int fd);

/* Removes a stale claim. */
void claim_remove(const char *folder, const char *name);

/* What there is to a name. */
struct claim claim_look(const char *folder, const char *name);

/*
 * The claims whose names begin with `prefix` and not with '.', in no order, as many as there is
 * room for; their number.
 */
unsigned claim_list(const char *folder, const char *prefix, struct claim *list_out, unsigned room);

#endif
