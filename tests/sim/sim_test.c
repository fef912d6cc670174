/*
 * sim_test: many seeds of a simulated world, for each kind of fault; or one seed again, exactly.
 *
 *	sim_test [WORD...]              2000 seeds of each kind, TAP; words choose kinds
 *	sim_test --seeds N [--kind K]   as many seeds of each kind, perhaps of one only
 *	sim_test --seed N --kind K      one seed; if it fails, with the trace of its packets
 *	sim_test ... --trace LINES      the trace in any case, its last LINES lines
 */
#include "tests/sim/world.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS 1000000ull
#define SECOND (1000 * MS)

struct kind {
	const char *name;
	size_t witness; /* the total that is 0 if the faults were not real */
	struct wire_faults faults;
	unsigned stall_permille;
};

#define WITNESS(total) offsetof(struct world_totals, total)

/*
 * Initial numbers are fixed here, so that they stand just under the wrap, and fixed numbers do not
 * tell a late duplicate of an old connection from a new one, as those of RFC 6528 do. So where
 * frames are duplicated, none is held back for longer than the shortest connection lasts: five
 * times the delay.
 */
static const struct kind kinds[] = {
	{"clean", WITNESS(bytes), {.delay_ns = 50000}, 0},
	{"loss", WITNESS(fast_retransmits), {.loss = 100, .delay_ns = 50000}, 0},
	{"reorder",
	 WITNESS(kept_out_of_order),
	 {.reorder = 200, .reorder_ns = 5 * MS, .delay_ns = 200000},
	 0},
	{"duplicate",
	 WITNESS(dropped),
	 {.duplicate = 200, .reorder = 50, .reorder_ns = 5 * MS, .delay_ns = 2 * MS},
	 0},
	{"corrupt", WITNESS(dropped), {.corrupt = 150, .delay_ns = 50000}, 0},
	{"mark", WITNESS(marked), {.mark = 200, .delay_ns = 1 * MS}, 0},
	{"delay", WITNESS(probes), {.delay_ns = 20 * MS, .jitter_ns = 80 * MS}, 0},
	{"stall", WITNESS(timeouts), {.delay_ns = 1 * MS}, 10},
	{"all",
	 WITNESS(retransmits),
	 {.loss = 50,
	  .duplicate = 50,
	  .corrupt = 50,
	  .reorder = 100,
	  .mark = 100,
	  .reorder_ns = 15 * MS,
	  .delay_ns = 8 * MS,
	  .jitter_ns = 8 * MS},
	 1},
};

enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0]),
	SEEDS = 2000, /* of each kind */
	TRACE_LINES = 120,
	NAME_BYTES = 128,
};

/* Faults last this long; then all must end within the bound, which covers a half-open
 * connection that its caller forgot. */
#define HEAL_NS (6 * SECOND)
#define BOUND_NS (75 * SECOND)

struct options {
	bool one;
	uint64_t seed;
	unsigned seeds;
	const struct kind *kind; /* NULL: all */
	unsigned trace_lines;	 /* 0: only on failure */
	char **words;		 /* only tests whose names contain one of them */
	int word_count;		 /* 0: all */
};

/* What runs now, for the message of an abort. */
static const struct kind *running_kind;
static uint64_t running_seed;
static const struct world *running_world;

static void say_replay(FILE *to)
{
	fprintf(to, "# replay: sim_test --seed %llu --kind %s\n", (unsigned long long)running_seed,
		running_kind->name);
	fflush(to);
}

/* A broken invariant: the process ends, but not without saying how to see it again. */
static void on_abort(int number)
{
	if (running_world)
		wire_trace_print(world_wire(running_world), stdout, TRACE_LINES);
	say_replay(stdout);
	_exit(1);
}

static bool run_seed(uint64_t seed, const struct kind *kind, const struct options *options,
		     struct world_totals *totals)
{
	struct world_config config = {.seed = seed,
				      .faults = kind->faults,
				      .heal_ns = HEAL_NS,
				      .bound_ns = BOUND_NS,
				      .stall_permille = kind->stall_permille,
				      .trace = options->one};
	struct world *world = world_create(&config);
	bool held;

	running_kind = kind;
	running_seed = seed;
	running_world = world;
	held = world_run(world);
	world_add_totals(world, totals);
	if (!held || options->trace_lines > 0)
		wire_trace_print(world_wire(world), stdout,
				 options->trace_lines ? options->trace_lines : TRACE_LINES);
	if (!held) {
		printf("# seed %llu: %s\n", (unsigned long long)seed, world_failure(world));
		say_replay(stdout);
	}
	running_world = NULL;
	world_destroy(world);
	return held;
}

