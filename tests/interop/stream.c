#include "tests/interop/stream.h"

#include "apps/sim/random.h"

enum { PERIOD_BYTES = 1048573 };

static uint8_t pattern[PERIOD_BYTES + STREAM_RUN_MAX];

static bool made;

static void make_pattern(void)
{
	struct random random = {7};

	for (unsigned i = 0; i < sizeof(pattern); i++)
		pattern[i] = i < PERIOD_BYTES ? (uint8_t)random_next(&random)
					      : pattern[i - PERIOD_BYTES];
	made = true;
}

const uint8_t *stream_at(uint64_t at)
{
	if (!made)
		make_pattern();
	return pattern + at % PERIOD_BYTES;
}
