/*
 * player: plays scripts against a TCP, one segment at a time.
 *
 * It is the peer of one connection and its application, too. What the TCP sends is kept in order
 * until the script expects it, so that nothing is sent unseen; numbers are made relative, payload
 * is checked byte by byte, and utcp_check proves the invariants after every step. The first thing
 * that is not as written ends the play with the place, what was expected and what came.
 *
 * Legal order: player_open, any of the steps, player_close. Runs within a test of a suite.
 */
#ifndef WEIR_TESTS_SIM_PLAYER_H
#define WEIR_TESTS_SIM_PLAYER_H

#include "tests/sim/script.h"
#include "tests/unit/utcp/peer.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	PLAYER_SENT_MAX = 64,
	PLAYER_FAILURE_BYTES = 512,
};

/* A pair of initial numbers. */
struct player_numbers {
	uint32_t peer;
	uint32_t own;
};

/* With the wrap of the sequence space, or of its halves, at every place that a script comes by. */
extern const struct player_numbers player_numbers[];
extern const unsigned player_numbers_count;

/* A segment that we sent, in relative numbers. */
struct player_sent {
	struct script_segment segment;
	unsigned at_line; /* of the step after which it left; 0: none */
};

struct player {
	struct peer peer;
	const struct script_book *book;
	struct player_numbers numbers;
	uint32_t seq;	/* relative: the peer's next */
	uint32_t ack;	/* relative: behind the last that we sent */
	uint32_t edge;	/* relative: of the window that we offered last */
	uint32_t taken; /* relative: the next byte that our application reads */
	uint32_t wrote; /* relative: the next that it writes */
	uint8_t scale;	/* of our windows, once both sides offered */
	uint32_t time;	/* the newest timestamp of ours */
	struct player_sent sent[PLAYER_SENT_MAX];
	unsigned sent_first;
	unsigned sent_count;
	struct utcp_counters began;
	char failure[PLAYER_FAILURE_BYTES]; /* empty while all is as written */
};

/* Makes the TCP that a script asks for. */
void player_open(struct player *player, const struct script_book *book, const struct script *script,
		 const struct player_numbers *numbers);

void player_close(struct player *player);

/* Plays the steps in order until one fails. Whether all held. */
bool player_play(struct player *player, const struct script *script);

/* The peer sends a segment; what was not said is filled in. */
void player_send(struct player *player, const struct script_segment *segment);

/* Time passes, and what leaves meanwhile is kept. */
void player_wait(struct player *player, uint64_t ns);

/* The oldest segment that nobody looked at; NULL if there is none. */
const struct script_segment *player_sent(struct player *player);

/* Whether all that we sent was looked at; else the failure is noted. */
bool player_is_silent(struct player *player);

/* What our connection is in, as RFC 9293 3.3.2 names it. */
const char *player_state(const struct player *player);

/* How the application was told that it ended, "-" if it was not. */
const char *player_end(const struct player *player);

/* In-order bytes that the application has not read. */
uint32_t player_readable(const struct player *player);

#endif
