/*
 * dialect: one protocol, as the client speaks it.
 *
 * The client knows how many requests are to be outstanding and when they are sent; a dialect knows
 * how a request reads and which response is right.
 *
 * Planes: prepare is setup, the rest is turn.
 */
#ifndef WEIR_APPS_LOAD_DIALECT_H
#define WEIR_APPS_LOAD_DIALECT_H

#include "apps/load/talk.h"
#include "apps/load/verify.h"
#include "dataplane/core/span.h"

#include <stdint.h>

struct dialect {
	const char *name; /* as in codec_names (codec.h) */
	/*
	 * Fills what of `talk` is the protocol's: request_bytes and, where there is one, the head.
	 * 0, or negative errno with `error` filled; then talk_fini is the caller's.
	 */
	int (*prepare)(struct talk *talk, const struct talk_config *config, struct tp_error *error);
	/* Writes the request of this id, talk->request_bytes of it. */
	void (*put_request)(const struct talk *talk, uint64_t id, struct room_writer *writer);
	/*
	 * Verifies on, at most to the end of the response that `id` asked for. `who` names the
	 * connection in messages; something is there to be read.
	 */
	enum verify_result (*verify)(struct verifier *verifier, struct verify *verify, uint64_t id,
				     struct span_reader *reader, unsigned who);
};

extern const struct dialect dialect_framed;
extern const struct dialect dialect_http1;

#endif
