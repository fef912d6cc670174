/*
 * calls: the calls of peers, from their SYN until the handshake is complete.
 *
 * Whoever can send a SYN can lie about where it came from, so a SYN buys 128 bytes here and no
 * connection (RFC 4987 3.4): no place in the table, no rings, no application. The SYN-ACK is sent
 * again after 1, 2, 4, 8 and 16 seconds, and beside when the SYN comes again, never with data; the
 * ACK that completes the handshake makes the connection. When all places are taken, further SYNs
 * are answered with cookies (cookies.h) and buy nothing at all.
 *
 * A packet costs one look-up in a hash table that outsiders cannot steer, and at most one answer.
 *
 * Plane: turn; create and destroy are setup.
 */
#ifndef WEIR_UTCP_CALLS_H
#define WEIR_UTCP_CALLS_H

#include "stacks/utcp/challenge.h"
#include "stacks/utcp/ends_table.h"
#include "stacks/utcp/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CALLS_TRIES = 5,	  /* SYN-ACKs sent again; with the last wait 63 s in all */
	CALLS_RESENT_A_TURN = 64, /* the others wait for the next */
};

struct call {
	struct ends_entry entry; /* on calls.out until its SYN-ACK has left, then on waiting */
	uint64_t sent_at_ns;
	uint32_t iss;
	uint32_t irs;
	uint32_t times_value; /* what the SYN had of options */
	uint32_t times_offset;
	uint16_t mss;
	uint16_t window;
	uint8_t mac[MAC_BYTES];
	uint8_t flags; /* of the SYN */
	uint8_t scale;
	bool scale_given;
	bool sack_permitted;
	bool has_times;
	uint8_t tries; /* timeouts */
	struct challenge_share challenges;
	uint8_t sendings; /* of the SYN-ACK, saturating: the peer may ask again, too */
};

_Static_assert(sizeof(struct call) <= 128, "a SYN buys two cache lines");

struct calls {
	struct ends_table table;
	struct list out;
	/* By tries, each oldest first: all of one list wait equally long. */
	struct list waiting[CALLS_TRIES + 1];
	uint64_t cookies_until_ns;    /* until then cookies may come back, */
	uint64_t overtaking_until_ns; /* and other segments of their calls before them */
};

/* What a segment to a listener was. */
enum calls_answer {
	CALLS_TAKEN,	/* all is done */
	CALLS_FULL,	/* it found no room */
	CALLS_STRANGER, /* it belongs to no call */
	CALLS_OPENED,	/* it completes one: the new connection is to take it */
};

struct utcp;
struct utcp_conn;

/* Room for `max` calls. 0 or -ENOMEM. */
int calls_create(struct calls *calls, uint32_t max);
void calls_destroy(struct calls *calls);

/* A segment to a port that we listen at and to no connection (RFC 9293 3.10.7.2, and 3.10.7.4 for
 * SYN-RECEIVED). */
enum calls_answer calls_input(struct utcp *utcp, const struct segment *segment, uint64_t now_ns,
			      struct utcp_conn **conn_out);

/* A SYN that may take the place of a connection in TIME-WAIT whose numbers ended at `old_end`: ours
 * begin above (RFC 1122 4.2.2.13), which no cookie could promise. False if there is no room. */
bool calls_reopen(struct utcp *utcp, const struct segment *segment, uint32_t old_end,
		  uint64_t now_ns);

/* The next SYN-ACK, or 0. */
size_t calls_output(struct utcp *utcp, uint8_t *frame, uint64_t now_ns);

/* Sends again and gives up, where due. */
void calls_advance(struct utcp *utcp, uint64_t now_ns);

/* When calls_advance next has work; UINT64_MAX for never. */
uint64_t calls_deadline(const struct calls *calls);

/* For utcp_check. */
void calls_check(const struct utcp *utcp);

#endif
