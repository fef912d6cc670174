/*
 * conn: one served connection, as a state machine over lent bytes.
 *
 * A visit lets a connection use what has been received: decode requests, produce responses into the
 * transport's send memory, write by the delivery policy. A visit ends when input or send memory is
 * short, or when the connection has had its share of the turn; whatever is queued has then been
 * written.
 *
 *	HEAD --head decoded--> BODY --body dropped--> RESPOND --response complete--> HEAD
 *	  \--head of a request whose body is used-----^
 *	  \--malformed head--> REJECT --error frame written--> ENDED
 *	  \--peer finished or server drains--> ENDED --> (closed by the transport)
 *
 * Plane: turn. The server owns the memory.
 */
#ifndef WEIR_PIPELINE_CONN_H
#define WEIR_PIPELINE_CONN_H

#include "dataplane/core/list.h"
#include "dataplane/pipeline/server.h"
#include "dataplane/proto/frame.h"

enum conn_state {
	CONN_HEAD,    /* awaits the next request's head */
	CONN_BODY,    /* drops a body that the handler does not use */
	CONN_RESPOND, /* produces the response */
	CONN_REJECT,  /* owes the peer an error frame */
	CONN_ENDED,   /* our side is finished; input is dropped until the transport closes it */
	CONN_STATE_COUNT,
};

/* How a visit ended. */
enum conn_visit {
	CONN_WAITS,  /* for an event */
	CONN_YIELDS, /* has more to do: visit it again next turn */
};

struct conn {
	struct tp_conn *handle;
	enum conn_state state;
	bool peer_finished;
	bool aborted;		   /* the transport may not be asked about it again */
	bool head_due;		   /* RESPOND: the response's head is not encoded yet */
	struct frame_head request; /* the request being served */
	uint32_t request_left;	   /* its body bytes not yet taken */
	uint32_t response_left;	   /* body bytes not yet produced */
	enum frame_status fault;   /* REJECT: why */
	uint64_t queued_bytes;	   /* committed since the last write */
	uint64_t dropped_bytes;	   /* ENDED: input thrown away */
	uint64_t linger_until_ns;  /* ENDED after an error: when to reset; 0 if never */
	struct list all;	   /* in the server's list of connections */
	struct list ready;	   /* in the list of those to visit without an event, or none */
	struct list lingering;	   /* in the list of those that linger, or none */
};

/* What the connections of one server share. */
struct conn_world {
	struct tp *tp;
	struct server_config config;
	struct server_counters *counters;
	uint64_t now_ns; /* of this turn */
	bool draining;
};

/* Begins in HEAD over a connection just accepted. */
void conn_init(struct conn *conn, struct tp_conn *handle);

/* Uses what is there. */
enum conn_visit conn_serve(struct conn_world *world, struct conn *conn);

/* Resets it, whatever its state. */
void conn_abort(struct conn_world *world, struct conn *conn);

#endif
