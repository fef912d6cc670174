/*
 * body: the rest of a request, behind its head, as a connection takes it.
 *
 * Plane: turn, within a visit.
 */
#ifndef WEIR_PIPELINE_BODY_H
#define WEIR_PIPELINE_BODY_H

#include "dataplane/pipeline/conn.h"

/* As body_ready, where the body comes in pieces or its next bytes are not there. */
size_t body_await(struct conn *conn);

/* Passes over all that is there; true once the body has ended. */
bool body_drop(struct conn *conn);

/*
 * Whether the body has ended; looks behind its last bytes, if what ends it is there. A fault in
 * conn->codec says that it never will.
 */
bool body_ended(struct conn *conn);

/* Body bytes that may be taken now; see exchange_ready. */
static inline size_t body_ready(struct conn *conn)
{
	const struct codec_state *state = &conn->codec;
	size_t there = conn->reader->left;

	if (state->body_ended)
		return 0;
	if (!state->pieces && there >= state->body_left)
		return state->body_left;
	return !state->pieces && there >= LIMIT_CHUNK_BYTES ? there : body_await(conn);
}

/* Says that `bytes` of what is ready were passed over in the reader. */
static inline void body_taken(struct conn *conn, size_t bytes)
{
	conn->codec.expects = false;
	codec_take(&conn->codec, bytes);
}

#endif
