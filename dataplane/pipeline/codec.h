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

#include "dataplane/core/limits.h"
#include "dataplane/pipeline/exchange.h"
#include "dataplane/proto/frame.h"

struct conn_world;
struct handler;

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
	bool pieces;	    /* the body comes in pieces, and only the codec knows its end */
	bool body_ended;
	bool within;	     /* a request's head was taken and its answer is not whole (conn.c's) */
	bool expects;	     /* the peer is owed a word before its body is waited for */
	bool close;	     /* the connection ends behind this response */
	bool streams;	     /* the response comes in pieces */
	bool begun;	     /* then: one of them is out */
	bool bodiless;	     /* the response has no body, whatever its head says */
	uint64_t body_bytes; /* pieces: of the request so far, against the bound */
	struct codec_fault fault;
	union {
		struct {
			uint64_t id;
			uint64_t opcode;
			bool more_frames; /* the request's body goes on in another frame */
		} frame;
		struct {
			struct http1_scan scan;
			struct http1_chunks chunks;
			bool chunked;
			bool minor_0; /* the client speaks HTTP/1.0 */
		} http1;
	};
};

/* Whole requests one behind the other, which a codec answers in one handler's place. */
struct run {
	struct handler *handler;
	unsigned requests;
	size_t request_bytes;	    /* all that they take of the input */
	size_t request_body_bytes;  /* of it bodies */
	size_t response_bytes;	    /* all that their answers take of the send memory */
	size_t response_body_bytes; /* of it bodies */
	size_t answer_bytes;	    /* ANSWERS_ALIKE: each answer */
};

/* A run asks for no more room at once than a single response may. */
enum { RUN_BYTES_MAX = FRAME_HEAD_BYTES + LIMIT_CHUNK_BYTES };

/*
 * The bytes of answers, of `answer_bytes` each, from which on a run takes no other: they make a
 * write due, leave no room, or are the last that it may have. 0: not even one has room.
 */
static inline size_t run_bound(unsigned requests_max, size_t due_bytes, size_t answer_bytes)
{
	size_t most = answer_bytes <= RUN_BYTES_MAX ? RUN_BYTES_MAX - answer_bytes + 1 : 0;
	size_t all = requests_max * answer_bytes;

	most = due_bytes < most ? due_bytes : most;
	return all < most ? all : most;
}

struct codec {
	const char *name; /* "framed" */
	/* Reads the next request's head. CODEC_OK: `request_out` is lent until the next call. */
	enum codec_status (*decode)(struct conn_world *world, struct codec_state *state,
				    struct span_reader *reader, struct request *request_out);
	/* Gives back what decode's request lent. NULL: nothing is to be given back. */
	void (*release)(struct conn_world *world);
	/*
	 * Pieces: passes over framing until body bytes follow (state.body_left > 0) or body_ended.
	 */
	enum codec_status (*body)(struct conn_world *world, struct codec_state *state,
				  struct span_reader *reader);
	/* Writes at `to` (CODEC_HEAD_BYTES) what stands before a response; its length. */
	size_t (*head)(struct conn_world *world, struct codec_state *state,
		       const struct response *response, uint8_t *to);
	/* A stream: what stands before a piece of `bytes`; its length, the same for any `bytes`. */
	size_t (*piece)(const struct codec_state *state, size_t bytes, uint8_t *to);
	/* A stream: what stands behind a piece; its length. */
	size_t (*piece_end)(const struct codec_state *state, uint8_t *to);
	/* A stream: what ends it; its length. */
	size_t (*end)(const struct codec_state *state, uint8_t *to);
	/* A whole answer to state.fault, at `to` (CODEC_HEAD_BYTES); its length. */
	size_t (*reject)(struct conn_world *world, struct codec_state *state, uint8_t *to);
	/*
	 * Writes at `to` (CODEC_PIECE_BYTES) what a peer that expects it is owed; its length. NULL:
	 * none ever does.
	 */
	size_t (*interim)(uint8_t *to);
	/*
	 * Finds the run at the beginning of `piece`, of at most `requests_max` (at least 1), whose
	 * last answer is the first that reaches `due_bytes`. False: there is none.
	 */
	bool (*find_run)(struct conn_world *world, struct span piece, unsigned requests_max,
			 size_t due_bytes, struct run *run_out);
	/* Writes the answers to the run whose requests stand at `request`. */
	void (*write_run)(struct conn_world *world, const struct run *run, const uint8_t *request,
			  uint8_t *to);
};

extern const struct codec codec_framed;
extern const struct codec codec_http1;

extern const char *const codec_names[]; /* "framed", "http1"; ended by NULL */

/* By its name; NULL for any other. */
const struct codec *codec_find(const char *name);

/* Takes the next `bytes` of the body, of body_left. */
static inline void codec_take(struct codec_state *state, size_t bytes)
{
	state->body_left -= bytes;
	state->body_ended |= state->body_left == 0 && !state->pieces;
}

#endif
