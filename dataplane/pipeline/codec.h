/*
 * codec: what stands around bodies in one protocol.
 *
 * The connection's state machine (conn.c) is the same for every protocol. A codec turns received
 * bytes into requests and their bodies, and responses into what stands before, between and behind
 * the body bytes that a handler puts. It keeps its state between visits in the connection's
 * struct codec_state, moves no bytes itself and never writes.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_CODEC_H
#define WEIR_PIPELINE_CODEC_H

#include "dataplane/pipeline/exchange.h"
#include "dataplane/proto/frame.h"

struct conn;
struct conn_world;

enum codec_status {
	CODEC_OK,   /* a request's head was taken; or body bytes follow, or the body has ended */
	CODEC_MORE, /* what is needed is not there */
	CODEC_BAD,  /* malformed: state.fault says how; nothing behind it means anything */
};

/* Most bytes that stand before a response's body, or before a piece of it. */
enum { CODEC_HEAD_BYTES = 512 + EXCHANGE_FIELDS_BYTES, CODEC_PIECE_BYTES = 32 };

/* Why a request is refused before any handler sees it. */
struct codec_fault {
	uint16_t status;  /* HTTP's code; a framed peer gets the text alone */
	const char *text; /* static */
};

/* Kept between visits. */
struct codec_state {
	uint64_t body_left; /* bytes of the body, or of its present piece, that follow directly */
	bool body_ended;
	bool close;	   /* the connection ends behind this response */
	bool streams;	   /* the response comes in pieces */
	bool bodiless;	   /* the response has no body, whatever its head says */
	uint64_t body_bytes; /* of the request so far, against the bound */
	struct codec_fault fault;
	union {
		struct {
			uint64_t id;
			uint64_t opcode;
			bool more_frames; /* the request's body goes on in another frame */
			bool begun;	  /* a streamed response: its START is out */
		} frame;
		struct {
			struct http1_scan scan;
			struct http1_chunks chunks;
			bool chunked;
			bool minor_0; /* the client speaks HTTP/1.0 */
			bool expects; /* 100-continue is owed before the body is read */
		} http1;
	};
};

struct codec {
	const char *name; /* "framed" */
	/* Reads the next request's head. CODEC_OK: `request_out` is lent until the next call. */
	enum codec_status (*decode)(struct conn_world *world, struct codec_state *state,
				    struct span_reader *reader, struct request *request_out);
	/* Passes over framing until body bytes follow (state.body_left > 0) or body_ended. */
	enum codec_status (*body)(struct conn_world *world, struct codec_state *state,
				  struct span_reader *reader);
	/* Writes at `to` (CODEC_HEAD_BYTES) what stands before a response; its length. */
	size_t (*head)(struct conn_world *world, struct codec_state *state,
		       const struct response *response, uint8_t *to);
	/* A stream: what stands before a piece of `bytes` (0: only the head's), its length. */
	size_t (*piece)(struct codec_state *state, size_t bytes, uint8_t *to);
	/* A stream: what stands behind a piece; its length. */
	size_t (*piece_end)(struct codec_state *state, uint8_t *to);
	/* A stream: what ends it; its length. */
	size_t (*end)(struct codec_state *state, uint8_t *to);
	/* A whole answer to state.fault, at `to` (CODEC_HEAD_BYTES); its length. */
	size_t (*reject)(struct conn_world *world, struct codec_state *state, uint8_t *to);
};

extern const struct codec codec_framed;
extern const struct codec codec_http1;

extern const char *const codec_names[]; /* "framed", "http1"; ended by NULL */

#endif
