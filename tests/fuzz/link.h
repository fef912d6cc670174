/*
 * link: one utcp instance of both families under a fuzzer, and what is asked of it after each step.
 *
 * A frame goes in as a copy of just its length, so that the address sanitizer notices a read behind
 * its end. After each call utcp_check proves the instance's invariants. A frame that comes out must
 * be one that a host may send: right lengths, checksums and addresses, options that can be walked.
 * What does not hold ends the process.
 */
#ifndef WEIR_TESTS_FUZZ_LINK_H
#define WEIR_TESTS_FUZZ_LINK_H

#include "tests/unit/utcp/peer.h"

/* A TCP segment that came out; data lies in the link's frame until the next one. */
struct link_segment {
	bool ip6;
	uint16_t own_port, peer_port;
	uint32_t seq, ack;
	uint8_t flags;
	const uint8_t *data;
	size_t bytes;
	size_t options_bytes;
};

enum { LINK_CONNS = 8 };

struct link {
	struct utcp *utcp;
	struct utcp_conn *held[LINK_CONNS]; /* by index, NULL: the application has none there */
	uint64_t now_ns;
	uint8_t frame[FRAME_ROOM];
	struct link_segment segment; /* the last that came out */
};

/* The usual configuration, with an address of each family. */
struct utcp_config link_config(void);

/* An instance of `config` that listens at OWN_PORT. */
void link_open(struct link *link, const struct utcp_config *config);

/*
 * Aborts what the application holds, lets all timers run out, and proves that nothing is left: no
 * connection and no timer.
 */
void link_close(struct link *link);

void link_put(struct link *link, const uint8_t *frame, size_t bytes);

/* The same with the peer's segment, over IPv4 or IPv6. */
void link_put_segment(struct link *link, const struct peer_segment *segment, bool ip6);

/* Takes the next frame and judges it; false if there is none. */
bool link_take(struct link *link);

/* Takes at most `frames`. */
void link_drain(struct link *link, unsigned frames);

void link_advance(struct link *link, uint64_t ns);

/* Takes all events, of which each must be legal where its connection stands. */
void link_poll(struct link *link);

/* The application has called: the connection is its own. */
void link_hold(struct link *link, struct utcp_conn *conn);

/* The peer calls from PEER_PORT with these options in its SYN; false if it was not answered. */
bool link_connect(struct link *link, bool ip6, const uint8_t *options, size_t bytes);

/* Reads what has come on all connections, writes as much back as there is room for, and ends when
 * the peer has ended. */
void link_echo(struct link *link);

/* Ends the process unless a frame is one that a host may send; a segment is noted. */
void link_judge(struct link *link, size_t bytes);

#endif
