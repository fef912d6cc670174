/*
 * digest: all that a server answers to fixed requests, as one hash.
 *
 * Sends the same numbered requests over one connection, whatever the stack, and hashes the answers
 * in order (hasher.h). Two servers that do the same work have the same
 * digest; the runner compares them before it compares their speed. Each answer is verified as under
 * load, too, but one that is wrong still ends in a digest, so that the difference can be named.
 *
 * Plane: main thread, apart from any measurement.
 */
#ifndef WEIR_APPS_LOAD_DIGEST_H
#define WEIR_APPS_LOAD_DIGEST_H

#include "apps/load/load.h"
#include "apps/provenance/sha256.h"

struct digest {
	char hex[SHA256_HEX_BYTES]; /* "" if not every request was answered */
	uint64_t bytes;		    /* hashed */
	struct failures failures;   /* answers that are wrong, or did not come */
	int signal_number;	    /* that ended it; 0 if none did */
};

/*
 * Asks options->digest requests, options->depth at a time. 0 with `digest_out` filled; or negative
 * errno with `error` filled when it could not begin. SIGINT and its kin must be blocked; they end
 * it.
 */
int digest_run(const struct load_options *options, struct digest *digest_out,
	       struct tp_error *error);

#endif
