/*
 * path: a link of a certain rate and length between two ends, with losses.
 *
 * In front of a simulated wire stands a queue for each direction, from which frames leave at the
 * link's rate; what would wait longer than the queue is long is dropped, as a router does. Time is
 * an argument, so the same path serves a virtual clock and a real one.
 */
#ifndef WEIR_TESTS_INTEROP_PATH_H
#define WEIR_TESTS_INTEROP_PATH_H

#include "apps/sim/wire.h"

struct path_config {
	uint64_t bits_per_s;
	uint64_t rtt_ns;
	uint64_t queue_ns;	/* longest wait for the link */
	unsigned loss_per_100k; /* frames, each way */
	uint64_t seed;
};

struct path;

struct path *path_create(const struct path_config *config);
void path_destroy(struct path *path);

/* As wire_send, wire_next and wire_receive. */
void path_send(struct path *path, unsigned end, const uint8_t *frame, size_t bytes,
	       uint64_t now_ns);
uint64_t path_next(const struct path *path);
size_t path_receive(struct path *path, uint64_t now_ns, uint8_t frame[WIRE_FRAME_MAX],
		    unsigned *end_out);

#endif
