/*
 * build_key: all that decides what a program built for a variant will be.
 *
 * Two programs with the same key are the same program, so that one of them can be taken from the
 * cache, which several hosts may share. What of the environment the tools get is therefore either
 * part of the key or not there at all.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_BUILD_KEY_H
#define WEIR_RUN_BUILD_KEY_H

#include "apps/provenance/sha256.h"
#include "dataplane/transport/transport.h"

#include <jansson.h>
#include <stdbool.h>

/* Where a host says what its processors are. */
#define BUILD_KEY_CPUINFO "/proc/cpuinfo"

/* All lent. */
struct build_key {
	const char *commit;
	const char *diff_sha256; /* of what differs from it; "" if nothing does */
	const char *options;	 /* meson's, as the variant has them */
	const char *c_args;	 /* likewise the compiler's */
	const char *compiler;	 /* its version */
	const json_t *own;	 /* weir.build/1 of the running program */
	const char *cpuinfo;	 /* a path: BUILD_KEY_CPUINFO but in tests */
};

/*
 * The key in hexadecimal. Where any of the arguments makes the program for the processor that it is
 * built on ("-march=native", "-mtune=native"), what that processor is belongs to it. 0; or negative
 * errno, with `error` filled, if it cannot be read then.
 */
int build_key_make(const struct build_key *key, char hex_out[SHA256_HEX_BYTES],
		   struct tp_error *error);

/*
 * Whether a variable, "NAME=value", is among those that the tools get. What would send them or the
 * compiler elsewhere is not, nor what says to them what options say.
 */
bool build_key_lets_through(const char *variable);

#endif
