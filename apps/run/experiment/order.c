#include "apps/run/experiment/order.h"

#include "dataplane/core/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char order_usage[] = "\"rotate\", \"abba\", \"balanced\", \"random\" or \"random(SEED)\"";

static const char *const names[ORDER_KINDS] = {
	[ORDER_ROTATE] = "rotate",
	[ORDER_ABBA] = "abba",
	[ORDER_BALANCED] = "balanced",
	[ORDER_RANDOM] = "random",
};

const char *order_name(enum order_kind kind)
{
	return names[kind];
}

/* "random(7)" */
static int parse_seeded(const char *text, uint64_t *seed_out)
{
	static const char prefix[] = "random(";
	size_t bytes = strlen(text), before = strlen(prefix);
	char digits[24];

	if (strncmp(text, prefix, before) != 0 || text[bytes - 1] != ')' ||
	    bytes - before - 1 >= sizeof(digits))
		return -EINVAL;
	snprintf(digits, sizeof(digits), "%.*s", (int)(bytes - before - 1), text + before);
	return units_parse_count(digits, INT64_MAX, seed_out);
}

int order_parse(const char *text, struct order *order_out, bool *seeded_out)
{
	for (unsigned kind = 0; kind < ORDER_KINDS; kind++) {
		if (strcmp(names[kind], text) != 0)
			continue;
		order_out->kind = kind;
		*seeded_out = false;
		return 0;
	}
	if (parse_seeded(text, &order_out->seed) < 0)
		return -EINVAL;
	order_out->kind = ORDER_RANDOM;
	*seeded_out = true;
	return 0;
}

/*
 * Groups begin further on, and within each the cells do: of two that are compared, each is first in
 * every second run.
 */
static void rotate(unsigned runs, unsigned run, unsigned cells, unsigned group,
		   unsigned *places_out)
{
	unsigned groups = cells / group, step = groups / runs ? groups / runs : 1;

	for (unsigned i = 0; i < cells; i++) {
		unsigned which = (unsigned)((i / group + (uint64_t)run * step) % groups);

		places_out[i] = which * group + (i + run) % group;
	}
}

static void reverse(unsigned cells, unsigned *places)
{
	for (unsigned i = 0; i < cells / 2; i++) {
		unsigned kept = places[i];

		places[i] = places[cells - 1 - i];
		places[cells - 1 - i] = kept;
	}
}

static void abba(unsigned run, unsigned cells, unsigned *places_out)
{
	for (unsigned i = 0; i < cells; i++)
		places_out[i] = i;
	if (run % 4 == 1 || run % 4 == 2)
		reverse(cells, places_out);
}

/*
 * Williams (1949): 0, 1, n-1, 2, n-2, ... and what each shift of it makes. All differences of
 * neighbours differ, so that with an even number of cells each stands behind each other once in n
 * runs. With an odd one every second run is the mirror image of that before it, and each stands
 * behind each other twice in 2n runs.
 */
static void balance(unsigned run, unsigned cells, unsigned *places_out)
{
	bool odd = cells % 2 == 1;
	unsigned shift = (odd ? run / 2 : run) % cells;

	for (unsigned i = 0; i < cells; i++) {
		unsigned base = i % 2 == 1 ? (i + 1) / 2 : (cells - i / 2) % cells;

		places_out[i] = (base + shift) % cells;
	}
	if (odd && run % 2 == 1)
		reverse(cells, places_out);
}

/* xorshift64* (Marsaglia 2003, Vigna 2016): any good order that can be had again will do. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1Dull;
}

static void shuffle(uint64_t seed, unsigned run, unsigned cells, unsigned *places_out)
{
	/* Different in each run. */
	uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15ull + run * 0xD1B54A32D192ED03ull + 1;

	state = state ? state : 1;
	for (unsigned i = 0; i < cells; i++)
		places_out[i] = i;
	for (unsigned i = cells; i > 1; i--) {
		unsigned other = (unsigned)(next_random(&state) >> 33) % i;
		unsigned kept = places_out[i - 1];

		places_out[i - 1] = places_out[other];
		places_out[other] = kept;
	}
}

void order_make(const struct order *order, unsigned runs, unsigned run, unsigned cells,
		unsigned group, unsigned *places_out)
{
	switch (order->kind) {
	case ORDER_ROTATE:
		rotate(runs, run, cells, group, places_out);
		break;
	case ORDER_ABBA:
		abba(run, cells, places_out);
		break;
	case ORDER_BALANCED:
		balance(run, cells, places_out);
		break;
	case ORDER_RANDOM:
		shuffle(order->seed, run, cells, places_out);
		break;
	}
}

unsigned order_period(enum order_kind kind, unsigned cells)
{
	switch (kind) {
	case ORDER_ROTATE:
		return cells;
	case ORDER_ABBA:
		return 4;
	case ORDER_BALANCED:
		return cells % 2 == 1 && cells > 1 ? 2 * cells : cells;
	case ORDER_RANDOM:
		return 1;
	}
	return 1;
}
