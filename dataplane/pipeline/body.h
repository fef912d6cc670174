/*
 * body: the rest of a request, behind its head, as a connection takes it.
 *
 * Plane: turn, within a visit.
 */
#ifndef WEIR_PIPELINE_BODY_H
#define WEIR_PIPELINE_BODY_H

#include "dataplane/pipeline/conn.h"

/* Body bytes that may be taken now; see exchange_ready. */
size_t body_ready(struct conn *conn);

/* Passes over all that is there; true once the body has ended. */
bool body_drop(struct conn *conn);

/*
 * Whether the body has ended; looks behind its last bytes, if what ends it is there. A fault in
 * conn->codec says that it never will.
 */
bool body_ended(struct conn *conn);

/* Says that `bytes` of what is ready were passed over in the reader. */
static inline void body_taken(struct conn *conn, size_t bytes)
{
	conn->codec.expects = false;
	codec_take(&conn->codec, bytes);
}

#endif
