/*
 * segments: what the kernel's TCP sent and received on this process's connections.
 *
 * Asked of each connection (TCP_INFO), so it is exact where the counters of a network namespace
 * also count the peer's. A connection that has ended takes its counts along: differences hold only
 * between two readings with none ended in between.
 *
 * Plane: report, on the main thread; about a microsecond a connection, none of it a worker's.
 */
#ifndef WEIR_APPS_SEGMENTS_H
#define WEIR_APPS_SEGMENTS_H

#include <stdint.h>

struct segments {
	uint64_t out;	 /* sent, pure acknowledgements and repeated ones included */
	uint64_t in;	 /* received */
	uint64_t resent; /* of those sent, the repeated ones */
	unsigned connections;
};

/* Sums over the TCP connections that are open. 0; or negative errno, `sum_out` untouched. */
int segments_read(struct segments *sum_out);

#endif
