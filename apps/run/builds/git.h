/*
 * git: what a repository has, seen without changing anything in it.
 *
 * All is done by git itself, with an environment that is cleaned of what would send it elsewhere
 * and with the repository's hooks off. What it must write, an index and objects, goes to a scratch
 * folder of the caller's; the repository, its index, its references and the checked-out files are
 * only read. (Git renews the times of objects that it is asked to write and finds there.)
 *
 * `root` is the top folder of a working tree throughout. Plane: setup, main thread.
 */
#ifndef WEIR_RUN_GIT_H
#define WEIR_RUN_GIT_H

#include "apps/provenance/sha256.h"
#include "dataplane/transport/transport.h"

#include <limits.h>
#include <stdbool.h>

enum { GIT_HASH_BYTES = 65 }; /* of SHA-256 repositories; most have 40 digits */

/* The files as they are: what is committed and what differs from it. */
struct git_state {
	char commit[GIT_HASH_BYTES]; /* HEAD */
	char tree[GIT_HASH_BYTES];   /* of the files; its objects are in the scratch folder */
	bool dirty;		     /* the files, those that are ignored aside, are not HEAD's */
	/* Of `git diff-tree` from HEAD to the tree, files that are not tracked included; "" if
	 * clean. */
	char diff_sha256[SHA256_HEX_BYTES];
};

/*
 * Whether `root` is the top of a working tree. 0; -ENOENT without git, -EINVAL if it is none, with
 * `error` filled.
 */
int git_check(const char *root, struct tp_error *error);

/* The commit that a reference means. 0; -EINVAL if there is none, with `error` naming the nearest.
 */
int git_resolve(const char *root, const char *reference, char commit_out[GIT_HASH_BYTES],
		struct tp_error *error);

/*
 * Looks at the files. `scratch` is a folder that exists, is empty, and is kept as long as the tree
 * is used; the diff is in its file `diff`. 0, or negative errno with `error` filled.
 */
int git_look(const char *root, const char *scratch, struct git_state *state_out,
	     struct tp_error *error);

/*
 * Makes `folder` a detached working tree at `commit`, in a repository of its own that borrows the
 * objects of `root`'s. Where `state` is not NULL the files are those of its tree, which `scratch`
 * holds. 0, or negative errno with `error` filled and perhaps part of the folder made.
 */
int git_check_out(const char *root, const char *commit, const struct git_state *state,
		  const char *scratch, const char *folder, struct tp_error *error);

#endif
