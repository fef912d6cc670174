/*
 * build_entry: a built program's place in the cache of variants' programs.
 *
 * CACHE/COMMIT-KEY holds `weir`, the program, and `program.json`, what it is. The latter is written
 * last: without it the entry is not whole. `tree` and `build` are there only while somebody
 * builds, and `build.log` says how the last build went. Who has an entry open holds its lock, which
 * the kernel takes back from the dead: what nobody holds and is still there, a killed runner has
 * left.
 *
 * Owned by the caller from open to close; legal order: open, { load, store }*, close. Plane: setup.
 */
#ifndef WEIR_RUN_BUILD_ENTRY_H
#define WEIR_RUN_BUILD_ENTRY_H

#include "apps/run/sample/interrupt.h"
#include "apps/run/builds/program.h"
#include "dataplane/transport/transport.h"

enum {
	BUILD_NAME_DIGITS = 12, /* on either side of the dash */
	BUILD_NAME_BYTES = 2 * BUILD_NAME_DIGITS + 2,
};

struct build_entry {
	char folder[PATH_MAX]; /* the cache's path must leave room for the names in it */
	char tree[PATH_MAX];   /* not there after open */
	char build[PATH_MAX];  /* likewise */
	char log[PATH_MAX];
	int lock;
};

/* Whether an entry's folder may be called so: twelve hexadecimal digits, a dash, twelve more. */
bool build_entry_is_name(const char *name);

/* Removes what a killed runner left in an entry, unless somebody has it open. */
void build_entry_sweep(const char *cache, const char *name);

/*
 * Makes it if need be, waits until nobody else has it, and removes what a killed runner left in it.
 * 0; -EINTR if interrupted in the meantime; or another negative errno; with `error` filled.
 */
int build_entry_open(struct build_entry *entry, const char *cache, const char *name,
		     struct interrupt *interrupt, struct tp_error *error);

/*
 * Whether the entry is whole and its program is the one that was stored; then it is in
 * `program_out`, owned by the caller (program_fini).
 */
bool build_entry_load(const struct build_entry *entry, struct program *program_out);

/*
 * Copies the program at `built` into the entry and writes what it is: `facts`, which the call adds
 * to and the caller keeps. 0 and the program as above, or negative errno with `error` filled.
 */
int build_entry_store(const struct build_entry *entry, const char *built, json_t *facts,
		      struct program *program_out, struct tp_error *error);

/* Removes tree and build folder and lets others in. */
void build_entry_close(struct build_entry *entry);

#endif
