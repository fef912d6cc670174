/*
 * build_compile: weir compiled from a source tree in the way that this program was.
 *
 * The same compiler, the same options of meson and the same arguments of the compiler, and behind
 * them a variant's own, so that two variants differ in what they name alone.
 *
 * Plane: setup, main thread.
 */
#ifndef WEIR_RUN_BUILD_COMPILE_H
#define WEIR_RUN_BUILD_COMPILE_H

#include "apps/run/sample/interrupt.h"
#include "dataplane/transport/transport.h"

#include <jansson.h>

struct build_compile {
	const json_t *own;   /* weir.build/1 of the running program */
	const char *options; /* meson's, parted by blanks; or "" */
	const char *c_args;  /* the compiler's; or "" */
	const char *tree;    /* the sources */
	const char *build;   /* a folder that is not there yet */
	const char *log;     /* what the tools say; written over */
};

/* The first line that a compiler says of its version. 0, or negative errno with `error` filled. */
int build_compile_version(const json_t *own, char *version, size_t room, struct tp_error *error);

/* Whether meson would take the options, before anything is built. 0 or -EINVAL. */
int build_compile_judge(const char *options, struct tp_error *error);

/*
 * Builds BUILD/apps/weir. 0; -EINTR if the interrupt ended it; or another negative errno, with
 * `error` quoting what went wrong.
 */
int build_compile_run(const struct build_compile *compile, struct interrupt *interrupt,
		      struct tp_error *error);

/*
 * What meson made of it, as far as weir.build/1 has it: a new reference. "unfit_for_performance" is
 * among it.
 */
json_t *build_compile_facts(const struct build_compile *compile);

#endif
