/*
 * conn: one served connection, as a state machine over lent bytes, the same for every protocol.
 *
 * A visit lets a connection use what has been received: its codec decodes requests, handlers
 * produce responses into the transport's send memory, and they are written by the delivery policy.
 * A visit ends when input, send memory or a handler's answer is awaited, or when the connection has
 * had its share of the turn; whatever is queued has then been written.
 *
 *	HEAD --head decoded--> EXCHANGE --response complete--> HEAD
 *	                          \--body not used up--> DROP --body ended--> HEAD
 *	  any of them --malformed or too late--> REJECT --error written--> ENDED
 *	  any of them --peer finished, server drains, close asked for--> ENDED
 *	                                               (until the transport closes it)
 *
 * Plane: turn. The server owns the memory.
 */
#ifndef WEIR_PIPELINE_CONN_H
#define WEIR_PIPELINE_CONN_H

#include "dataplane/pipeline/deadline.h"
#include "dataplane/pipeline/world.h"

enum conn_state {
	CONN_HEAD,     /* awaits the next request's head */
	CONN_EXCHANGE, /* a handler answers */
	CONN_DROP,     /* passes over the rest of a body whose request is answered */
	CONN_REJECT,   /* owes the peer an error */
	CONN_ENDED,    /* our side is finished; input is dropped until the transport closes it */
	CONN_STATE_COUNT,
};

struct exchange {
	struct handler *handler; /* NULL while there is none */
	void *state;		 /* the handler's */
	uint64_t left;		 /* response body bytes not yet put; BODY_UNKNOWN in a stream */
	bool responded;		 /* the head is decided */
	bool out;		 /* something of the response is committed */
	bool finished;
	bool broken; /* the rest can not come */
};

struct conn {
	struct party party; /* first */
	enum conn_state state;
	bool peer_finished;
	bool aborted; /* the transport may not be asked about it again */
	bool partial; /* HEAD: a part of a head is there */
	bool starved; /* the body's next bytes are not there */
	bool stalled; /* the last reserve, or file, was refused */
	bool sated;   /* it has had its share of the turn, in bytes */
	bool lingers; /* ENDED: after an error */
	bool crowded; /* more than was lent may have been received */
	bool begun;   /* a request began since the last wait was noted */
	bool served;  /* a request has begun on this connection */
	struct conn_world *world;
	struct tp_conn *handle;
	struct span_reader *reader; /* what was received; within a visit */
	struct exchange exchange;
	struct codec_state codec;
	uint8_t *head; /* of the response, not committed yet: the world's, or of its slab */
	uint32_t head_bytes;
	uint64_t queued_bytes;	  /* committed since the last write */
	uint64_t committed_bytes; /* since the accept */
	uint64_t sated_bytes;	  /* committed_bytes at which the turn's share is used up */
	uint64_t consumed_bytes;  /* likewise */
	uint64_t dropped_bytes;	  /* ENDED: input thrown away */
	struct deadline deadline;
	struct list all;   /* in the server's list of connections */
	struct list ready; /* in a list of those to visit without an event, or none */
};

/* Begins in HEAD over a connection just accepted. */
void conn_init(struct conn *conn, struct conn_world *world, struct tp_conn *handle);

/* The response's head has been committed, or is not wanted any more. */
void conn_forget_head(struct conn *conn);

/* Uses what is there. */
void conn_visit(struct conn *conn);

/* Its timer fired: ends what is overdue, or waits on. */
void conn_overdue(struct conn *conn);

/* CHECKs its invariants and its exchange's, for tests; between turns. */
void conn_check(const struct conn *conn);

/* The transport closed it: what a handler keeps for it is released. */
void conn_closed(struct conn *conn);

#endif
