/*
 * time_wait: what is left of connections that have ended on both sides (RFC 9293 3.6.1).
 *
 * The protocol needs little of them: to acknowledge the peer's FIN once more, to answer what is
 * old, and to know which SYN is new. So a connection that enters TIME-WAIT leaves 128 bytes here
 * and is over; its own memory waits for nobody but the application. There are as many places as
 * connections; when all are taken the oldest gives way, and is counted.
 *
 * A segment costs one look-up, and all of a turn at most one answer.
 *
 * Plane: turn; create and destroy are setup.
 */
#ifndef WEIR_UTCP_TIME_WAIT_H
#define WEIR_UTCP_TIME_WAIT_H

#include "stacks/utcp/challenge.h"
#include "stacks/utcp/ends_table.h"
#include "stacks/utcp/times.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIME_WAITS_ENDED_A_TURN = 256 }; /* the others wait for the next */

struct time_wait {
	struct ends_entry entry; /* on time_waits.out while an ACK is due, else on waiting */
	uint64_t ends_at_ns;
	uint32_t snd_nxt;
	uint32_t snd_oldest; /* no honest ACK is older (RFC 5961 5.2) */
	uint32_t rcv_nxt;
	uint32_t window; /* bytes that we offer */
	struct times times;
	struct challenge_share challenges;
	uint8_t mac[MAC_BYTES];
	uint8_t rcv_scale;
};

_Static_assert(sizeof(struct time_wait) <= 128, "TIME-WAIT takes two cache lines");

struct time_waits {
	struct ends_table table;
	struct list out;
	/* In the order in which they began or answered last. One that answered later than its
	 * neighbours leaves with them, so none stays for longer than twice its time. */
	struct list waiting;
};

struct utcp;
struct utcp_conn;

/* Room for `max`. 0 or -ENOMEM. */
int time_waits_create(struct time_waits *waits, uint32_t max);
void time_waits_destroy(struct time_waits *waits);

/* Remembers a connection that both sides have closed. */
void time_waits_add(struct utcp *utcp, const struct utcp_conn *conn, uint64_t now_ns);

/* What is left of the connection with these ends, or NULL. */
struct time_wait *time_waits_find(const struct utcp *utcp, const struct segment_ends *ends);

/* A segment to it (RFC 9293 3.10.7.4). False if that was a SYN which found no room. */
bool time_waits_input(struct utcp *utcp, struct time_wait *old, const struct segment *segment,
		      uint64_t now_ns);

/* The next ACK, or 0. */
size_t time_waits_output(struct utcp *utcp, uint8_t *frame, uint64_t now_ns);

/* Forgets those whose time is over. */
void time_waits_advance(struct utcp *utcp, uint64_t now_ns);

/* When time_waits_advance next has work; UINT64_MAX for never. */
uint64_t time_waits_deadline(const struct time_waits *waits);

/* For utcp_check. */
void time_waits_check(const struct utcp *utcp);

#endif
