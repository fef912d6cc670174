/*
 * world: two instances, what was seen of their connections, and a way to wait for more.
 *
 * Every connection gets a `struct seen` through its user pointer; turning the world polls both
 * sides once and enters all events there, checking on the way what holds for any event of any
 * stack. Waiting has a generous deadline, so that a lost event fails a test instead of hanging it.
 */
#ifndef WEIR_TESTS_WORLD_H
#define WEIR_TESTS_WORLD_H

#include "tests/conformance/rig.h"

#include <stdbool.h>

enum { WORLD_CONNS = 4096, WORLD_EVENT_KINDS = 6 };

struct seen {
	struct tp *tp;
	struct tp_conn *conn;
	unsigned count[WORLD_EVENT_KINDS]; /* how often each event bit came */
	unsigned bits;			   /* all bits ever seen */
	enum tp_reason reason;
	bool gone; /* CLOSED was seen and a poll has passed since: the handle may not be used */
};

struct world {
	struct rig_pair pair;
	bool listening;
	unsigned event_room; /* room given to poll */
	uint64_t wait_ns;
	uint64_t last_now_ns[2];
	struct seen *accepted[WORLD_CONNS]; /* in the order of their acceptance */
	unsigned accepted_count;
	struct seen seen[WORLD_CONNS];
	unsigned seen_count;
	bool broken_rule; /* an event broke a rule that holds always */
};

/* Opens a pair and listens. Fails or skips the running test if it cannot; then false. */
bool world_open(struct world *world, const struct tp_limits *limits);

/* The same with other limits on each side. */
bool world_open_uneven(struct world *world, const struct tp_limits *server,
		       const struct tp_limits *client);

/* Opens, listens and joins one pair of ends; false (and all closed) if any of it fails. */
bool world_open_joined(struct world *world, const struct tp_limits *limits,
		       struct seen **client_out, struct seen **server_out);

void world_close(struct world *world);

/* Polls the client and the server once. */
void world_turn(struct world *world);

/* Begins a connection from the client side; NULL (and a failed assertion) if connect refuses. */
struct seen *world_connect(struct world *world);

/* A connected pair of ends. False (and a failed assertion) if it does not come about. */
bool world_join(struct world *world, struct seen **client_out, struct seen **server_out);

/* Turns until `seen` has had all of `bits`; whether that happened in time. */
bool world_until(struct world *world, const struct seen *seen, unsigned bits);

/*
 * Turns until the peer's abort or close has ended `seen` and checks that it looks as the rig says;
 * whether it came in time. Where no reset is known, the end that came instead is answered by one.
 */
bool world_until_reset(struct world *world, struct seen *seen);

/* Turns for a while in which nothing is expected to happen. */
void world_idle(struct world *world);

/* How often an event of one bit came. */
unsigned seen_count(const struct seen *seen, enum tp_event_bits bit);

/* Commits `bytes` from `from` if they can be reserved at once; whether they were. */
bool seen_commit(struct seen *seen, const uint8_t *from, size_t bytes);

/* Commits and flushes. */
bool seen_write(struct seen *seen, const uint8_t *from, size_t bytes);

/* Bytes that can be read now. */
size_t seen_readable(struct seen *seen);

/* Reads and consumes up to `bytes`; how many there were. */
size_t seen_read(struct seen *seen, uint8_t *to, size_t bytes);

/* Turns until `bytes` are readable, then reads them; whether they came in time. */
bool world_read(struct world *world, struct seen *seen, uint8_t *to, size_t bytes);

/*
 * Sends all of `from` from one end to the other in writes of at most `piece`, reading along;
 * whether every byte came out the same.
 */
bool world_transfer(struct world *world, struct seen *from, struct seen *to, const uint8_t *bytes,
		    size_t count, size_t piece);

/* One side's counters. */
struct tp_counters world_counters(const struct tp *tp);

/* Fills with bytes that differ from place to place, from a seed. */
void fill_pattern(uint8_t *to, size_t bytes, uint64_t seed);

#endif
