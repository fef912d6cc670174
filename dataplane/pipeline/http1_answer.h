/*
 * http1_answer: the head of a response of HTTP/1.1, as bytes.
 *
 * It says no more than a client needs: Date, Content-Type, what frames the body, Connection where
 * it is not the version's default, and the handler's own fields. There is no Server.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_HTTP1_ANSWER_H
#define WEIR_PIPELINE_HTTP1_ANSWER_H

#include "dataplane/pipeline/exchange.h"

/* What a head says beside the response's own. */
struct http1_answer {
	const char *date; /* HTTP1_DATE_BYTES */
	bool unframed;	  /* neither Content-Length nor chunked: no body, or ended by the close */
	bool close;
	bool keep_alive; /* said to a client of HTTP/1.0 that asked for it */
};

/* Writes the head at `to`, of CODEC_HEAD_BYTES; its length. */
size_t http1_answer_head(uint8_t *to, const struct response *response,
			 const struct http1_answer *answer);

#endif