static void print_totals(const struct world_totals *t)
{
	printf("# %llu connections, %llu bytes verified, %.0f s of virtual time; %llu retransmits, "
	       "%llu fast, "
	       "%llu timeouts, %llu probes, %llu kept out of order, %llu marked, %llu frames "
	       "refused, %llu "
	       "aborts\n",
	       (unsigned long long)t->connections, (unsigned long long)t->bytes,
	       (double)t->virtual_ns / 1e9, (unsigned long long)t->retransmits,
	       (unsigned long long)t->fast_retransmits, (unsigned long long)t->timeouts,
	       (unsigned long long)t->probes, (unsigned long long)t->kept_out_of_order,
	       (unsigned long long)t->marked, (unsigned long long)t->dropped,
	       (unsigned long long)t->aborts);
}

/* The sentence that a kind's test goes by. */
static void name_test(const struct kind *kind, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES,
		 "under %s, every seed ends byte-exact, closed once and with full pools",
		 kind->name);
}

static bool is_wanted(const struct kind *kind, const struct options *options)
{
	char name[NAME_BYTES];

	if (options->kind && options->kind != kind)
		return false;
	name_test(kind, name);
	for (int i = 0; i < options->word_count; i++)
		if (strstr(name, options->words[i]))
			return true;
	return options->word_count == 0;
}

static bool run_kind(const struct kind *kind, unsigned number, const struct options *options)
{
	struct world_totals totals = {0};
	char name[NAME_BYTES];
	unsigned failed = 0;
	uint64_t witness;

	for (uint64_t seed = 0; seed < options->seeds; seed++)
		failed += !run_seed(seed, kind, options, &totals);
	memcpy(&witness, (const char *)&totals + kind->witness, sizeof(witness));
	if (witness == 0) {
		printf("# the wire did no harm: nothing was tested\n");
		failed++;
	}
	name_test(kind, name);
	printf("%s %u - %s\n", failed ? "not ok" : "ok", number, name);
	print_totals(&totals);
	fflush(stdout);
	return failed == 0;
}

static bool run_kinds(const struct options *options)
{
	unsigned number = 0;
	bool held = true;

	for (unsigned i = 0; i < KINDS; i++)
		if (is_wanted(&kinds[i], options))
			held &= run_kind(&kinds[i], ++number, options);
	printf("1..%u\n", number);
	return held;
}

static bool run_one(const struct options *options)
{
	struct world_totals totals = {0};
	bool held = run_seed(options->seed, options->kind, options, &totals);

	printf("%s 1 - seed %llu under %s\n1..1\n", held ? "ok" : "not ok",
	       (unsigned long long)options->seed, options->kind->name);
	print_totals(&totals);
	return held;
}

static const struct kind *find_kind(const char *name)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	fprintf(stderr, "sim_test: there is no kind '%s'; the kinds are", name);
	for (unsigned i = 0; i < KINDS; i++)
		fprintf(stderr, " %s", kinds[i].name);
	fprintf(stderr, "\n");
	exit(4);
}

static void usage(void)
{
	fprintf(stderr, "usage: sim_test [--seed N --kind K | --seeds N [--kind K]] "
			"[--trace LINES] [WORD...]\n");
	exit(4);
}

/* Flags first; what stands behind them are words. */
static void parse(int argc, char **argv, struct options *options)
{
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (value && strcmp(argv[i], "--seed") == 0) {
			options->one = true;
			options->seed = strtoull(value, NULL, 10);
		} else if (value && strcmp(argv[i], "--seeds") == 0) {
			options->seeds = (unsigned)strtoul(value, NULL, 10);
		} else if (value && strcmp(argv[i], "--kind") == 0) {
			options->kind = find_kind(value);
		} else if (value && strcmp(argv[i], "--trace") == 0) {
			options->trace_lines = (unsigned)strtoul(value, NULL, 10);
		} else {
			usage();
		}
	}
	options->words = argv + i;
	options->word_count = argc - i;
	if (options->one && !options->kind)
		usage();
}

int main(int argc, char **argv)
{
	struct options options = {.seeds = SEEDS};

	parse(argc, argv, &options);
	signal(SIGABRT, on_abort);
	return !(options.one ? run_one(&options) : run_kinds(&options));
}
