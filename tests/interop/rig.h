/*
 * rig: one utcp instance before the TCP of this host's kernel, over a device that leads to it.
 *
 * The device is a TAP, or one end of a veth pair seen through a packet socket; whoever calls has
 * made it, with the kernel's addresses on the other side. Both hosts have one of either family, and
 * one of these is spoken. Frames may pass a seeded wire on their way,
 * which loses and reorders them, in real time.
 */
#ifndef WEIR_TESTS_INTEROP_RIG_H
#define WEIR_TESTS_INTEROP_RIG_H

#include "stacks/utcp/utcp.h"
#include "apps/sim/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	RIG_PORT = 7878,
	RIG_KERNEL_IP = 0x0a4d0001,
	RIG_OWN_IP = 0x0a4d0002,
	RIG_CONNS = 256,
	RIG_CAPTURED = 100000, /* more say no more, and take long to read */
};

/* The other addresses, fd77::1 and fd77::2. */
extern const uint8_t rig_kernel_ip6[16], rig_own_ip6[16];

struct rig_config {
	const char *device;		  /* "tap:NAME" or "packet:NAME" */
	bool ip6;			  /* what is spoken */
	const struct wire_faults *faults; /* NULL: nothing happens on the way */
	uint64_t patience_ns;
};

struct rig {
	int device;
	bool ip6;
	struct utcp *utcp;
	struct wire *wire; /* NULL: nothing happens on the way */
	bool cut;	   /* nothing arrives any more, either way */
	uint64_t now_ns;
	uint64_t deadline_ns;
	uint64_t unsent; /* frames that the device refused */
	FILE *capture;	 /* of the first RIG_CAPTURED frames that utcp got and sent, or NULL */
	uint32_t captured;
};

/* A file is captured to if the environment has INTEROP_CAPTURE. Ends the process with words if it
 * cannot. */
void rig_open(struct rig *rig, const struct rig_config *config);

/* utcp calls the kernel; as utcp_connect. */
int rig_call(struct rig *rig, struct utcp_conn **conn_out);

/* The end of the kernel or of utcp, in the kernel's words; its length. */
socklen_t rig_sockaddr(const struct rig *rig, bool kernel, struct sockaddr_storage *to);

/* Moves frames and time, and waits a little if nothing came. False once the patience is at its end.
 */
bool rig_move(struct rig *rig);

/* Lets what has ended be forgotten; whether nothing is left: no connection and no timer of one. */
bool rig_settle(struct rig *rig);

void rig_close(struct rig *rig);

#endif
