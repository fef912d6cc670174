#include "tests/bench/demux.h"

#include "stacks/utcp/instance.h"
#include "tests/unit/utcp/crowd.h"

static struct crowd crowd;

bool bench_demux_open(uint32_t count)
{
	if (crowd.utcp)
		crowd_close(&crowd);
	return crowd_open(&crowd, count);
}

/* A place below `bound`, of a sequence in which each leads to the next (Numerical Recipes' LCG). */
static uint32_t choose(uint32_t *state, uint32_t bound)
{
	*state = *state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)*state * bound >> 32);
}

bool bench_demux_find(uint32_t among, uint32_t times)
{
	static uint32_t state;
	uint32_t found = 0;

	for (uint32_t i = 0; i < times; i++) {
		uint32_t index = choose(&state, among);
		uint64_t key =
			tuples_key_ip4(PEER_IP, crowd_peer_port(index), crowd_own_port(index));

		found += tuples_find_ip4(&crowd.utcp->tuples, &crowd.utcp->conns, key) != NULL;
	}
	return found == times;
}
