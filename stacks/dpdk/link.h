/*
 * link: whether the other side of a port is there, and whether frames may move now.
 *
 *	DOWN -> JOINING: the driver says up; the gate is asked to shut
 *	JOINING -> UP: the gate is shut and the driver still says up; else -> DOWN
 *	UP -> JOINING: a control socket wants the interrupt thread, or a setup call let it go
 *
 * Only in UP may a burst be made. The device is asked about once a millisecond. A device without a
 * link is UP as long as its network interface is there, which is looked at five times a second;
 * once it is removed the link is DOWN for good, for one made anew under the same name is another.
 * So it is once af_xdp's program was taken off the interface, for no frame comes through any more.
 *
 * Planes: init, wait and what comes of it are setup, the rest is turn.
 */
#ifndef WEIR_DPDK_LINK_H
#define WEIR_DPDK_LINK_H

#include "stacks/dpdk/device.h"
#include "stacks/dpdk/gate.h"
#include "stacks/dpdk/xdp.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum link_state {
	LINK_DOWN,
	LINK_JOINING,
	LINK_UP,
};

/* Control sockets of one memif: a listener, the peer, and some that knock. */
enum { LINK_WATCH_MAX = 8 };

struct link {
	enum link_state state;
	bool gated;
	const char *gone; /* what of the device was removed, static; NULL: nothing */
	uint16_t port;
	const struct device *device; /* lent until fini */
	uint64_t next_ns;	     /* when to ask again */
	struct pollfd watch[LINK_WATCH_MAX];
	unsigned watch_count;
	unsigned interface;   /* af_packet, af_xdp: its index; 0 otherwise */
	struct xdp_watch xdp; /* af_xdp: its program; fd -1 otherwise */
	int tun_fd;	      /* tap: one of the driver's descriptors of it (lent); -1 otherwise */
	bool counted_up;      /* the last of the two that was counted */
	uint64_t ups;
	uint64_t downs;
};

/* A link of `port`, which was started; `device` is lent for the link's life. */
void link_init(struct link *link, const struct device *device, uint16_t port);

/* Lets the interrupt thread go: the port is about to be stopped. */
void link_fini(struct link *link);

/* Follows the device; cheap when nothing is due. */
void link_turn(struct link *link, uint64_t now_ns);

/* Waits until frames may move, at most `wait_ns`; whether they may. */
bool link_wait(struct link *link, uint64_t wait_ns);

/* Whether a memif client that was started has no connection to its server any more. */
bool link_was_turned_away(const struct link *link);

/* Whether a burst may be made now. */
static inline bool link_usable(const struct link *link)
{
	return link->state == LINK_UP && (!link->gated || gate_is_shut());
}

#endif
