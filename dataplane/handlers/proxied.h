/*
 * proxied: one exchange that an upstream answers.
 *
 *	TAKE --connection--> CONNECT --connected--> HEAD --response's head--> BODY --whole--> FINISH
 *	  ^ \--all in use: in line                   |  ^--1xx
 *	  \---------- failed, and nothing is lost ---/
 *	any --failed for good--> REFUSE (before the response's head), or the connection is broken
 *
 * A path with parts of dots is refused: an upstream that resolves them would answer with what no
 * route to it was meant to match.
 *
 * The request's head is written once, at the beginning, so that it can be sent again; its body is
 * passed on as it comes and as the upstream takes it, also while the response is on its way back.
 * Another upstream is asked only while nothing of the response has come, nothing of the body has
 * been taken, and either nothing was sent or the method is idempotent (RFC 9110 section 9.2.2).
 *
 * Plane: turn, but for opening and closing, which are setup.
 */
#ifndef WEIR_HANDLERS_PROXIED_H
#define WEIR_HANDLERS_PROXIED_H

#include "dataplane/handlers/upstream.h"
#include "dataplane/pipeline/handler.h"

enum {
	PROXIED_HEAD_BYTES = HTTP1_HEAD_BYTES + 256, /* what we add: Via and the body's length */
};

/* Looks on while a response is passed on. */
struct proxied_tap {
	/* The head, lent, and the body's bytes if they are known, else BODY_UNKNOWN. */
	void (*on_head)(struct proxied_tap *tap, const struct http1_response *response,
			uint64_t body_bytes);
	/* The next bytes of the body, lent. */
	void (*on_body)(struct proxied_tap *tap, struct span piece);
	/* It came whole, or it will not. The last call. */
	void (*on_end)(struct proxied_tap *tap, bool whole);
};

/* What all exchanges of one handler share. */
struct proxy {
	struct conn_world *world;
	struct upstreams upstreams;
	struct slab exchanges;
	uint64_t connect_ns;
	uint64_t response_ns;
	struct list connecting; /* by deadline */
	struct list responding; /* likewise */
};

enum proxied_state {
	PROXIED_TAKE,
	PROXIED_CONNECT,
	PROXIED_HEAD,
	PROXIED_BODY,
	PROXIED_FINISH,
	PROXIED_REFUSE,
	PROXIED_BROKEN,
	PROXIED_STATE_COUNT,
};

/* How the end of a response's body is known (RFC 9112 section 6.3). */
enum proxied_body { BODY_NONE, BODY_LENGTH, BODY_CHUNKED, BODY_UNTIL_CLOSE };

struct proxied {
	struct upstream_user user;
	struct proxy *proxy;
	struct exchange *exchange;
	struct proxied_tap *tap; /* or NULL */
	struct upstream_conn *conn;
	enum proxied_state state;
	unsigned refusal; /* the code, should nobody answer */
	struct list timed;
	uint64_t due_ns;
	bool overdue;
	bool moved;	 /* something moved since the deadline was set */
	bool wants_body; /* the client's next bytes are not there */
	bool wants_room; /* the client takes no more just now */

	bool is_head; /* the method is HEAD */
	bool idempotent;
	bool chunked;	   /* the request's body */
	bool sent;	   /* something is, on the present connection */
	bool body_taken;   /* something of the request's body is */
	bool begun;	   /* something of a response has come */
	bool again;	   /* a connection has failed it, so that it is sent on another */
	bool request_done; /* all of the request is sent */

	struct http1_scan scan;
	unsigned interims; /* interim responses that have come */
	enum proxied_body body;
	uint64_t left;		    /* of a BODY_LENGTH, bytes */
	struct http1_chunks chunks; /* of a BODY_CHUNKED, where it is */
	bool keep_alive;	    /* the connection may serve another */

	uint32_t head_bytes;
	uint8_t head[PROXIED_HEAD_BYTES];
};

/* 0, or negative errno with `error` filled. */
int proxy_open(struct proxy *proxy, const struct proxy_config *config, struct conn_world *world,
	       struct tp_error *error);
void proxy_close(struct proxy *proxy);

/* handler.conn_max */
uint32_t proxy_conn_max(const struct proxy *proxy);

/* handler_ops.upkeep */
uint64_t proxy_upkeep(struct proxy *proxy, uint64_t now_ns);

/* CHECK the invariants of all, and of one exchange, for tests; between turns. */
void proxy_check_all(const struct proxy *proxy);
void proxied_check(const struct proxied *proxied);

/* Begins one; nothing is asked before the first advance. */
struct proxied *proxied_begin(struct proxy *proxy, struct exchange *exchange,
			      const struct request *request, struct proxied_tap *tap);

void proxied_advance(struct proxied *proxied);

/* The exchange is over; whatever was not whole is given up. */
void proxied_end(struct proxied *proxied);

#endif
