/*
 * sim: utcp against itself on a simulated wire, 2,000 seeds of each kind of fault.
 *
 *	sim_test [--seeds N] [WORD...]
 *
 * Speaks TAP; words are looked for in the tests' names. `weir sim` runs seeds by hand, and the line
 * that repeats one that failed is printed with it.
 */
#include "apps/sim/seeds.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEEDS = 2000, /* of each kind */
	NAME_BYTES = 128,
};

/* The sentence that a kind's test goes by. */
static void name_test(const struct impair_kind *kind, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES,
		 "under %s, every seed ends byte-exact, closed once and with full pools",
		 kind->name);
}

static bool is_wanted(const char *name, char **words, int count)
{
	for (int i = 0; i < count; i++)
		if (strstr(name, words[i]))
			return true;
	return count == 0;
}

static bool run_kind(const struct impair_kind *kind, const char *name, unsigned number,
		     uint64_t count)
{
	struct seeds seeds = {.count = count,
			      .impair_text = kind->name,
			      .impair = kind->impair,
			      .bound_ns = SEEDS_BOUND_NS};
	struct world_totals totals = {0};
	uint64_t failed = seeds_run(&seeds, &totals), witness;

	memcpy(&witness, (const char *)&totals + kind->witness, sizeof(witness));
	if (witness == 0) {
		printf("# the wire did no harm: nothing was tested\n");
		failed++;
	}
	printf("%s %u - %s\n", failed ? "not ok" : "ok", number, name);
	seeds_print_totals(&totals);
	fflush(stdout);
	return failed == 0;
}

int main(int argc, char **argv)
{
	unsigned number = 0;
	uint64_t seeds = SEEDS;
	bool held = true;
	int first = 1;

	if (argc > 2 && strcmp(argv[1], "--seeds") == 0) {
		seeds = strtoull(argv[2], NULL, 10);
		first = 3;
	}
	for (unsigned i = 0; i < impair_kinds_count; i++) {
		char name[NAME_BYTES];

		name_test(&impair_kinds[i], name);
		if (is_wanted(name, argv + first, argc - first))
			held &= run_kind(&impair_kinds[i], name, ++number, seeds);
	}
	printf("1..%u\n", number);
	return !held;
}
