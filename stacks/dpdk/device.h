/*
 * device: what follows '@' in `dpdk@...`, read and made into a DPDK device.
 *
 *	memif:PATH           shared memory with another process by the server's socket PATH
 *	tap:NAME             a network interface that is made for us: the kernel is the peer
 *	af_packet:INTERFACE  an interface that exists, by a packet socket
 *	af_xdp:INTERFACE     the same, by an AF_XDP socket
 *	ring                 two instances of one process
 *
 * Plane: setup.
 */
#ifndef WEIR_DPDK_DEVICE_H
#define WEIR_DPDK_DEVICE_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

enum device_kind {
	DEVICE_MEMIF,
	DEVICE_TAP,
	DEVICE_AF_PACKET,
	DEVICE_AF_XDP,
	DEVICE_RING,
	DEVICE_KIND_COUNT,
};

/* sizeof(sun_path): a socket's path and its end. */
enum { DEVICE_TARGET_MAX = 108 };

struct device {
	enum device_kind kind;
	bool server;			/* memif: owns the socket; ring: the first of the pair */
	char target[DEVICE_TARGET_MAX]; /* path or interface; "" for ring */
};

/* What is the same for all devices of a kind. */
struct device_traits {
	const char *name;    /* as in the device's text */
	const char *target;  /* what follows ':', for people; NULL for nothing */
	const char *driver;  /* of DPDK; the vdev's name is this and a number */
	const char *package; /* Debian's, that brings the driver */
	uint16_t rx_descriptors;
	uint16_t tx_descriptors;
	uint16_t mtu;	 /* of a link that has none of its own; 0: ask the interface */
	bool has_link;	 /* says when the other side is gone */
	bool has_gate;	 /* the driver changes its queues from the interrupt thread (see gate.h) */
	bool interrupts; /* the driver hands out a descriptor of its receive queue (see doze.h) */
	bool own_mac;	 /* use the device's address, for others on the wire filter by it */
	bool copies;	 /* the driver copies frames inside our process */
	bool lends_pool; /* the driver shares its mbufs' memory with the kernel (see pool.h) */
};

extern const struct device_traits device_traits[DEVICE_KIND_COUNT];

/* Reads "memif:PATH" and the like. 0, or -EINVAL with `error` filled. */
int device_parse(const char *text, bool server, struct device *device_out, struct tp_error *error);

/*
 * Looks whether the device can be had: memif's socket is free (server) or there (client), the
 * interface exists. Removes a socket file whose owner is dead. 0; -EADDRINUSE with pid and program
 * of who holds the socket; -ENOENT; others.
 */
int device_check(const struct device *device, struct tp_error *error);

/*
 * Adds it to DPDK and gives its port's number; `name` (64 bytes) becomes the vdev's name. Not for
 * ring.
 */
int device_attach(const struct device *device, char *name, uint16_t *port_out,
		  struct tp_error *error);

#endif
