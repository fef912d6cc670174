/*
 * port: one queue pair of a DPDK device, frames in and frames out.
 *
 * To send: take memory with port_frame, fill it, port_put it; full bursts leave at once, the rest
 * with port_send. What the device does not take stays in order and is offered again; when too much
 * waits, port_frame lends nothing until some has left.
 *
 * Planes: open, close, restart and the sampled counters are setup and report; the rest is turn.
 */
#ifndef WEIR_DPDK_PORT_H
#define WEIR_DPDK_PORT_H

#include "stacks/dpdk/device.h"
#include "stacks/dpdk/doze.h"
#include "stacks/dpdk/link.h"
#include "stacks/dpdk/pool.h"

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	PORT_BURST = 32,
	PORT_WAITING_MAX = 256,		 /* frames that may wait for the device */
	PORT_FRAME_MAX = POOL_FRAME_MAX, /* bytes of a frame that an mbuf holds in one piece */
	PORT_NAME_MAX = 64,		 /* RTE_DEV_NAME_MAX_LEN */
};

struct port_counters {
	uint64_t frames_in;
	uint64_t bytes_in;
	uint64_t frames_out; /* taken by the device */
	uint64_t bytes_out;  /* of frames to be sent */
	uint64_t bursts_in;  /* calls that returned frames */
	uint64_t bursts_out;
	uint64_t tx_full;      /* calls that took fewer than offered */
	uint64_t mbufs_short;  /* times that no mbuf was to be had */
	uint64_t given_up;     /* frames dropped unsent because the link went down */
	uint64_t chained_in;   /* frames received in several pieces */
	uint64_t oversized_in; /* of those, the ones dropped for their size */
	uint32_t mbuf_low;     /* fewest free mbufs seen, looked at once a millisecond */
};

struct port {
	uint16_t id;
	uint16_t waiting_count;
	uint16_t spare_count;
	struct rte_mempool *pool;
	struct link link;
	struct doze doze;
	struct rte_mbuf *waiting[PORT_WAITING_MAX]; /* to be sent, in order */
	struct rte_mbuf *spare[PORT_BURST];	    /* allocated, not yet filled */
	struct port_counters counters;
	uint64_t sample_ns;   /* when to look at the pool again */
	unsigned xstat_count; /* the driver's own statistics, of a server's port; 0 of a client's */
	struct device device;
	uint16_t mtu;
	uint8_t mac[6]; /* the device's own, zero if it has none that matters */
	char name[PORT_NAME_MAX];
	uint8_t scratch[PORT_FRAME_MAX]; /* a chained frame in one piece */
};

/*
 * Opens the device and starts it; a memif client also waits for its link. `nap_ns` bounds a sleep
 * that nothing can end. 0 or negative errno with `error` filled.
 */
int port_open(struct port *port, const struct device *device, uint64_t nap_ns,
	      struct tp_error *error);

/* Stops and removes it; frames not sent are dropped. */
void port_close(struct port *port);

/*
 * Connects a memif client anew after its server went away; waits at most `wait_ns` for the server
 * and as long for the link. Whether it is up.
 */
bool port_restart(struct port *port, uint64_t wait_ns);

/* Receives at most PORT_BURST frames; port_done gives them back. */
unsigned port_receive(struct port *port, struct rte_mbuf **frames);

/* Gives received frames back to the pool. */
void port_done(struct port *port, struct rte_mbuf **frames, unsigned count);

/*
 * A frame's bytes in one piece, lent until the next call or port_done; NULL (counted) if it is too
 * large.
 */
const uint8_t *port_linear(struct port *port, struct rte_mbuf *frame);

/* Offers what waits to the device. */
void port_send(struct port *port);

/* Drops what waits: nobody is there to receive it. */
void port_give_up(struct port *port);

/* Looks at the pool about once a millisecond, and follows the link. */
void port_turn(struct port *port, uint64_t now_ns);

/*
 * Sleeps at most `bound_ns`, until a frame is there or, where nothing tells of what is awaited, a
 * nap long.
 */
void port_sleep(struct port *port, uint64_t bound_ns);

/* What the device itself counted. */
struct port_losses {
	uint64_t missed;     /* frames received with no descriptor for them; af_xdp: or dropped */
	uint64_t no_mbuf;    /* receives that found no mbuf */
	uint64_t errors_in;  /* frames received with an error */
	uint64_t errors_out; /* frames that could not be sent */
};

/* All 0 if the driver does not say. */
struct port_losses port_losses(const struct port *port);

/* af_xdp: times that the kernel found no buffer of ours to receive into; 0 for others. */
uint64_t port_fill_empty(const struct port *port);

/* Fetches mbufs into the stash; whether it has one now. */
bool port_refill(struct port *port);

/*
 * Lends memory for the next frame (PORT_FRAME_MAX bytes) until port_put; NULL while too much waits
 * or mbufs are short.
 */
static inline uint8_t *port_frame(struct port *port)
{
	if (port->waiting_count == PORT_WAITING_MAX)
		return NULL;
	if (port->spare_count == 0 && !port_refill(port))
		return NULL;
	return rte_pktmbuf_mtod(port->spare[port->spare_count - 1], uint8_t *);
}

/* The frame lent last has `bytes` now: to be sent. */
static inline void port_put(struct port *port, size_t bytes)
{
	struct rte_mbuf *frame = port->spare[--port->spare_count];

	frame->data_len = (uint16_t)bytes;
	frame->pkt_len = (uint32_t)bytes;
	port->counters.bytes_out += bytes;
	port->waiting[port->waiting_count++] = frame;
	if (port->waiting_count % PORT_BURST == 0)
		port_send(port);
}

#endif
