/*
 * xdp: what the af_xdp driver keeps to itself about its socket and its program.
 *
 * Frames reach the driver's socket through a small program that it attaches to the interface.
 * Another tool can take that program away at any time; then frames go to the kernel's own stack and
 * the driver sees nothing but silence. So the kernel is asked which program is attached.
 *
 * Planes: prepare, open and close are setup, losses is report, the check is turn (two system calls,
 * a few times a second).
 */
#ifndef WEIR_DPDK_XDP_H
#define WEIR_DPDK_XDP_H

#include <stdbool.h>
#include <stdint.h>

/* A look at the program on one interface. */
struct xdp_watch {
	int fd;		  /* of route netlink; -1 if it cannot be looked at */
	int interface;	  /* its index */
	uint32_t program; /* the one that was attached at open */
};

/* What the kernel dropped or could not do on the driver's socket. */
struct xdp_losses {
	uint64_t frames; /* received frames dropped for want of a buffer or of room in the ring */
	uint64_t fill_empty; /* times that no buffer was in the fill ring */
};

/* Before the device is made: its libraries are not to print, nor to want a dispatcher. */
void xdp_prepare(void);

/* The driver's socket, if it is the only one of its kind in this process; else -1. */
int xdp_find_socket(void);

/* Notes which program is attached now. */
void xdp_watch_open(struct xdp_watch *watch, int interface);

void xdp_watch_close(struct xdp_watch *watch);

/* Whether that program is still attached; true if it cannot be told. */
bool xdp_watch_holds(const struct xdp_watch *watch);

/* Of the socket `fd`; zero where the kernel does not say. */
struct xdp_losses xdp_losses_of(int fd);

#endif
