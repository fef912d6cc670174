/*
 * exchange: one request and the answer to it, as a handler sees them.
 *
 * A handler is sans-I/O and knows no framing: it takes the request's body in the pieces in which it
 * was received, and puts the response's body into send memory that it is lent. Of HTTP it sees the
 * request's head, and says status and fields. What stands around the bytes (frames, heads, chunks)
 * is the codec's (codec.h), when they are written is the delivery policy's, and a connection has
 * one exchange at a time.
 *
 *	begin (handler) -> { exchange_ready, _piece, _skip, _copy
 *			     exchange_respond, _left, _put_head, _room, _put, _send_file,
 *			     _finish }*  -> end (handler)
 *
 * The response may begin before the request's body has ended (echo), or long after (proxy). A
 * handler that can not go on just returns: it is called again when body bytes came, when room is
 * there that it was refused, or when somebody woke the exchange. Whoever leaves body bytes where
 * they are stops the peer, once its window is full: that is the backpressure.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_EXCHANGE_H
#define WEIR_PIPELINE_EXCHANGE_H

#include "dataplane/core/span.h"
#include "dataplane/proto/http1.h"

#include <stdbool.h>
#include <stdint.h>

/* A body whose length is known only by its end. */
#define BODY_UNKNOWN UINT64_MAX

/* A request as begin gets it; spans are lent until begin returns. */
struct request {
	enum http1_method method; /* a framed request is a POST to "/" */
	struct span path;
	struct span query;
	uint64_t body_bytes;		  /* or BODY_UNKNOWN */
	uint64_t opcode;		  /* framed */
	const struct http1_request *http; /* NULL if framed */
};

/* What a handler answers with; lent for the call. */
struct response {
	uint16_t status;     /* of HTTP; framed: 400 and above is an error frame, and the end */
	uint64_t body_bytes; /* or BODY_UNKNOWN: streamed in chunks or frames */
	const char *type;    /* Content-Type; NULL for none */
	bool relayed;	     /* another server's: an error is none of ours */
	const char *date;    /* another's, HTTP1_DATE_BYTES; NULL: the turn's */
	struct span fields;  /* further field lines, whole, each with its CRLF; at most
				EXCHANGE_FIELDS_BYTES */
};

enum { EXCHANGE_FIELDS_BYTES = 8 * 1024 };

struct exchange; /* part of a connection */

/* --- the request's body --- */

/*
 * Body bytes that may be taken now. Where the length is known that is nothing until
 * LIMIT_CHUNK_BYTES, or all that is left, are there: so a request cut by the network is answered
 * in no more writes than one that was not.
 */
size_t exchange_ready(struct exchange *exchange);

/* Those that stand in one piece. */
struct span exchange_piece(struct exchange *exchange);

/* Passes over `bytes` of what is ready. */
void exchange_skip(struct exchange *exchange, size_t bytes);

/* Copies `bytes` of what is ready into `writer` and passes over them. */
void exchange_copy(struct exchange *exchange, struct room_writer *writer, size_t bytes);

/* Passes over all that is ready; true once the body has ended. */
bool exchange_drop(struct exchange *exchange);

/* Whether the whole body has been taken. */
bool exchange_body_ended(struct exchange *exchange);

/* --- the response --- */

/* Decides the response's head; once. It leaves with the first bytes of the body, or at finish. */
void exchange_respond(struct exchange *exchange, const struct response *response);

/* Whether it has been decided. */
bool exchange_responded(const struct exchange *exchange);

/*
 * Body bytes that are yet to be put; 0 where the request's method wants none (HEAD, 204, 304),
 * BODY_UNKNOWN while a stream goes on.
 */
uint64_t exchange_left(const struct exchange *exchange);

/*
 * Lends room for exactly `bytes` (1 to LIMIT_CHUNK_BYTES, at most what is left) behind the head or
 * piece's head. False: there is none now; what is queued is written and advance is called again.
 */
bool exchange_room(struct exchange *exchange, size_t bytes, struct room_writer *writer_out);

/* The first `bytes` of the room are body: all of it unless the response is a stream. */
void exchange_put(struct exchange *exchange, size_t bytes);

/*
 * Has the head leave before any of the body is there, for one that may be long in coming. False:
 * there is no room now; advance is called again.
 */
bool exchange_put_head(struct exchange *exchange);

/*
 * Has the transport send what is left of the body from an open file (lent for the call), from
 * `offset` on, behind the head and all that is queued. Returns how many bytes it took, to be called
 * again; 0: none now, and advance is called again; negative errno: the transport or the file cannot
 * do it, and the bytes are to be put like any. Only where the response's length is known.
 */
int64_t exchange_send_file(struct exchange *exchange, int fd, uint64_t offset);

/* The response is whole. False: there was no room for what ends it; call again when advanced. */
bool exchange_finish(struct exchange *exchange);

/*
 * In place of respond, put and finish: answers with a code and a text of one line as its body.
 * False as exchange_finish.
 */
bool exchange_refuse(struct exchange *exchange, unsigned status, const char *text);

/*
 * After the head is out: the rest can not come. The connection is reset, and end called. Also from
 * another connection's event.
 */
void exchange_break(struct exchange *exchange);

/* --- time --- */

/* The turn's time. */
uint64_t exchange_now_ns(const struct exchange *exchange);

/* Has advance called in this turn or the next, whatever came; from another connection's event. */
void exchange_wake(struct exchange *exchange);

/* The handler's own, between begin and end. */
void *exchange_state(const struct exchange *exchange);
void exchange_set_state(struct exchange *exchange, void *state);

#endif
