/*
 * reply: responses of HTTP/1.1, taken apart where they were received.
 *
 *	head -> { body; the caller takes `left` bytes and lowers it }* until it has ended
 *
 * Nothing is judged but whether it can be read; RFC 9112 section 6.3 says where a body ends.
 *
 * Plane: turn.
 */
#ifndef WEIR_APPS_LOAD_REPLY_H
#define WEIR_APPS_LOAD_REPLY_H

#include "dataplane/proto/http1.h"

#include <stdbool.h>
#include <stdint.h>

/* The place within a response; zeroed before the first. */
struct reply {
	bool chunked;
	bool until_close; /* only the end of the connection ends it */
	bool ended;
	uint64_t left; /* body bytes that follow directly */
	struct http1_scan scan;
	struct http1_chunks chunks;
};

/* What one worker's replies share: memory for the head at hand. */
struct reply_scratch {
	struct http1_response response;	 /* the last head read; its spans are lent until consume */
	uint8_t bytes[HTTP1_HEAD_BYTES]; /* a head that stands in pieces */
};

/*
 * Reads and passes over a head; some of it is there. HTTP1_OK: it is `scratch->response`, and its
 * body has begun, which `bodiless` says there is none of whatever the head says. HTTP1_MORE or what
 * is wrong: nothing was passed over. `head_out` lends the whole head.
 */
enum http1_status reply_head(struct reply *reply, struct reply_scratch *scratch, bool bodiless,
			     struct span_reader *reader, struct span *head_out);

/* Begins a body, as the head read or known says. */
void reply_begin(struct reply *reply, bool chunked, uint64_t left);

/*
 * Passes over framing until body bytes follow (left > 0) or the body has ended. HTTP1_MORE if what
 * is there does not reach, else what is wrong.
 */
enum http1_status reply_body(struct reply *reply, struct span_reader *reader);

#endif
