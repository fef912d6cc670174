#include "tests/interop/path.h"

#include "dataplane/core/check.h"
#include "apps/sim/random.h"

#include <stdlib.h>

enum { LOSS_UNIT = 100000 };

struct path {
	struct path_config config;
	struct random random;
	struct wire *wire;
	uint64_t free_at_ns[2]; /* the link's, each way */
};

struct path *path_create(const struct path_config *config)
{
	struct wire_faults faults = {.delay_ns = config->rtt_ns / 2};
	struct path *path = calloc(1, sizeof(*path));

	CHECK(path != NULL);
	path->config = *config;
	path->random.state = config->seed;
	path->wire = wire_create(config->seed, &faults);
	return path;
}

void path_destroy(struct path *path)
{
	wire_destroy(path->wire);
	free(path);
}

void path_send(struct path *path, unsigned end, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	uint64_t *free_at_ns = &path->free_at_ns[end];

	if (random_below(&path->random, LOSS_UNIT) < path->config.loss_per_100k)
		return;
	if (*free_at_ns < now_ns)
		*free_at_ns = now_ns;
	if (*free_at_ns - now_ns > path->config.queue_ns)
		return;
	*free_at_ns += bytes * 8 * 1000000000 / path->config.bits_per_s;
	wire_send(path->wire, end, frame, bytes, *free_at_ns);
}

uint64_t path_next(const struct path *path)
{
	return wire_next(path->wire);
}

size_t path_receive(struct path *path, uint64_t now_ns, uint8_t frame[WIRE_FRAME_MAX],
		    unsigned *end_out)
{
	return wire_receive(path->wire, now_ns, frame, end_out);
}
