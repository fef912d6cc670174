/*
 * neighbours: hardware addresses of the hosts we call.
 *
 * One bounded table for both families; arp.c asks and answers for IPv4, nd.c for IPv6. Only what we
 * asked for is learned, and what is known changes only through a request addressed to us, at most
 * once a second: an unasked answer changes nothing. A host that does not answer NEIGHBOUR_TRIES
 * requests, one a second (RFC 1122 2.3.2.1; RFC 4861 10: MAX_MULTICAST_SOLICIT, RETRANS_TIMER), is
 * unreachable. Callers are answered at once; their address is in their frame. Nothing is queued to
 * a host that is being asked for but the calls themselves, each on the list of its host, so their
 * number is the bound, and an answer costs one visit to each call that waits for it.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_NEIGHBOURS_H
#define WEIR_UTCP_NEIGHBOURS_H

#include "dataplane/core/list.h"
#include "stacks/utcp/addr.h"
#include "stacks/utcp/packet.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	NEIGHBOURS_MAX = 64, /* also the cost of a look-up, which only calls and requests pay */
	NEIGHBOUR_TRIES = 3,
};

#define NEIGHBOUR_RETRY_NS (1000ull * 1000 * 1000)
#define NEIGHBOUR_LIFE_NS (60ull * 1000 * 1000 * 1000) /* after that a new call asks again */

enum neighbour_state {
	NEIGHBOUR_FREE,
	NEIGHBOUR_ASKING,
	NEIGHBOUR_KNOWN,
};

struct neighbour {
	struct utcp_addr addr;
	uint8_t mac[MAC_BYTES];
	uint8_t state; /* enum neighbour_state */
	uint8_t tries;
	uint64_t at_ns;	     /* ASKING: when to ask again or give up; KNOWN: when it was learned */
	struct list waiting; /* ASKING: the calls to it, by out_link */
};

struct neighbours {
	struct neighbour entries[NEIGHBOURS_MAX];
	uint64_t next_ns; /* no entry has work before; UINT64_MAX if none is asking */
};

struct utcp;
struct utcp_conn;

void neighbours_init(struct neighbours *neighbours);

/*
 * Finds the hardware address of `addr`: 1 with `mac_out` filled if it is known, 0 if it is being
 * asked for, -1 if the table is full of questions.
 */
int neighbours_resolve(struct utcp *utcp, const struct utcp_addr *addr, uint64_t now_ns,
		       uint8_t mac_out[MAC_BYTES]);

/* `addr` is being asked for, and this call waits until open_resolved or open_unresolved follows, or
 * it is taken off `out_link`'s list. */
void neighbours_await(struct utcp *utcp, const struct utcp_addr *addr, struct utcp_conn *conn);

/* An answer to us says where `addr` is. False, and nothing is learned, if nobody had asked. */
bool neighbours_take_answer(struct utcp *utcp, const struct utcp_addr *addr,
			    const uint8_t mac[MAC_BYTES], uint64_t now_ns);

/* A request to us says where `addr`, which sent it, is. */
void neighbours_take_request(struct utcp *utcp, const struct utcp_addr *addr,
			     const uint8_t mac[MAC_BYTES], uint64_t now_ns);

/* Our segments to `addr` get no answer: what was not learned just now is to be asked for anew. */
void neighbours_doubt(struct utcp *utcp, const struct utcp_addr *addr, uint64_t now_ns);

/* Asks again and gives up, where due. */
void neighbours_advance(struct utcp *utcp, uint64_t now_ns);

/* Whether `addr` is being asked for. */
bool neighbours_asks(const struct neighbours *neighbours, const struct utcp_addr *addr);

/* Proves what is always true of the table (CHECK). */
void neighbours_check(const struct neighbours *neighbours);

#endif
