/*
 * xstats: a device's own extended statistics as details of the stack.
 *
 * Names come from the driver when a port is opened and stay for as long as the process lives, for
 * accounts are printed after the port is closed. All ports of one driver have the same names; a
 * port whose driver has others than the first one's shows none.
 *
 * Planes: open is setup, read is report, on the port's own thread.
 */
#ifndef WEIR_DPDK_XSTATS_H
#define WEIR_DPDK_XSTATS_H

#include "dataplane/transport/transport.h"

#include <stdint.h>

enum { XSTATS_MAX = 96 }; /* of a device with more, the first ones */

/* Learns the names of a started port's statistics. How many there are to read; 0 if none. */
unsigned xstats_open(uint16_t port_id);

/*
 * Fills `count` details, as xstats_open counted them, "xstat_" before the driver's name; returns
 * their number, 0 if the driver fails.
 */
unsigned xstats_read(uint16_t port_id, unsigned count, struct tp_detail *details_out);

#endif
