/*
 * player: plays scripts against a TCP, one segment at a time.
 *
 * It is the peer of one connection and its application, too. The TCP is utcp in the time that the
 * script says, or another behind struct player_tcp. What the TCP sends is kept in order until the
 * script expects it, so that nothing is sent unseen; numbers are made relative, payload is checked
 * byte by byte, and of utcp utcp_check proves the invariants after every step. The first thing that
 * is not as written ends the play with the place, what was expected and what came.
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

/* No wait of a script for a delayed ACK is longer. */
#define PLAYER_ACK_NS (5 * MS)

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

struct player;

/* A TCP to play against, and what its application can do. */
struct player_tcp {
	/*
	 * It lives by its own clock and buffers: it may be late, may acknowledge sooner than a
	 * script waits for, chooses its initial number, and of windows it only counts whether they
	 * are closed.
	 */
	bool own_ways;
	void (*open)(struct player *player, const struct script *script);
	void (*close)(struct player *player);
	void (*put)(struct player *player, const struct peer_segment *segment);
	bool (*take)(struct player *player, struct peer_segment *segment_out);
	void (*wait)(struct player *player, uint64_t ns); /* collects meanwhile */
	void (*await)(struct player *player);		  /* until it sends, if it may be late */
	void (*connect)(struct player *player);
	bool (*write)(struct player *player, const void *data, size_t bytes);
	size_t (*read)(struct player *player, uint8_t *to, size_t room);
	void (*finish)(struct player *player);
	void (*abort)(struct player *player);
	uint32_t (*readable)(const struct player *player);
	bool (*finished)(const struct player *player); /* the peer's end was told */
	const char *(*state)(const struct player *player);
	const char *(*end)(const struct player *player);
	/* By how much a counter moved; that of `step` if there are none. */
	uint64_t (*count)(const struct player *player, const struct script_step *step);
};

extern const struct player_tcp player_utcp;

struct player {
	struct peer peer;
	const struct player_tcp *tcp;
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

/* The same for another TCP, whose own initial number is as it is. */
void player_open_at(struct player *player, const struct player_tcp *tcp,
		    const struct script_book *book, const struct script *script,
		    const struct player_numbers *numbers);

void player_close(struct player *player);

/* Keeps what was sent meanwhile. */
void player_collect(struct player *player);

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

/* Whether the application was told that the peer has finished. */
bool player_finished(const struct player *player);

/* What our connection is in, as RFC 9293 3.3.2 names it. */
const char *player_state(const struct player *player);

/* How the application was told that it ended, "-" if it was not. */
const char *player_end(const struct player *player);

/* In-order bytes that the application has not read. */
uint32_t player_readable(const struct player *player);

#endif
