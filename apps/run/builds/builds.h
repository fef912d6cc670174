/*
 * builds: the programs that an experiment's variants are served by.
 *
 * The runner's own, and one for each commit, options or compiler arguments that a variant names.
 * Those are built from a detached working tree in a folder of the cache, never in the user's
 * checkout, of which nothing is changed: neither files nor index, references or objects. A program
 * that the cache has already, whole and with the digest it was stored with, is not built again.
 *
 * Plane: setup, main thread.
 */
#ifndef WEIR_RUN_BUILDS_H
#define WEIR_RUN_BUILDS_H

#include "apps/run/experiment/experiment.h"
#include "apps/run/sample/interrupt.h"
#include "apps/run/builds/program.h"
#include "dataplane/transport/transport.h"

/* "results/.builds" of weir's own folder. 0, or -ENOENT if it is not known where that is. */
int builds_default_cache(char path[PATH_MAX]);

/*
 * Makes one program for each of the experiment's builds, in their order; the first is the runner's
 * own. References mean the commits that `commits` names, builds_commits() of an earlier run, and
 * what is not in it, or all if it is NULL, what git says now; all are looked up before anything is
 * built, so that one reference is one commit. `cache_folder` is made if need be; where only the own
 * program is wanted it may be "", and that it cannot be had is then no failure. 0, and programs_out
 * is the caller's (program_fini of each); -EINTR if interrupted; or another negative errno, with
 * `error` naming the variant.
 */
int builds_make(const struct experiment *experiment, const json_t *commits,
		const char *cache_folder, struct interrupt *interrupt, struct program *programs_out,
		struct tp_error *error);

/* Which commit each reference meant, {"HEAD~1": "<40 digits>"}: a new reference. */
json_t *builds_commits(const struct experiment *experiment, const struct program *programs);

/* Gives up the programs of all of the experiment's builds. */
void builds_fini(const struct experiment *experiment, struct program *programs);

/*
 * build.json: what the own program was built from; "client", which program makes the load; and
 * "variants", by name, the programs that serve them. A new reference.
 */
json_t *builds_to_json(const struct experiment *experiment, const struct program *programs);

/* Why no figure of one of these programs counts, and whose; lent until they are given up. NULL if
 * all are fit. */
const char *builds_unfit(const struct experiment *experiment, const struct program *programs,
			 const char **variant_out);

#endif
