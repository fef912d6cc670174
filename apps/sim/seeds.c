#include "apps/sim/seeds.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define SECOND_NS (1000ull * 1000 * 1000)

/* Faults last this long; then all must end within the bound. */
#define HEAL_NS (6 * SECOND_NS)

enum { TRACE_LINES = 120 };

/* What runs now, for the last words of an abort. */
static const struct seeds *running;
static uint64_t running_seed;
static const struct world *running_world;

static void say_replay(const struct seeds *seeds, uint64_t seed)
{
	printf("# replay: weir sim --seed %llu --impair %s%s%s\n", (unsigned long long)seed,
	       seeds->impair_text, seeds->bound_text ? " --bound " : "",
	       seeds->bound_text ? seeds->bound_text : "");
	fflush(stdout);
}

static void on_abort(int number)
{
	(void)number;
	if (running_world)
		wire_trace_print(world_wire(running_world), stdout, TRACE_LINES);
	if (running)
		say_replay(running, running_seed);
	_exit(1);
}

static struct world *run_world(const struct seeds *seeds, uint64_t seed, bool trace)
{
	struct world_config config = {.seed = seed,
				      .faults = seeds->impair.faults,
				      .heal_ns = HEAL_NS,
				      .bound_ns = seeds->bound_ns,
				      .stall_permille = seeds->impair.stall_permille,
				      .trace = trace};
	struct world *world = world_create(&config);

	running = seeds;
	running_seed = seed;
	running_world = world;
	world_run(world);
	return world;
}

/* The failed world again, now with its trace. */
static void explain(const struct seeds *seeds, uint64_t seed)
{
	struct world *again = run_world(seeds, seed, true);

	wire_trace_print(world_wire(again), stdout, TRACE_LINES);
	printf("# seed %llu: %s\n", (unsigned long long)seed, world_failure(again));
	say_replay(seeds, seed);
	world_destroy(again);
}

static bool run_seed(const struct seeds *seeds, uint64_t seed, struct world_totals *totals)
{
	struct world *world = run_world(seeds, seed, seeds->trace_lines > 0);
	bool held = world_failure(world)[0] == '\0';

	world_add_totals(world, totals);
	if (seeds->trace_lines > 0)
		wire_trace_print(world_wire(world), stdout, seeds->trace_lines);
	world_destroy(world);
	running_world = NULL;
	if (!held)
		explain(seeds, seed);
	running_world = NULL;
	return held;
}

uint64_t seeds_run(const struct seeds *seeds, struct world_totals *totals)
{
	void (*before)(int) = signal(SIGABRT, on_abort);
	uint64_t failed = 0;

	for (uint64_t i = 0; i < seeds->count; i++)
		failed += !run_seed(seeds, seeds->first + i, totals);
	running = NULL;
	signal(SIGABRT, before);
	return failed;
}

void seeds_print_totals(const struct world_totals *t)
{
	printf("# %llu connections, %llu bytes verified, %.0f s of virtual time; %llu retransmits, "
	       "%llu fast, %llu timeouts, %llu probes, %llu kept out of order, %llu marked, %llu "
	       "frames refused, %llu aborts\n",
	       (unsigned long long)t->connections, (unsigned long long)t->bytes,
	       (double)t->virtual_ns / 1e9, (unsigned long long)t->retransmits,
	       (unsigned long long)t->fast_retransmits, (unsigned long long)t->timeouts,
	       (unsigned long long)t->probes, (unsigned long long)t->kept_out_of_order,
	       (unsigned long long)t->marked, (unsigned long long)t->dropped,
	       (unsigned long long)t->aborts);
}
