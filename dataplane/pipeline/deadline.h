/*
 * deadline: what a connection waits for, and since when.
 *
 *	head    the rest of a request's head, from its first byte; the first from the accept
 *	body    the body: a time, and beyond it as long as the peer keeps to the minimum rate
 *	idle    the next request
 *	send    room for a response: something within a time, and all of it at the minimum rate
 *	linger  the peer's end, after we told it of an error
 *	end     the peer's end, after we ended as usual
 *
 * Deadlines are absolute: bytes that trickle in move none of them but by the rate. They are kept as
 * what they are made from, and looked at when the connection's one lazy timer fires, so a visit
 * costs at most a store.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_DEADLINE_H
#define WEIR_PIPELINE_DEADLINE_H

#include "dataplane/core/timer.h"

#include <stdbool.h>
#include <stdint.h>

/* How long a peer may take; 0: for ever. */
struct timeouts {
	uint64_t head_ns;
	uint64_t body_ns;
	uint64_t idle_ns;
	uint64_t send_ns;
	uint32_t rate_bytes; /* a second: the slowest body and the slowest reader; 0: any */
};

/* The times of limits.h. */
extern const struct timeouts timeouts_default;

enum deadline_kind {
	DEADLINE_NONE, /* for ourselves, or for another connection */
	DEADLINE_HEAD,
	DEADLINE_BODY,
	DEADLINE_IDLE,
	DEADLINE_SEND,
	DEADLINE_LINGER,
	DEADLINE_END,
};

struct deadline {
	struct timer timer;
	enum deadline_kind kind;
	uint64_t since_ns;    /* when this wait began */
	uint64_t moved_ns;    /* SEND: when something of the response last found room */
	uint64_t first_bytes; /* BODY, SEND: bytes moved when it began */
	uint64_t bytes;	      /* BODY, SEND: bytes moved by now */
};

static inline void deadline_init(struct deadline *deadline)
{
	*deadline = (struct deadline){.kind = DEADLINE_NONE};
	timer_init(&deadline->timer);
}

/* When it is over, or TIMER_NEVER. */
uint64_t deadline_at(const struct deadline *deadline, const struct timeouts *timeouts);

/*
 * The connection waits for `kind` at `now_ns`, having moved `bytes` so far. Returns true when
 * that is a new wait, whose deadline the timer has to know of.
 */
static inline bool deadline_note(struct deadline *deadline, enum deadline_kind kind,
				 uint64_t now_ns, uint64_t bytes)
{
	bool is_new = deadline->kind != kind;

	if (is_new || kind == DEADLINE_IDLE)
		deadline->since_ns = now_ns;
	if (is_new) {
		deadline->kind = kind;
		deadline->first_bytes = bytes;
	}
	if (is_new || deadline->bytes != bytes) {
		deadline->bytes = bytes;
		deadline->moved_ns = now_ns;
	}
	return is_new;
}

#endif
