/*
 * wait: how an idle worker waits for its stack.
 *
 * Polling and bypass are two things that usually come together: DPDK polls, sockets sleep. So how
 * a worker waits is a factor of its own, the same for every stack: it blocks at once, never, or
 * after a time in which nothing moved.
 *
 * Plane: parsing and printing are setup, wait_ns is turn.
 */
#ifndef WEIR_PIPELINE_WAIT_H
#define WEIR_PIPELINE_WAIT_H

#include "dataplane/pipeline/busy.h"

#include <stdint.h>

enum wait_kind {
	WAIT_BLOCK,    /* sleep as soon as nothing is at hand */
	WAIT_SPIN,     /* never sleep */
	WAIT_ADAPTIVE, /* sleep once nothing has moved for spin_ns */
};

struct wait {
	enum wait_kind kind;
	uint64_t spin_ns; /* WAIT_ADAPTIVE */
};

enum { WAIT_TEXT = 48 };

/* What a name may be, for messages. */
extern const char wait_usage[];

/*
 * "block", "spin", "adaptive" (spins for 50us) or "adaptive:T" with a duration from 1us to 1s. 0,
 * or -EINVAL with the output untouched.
 */
int wait_parse(const char *name, struct wait *wait_out);

/* The name that wait_parse takes; returns `text`. */
const char *wait_print(const struct wait *wait, char text[WAIT_TEXT]);

/* How long the next poll may sleep, at most `longest_ns`, from the account of the turns so far. */
static inline uint64_t wait_ns(const struct wait *wait, const struct busy *busy,
			       uint64_t longest_ns)
{
	if (wait->kind == WAIT_BLOCK)
		return longest_ns;
	if (wait->kind == WAIT_SPIN || busy->end_ns - busy->moved_ns < wait->spin_ns)
		return 0;
	return longest_ns;
}

#endif
