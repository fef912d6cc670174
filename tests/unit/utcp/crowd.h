/*
 * crowd: many established connections on one instance, all called by one peer.
 *
 * They differ in the peer's port and, beyond CROWD_PORTS, in ours. Handshakes are completed one
 * after the other, as no peer's SYN has to wait for another's.
 */
#ifndef WEIR_TESTS_UTCP_CROWD_H
#define WEIR_TESTS_UTCP_CROWD_H

#include "tests/unit/utcp/peer.h"

enum {
	CROWD_PORTS = 50000, /* of the peer to each of ours */
	CROWD_PORT_FIRST = 1024,
};

struct crowd {
	struct utcp *utcp;
	uint64_t now_ns;
	uint32_t count;
	struct utcp_conn **conns; /* by the order in which they called */
};

/* Opens an instance and `count` connections with the least memory each; false if one was refused.
 */
bool crowd_open(struct crowd *crowd, uint32_t count);
void crowd_close(struct crowd *crowd);

/* The ports of a connection. */
static inline uint16_t crowd_peer_port(uint32_t index)
{
	return (uint16_t)(CROWD_PORT_FIRST + index % CROWD_PORTS);
}

static inline uint16_t crowd_own_port(uint32_t index)
{
	return (uint16_t)(OWN_PORT + index / CROWD_PORTS);
}

/* Feeds the peer's segment with these flags at the first number behind its SYN; its data is one
 * byte or none. */
void crowd_send(struct crowd *crowd, uint32_t index, uint8_t flags, bool with_byte);

/* Takes and forgets all frames; how many. */
unsigned crowd_drain(struct crowd *crowd);

#endif
