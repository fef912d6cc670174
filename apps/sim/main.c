#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/sim/seeds.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS_MAX = 100 * 1000 * 1000, TRACE_MAX = 1000 * 1000 };

static int parse_seed(const struct flag *flag, const char *text)
{
	char *end;
	unsigned long long seed;

	errno = 0;
	seed = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
		return -EINVAL;
	*(uint64_t *)flag->value = seed;
	return 0;
}

static int parse_impair(const struct flag *flag, const char *text)
{
	struct seeds *seeds = flag->value;

	if (impair_parse(text, &seeds->impair) < 0)
		return -EINVAL;
	seeds->impair_text = text;
	return 0;
}

static const struct flag_kind flag_seed = {
	.metavar = "N", .accepts = "a number below 2^64", .parse = parse_seed};
static const struct flag_kind flag_impair = {
	.metavar = "FAULTS", .accepts = IMPAIR_ACCEPTS, .parse = parse_impair};

static int judge(const struct seeds *seeds)
{
	struct world_totals totals = {0};
	uint64_t began_ns = clock_now_ns(), failed = seeds_run(seeds, &totals);

	seeds_print_totals(&totals);
	printf("%llu of %llu seeds from %llu on held under %s, in %.1f s\n",
	       (unsigned long long)(seeds->count - failed), (unsigned long long)seeds->count,
	       (unsigned long long)seeds->first, seeds->impair_text,
	       (double)(clock_now_ns() - began_ns) / 1e9);
	return failed > 0 ? EXIT_GATE : EXIT_PASS;
}

int verb_sim(int argc, char **argv)
{
	struct seeds seeds = {0};
	uint32_t count = 0, trace = 0;
	struct flag table[] = {
		{.name = "seeds",
		 .kind = &flag_count,
		 .value = &count,
		 .initial = "1000",
		 .min = 1,
		 .max = SEEDS_MAX,
		 .about = "worlds to run; with --seed alone it is that one"},
		{.name = "seed",
		 .kind = &flag_seed,
		 .value = &seeds.first,
		 .initial = "0",
		 .about = "the first world's"},
		{.name = "impair",
		 .kind = &flag_impair,
		 .value = &seeds,
		 .initial = "all",
		 .about = "what the wire does to frames: a kind of fault or a list"},
		{.name = "bound",
		 .kind = &flag_duration,
		 .value = &seeds.bound_ns,
		 .initial = SEEDS_BOUND,
		 .min = CLOCK_SECOND_NS / 1000,
		 .max = 3600 * CLOCK_SECOND_NS,
		 .about = "virtual time within which all must have ended once the faults stop"},
		{.name = "trace",
		 .kind = &flag_count,
		 .value = &trace,
		 .initial = "0",
		 .max = TRACE_MAX,
		 .about = "print so many of the last lines of every world's frames"},
	};
	struct flags flags = {
		.program = "weir sim",
		.about =
			"Runs utcp, the user-space TCP, against itself on a simulated wire with a "
			"virtual clock: two\ninstances whose applications stream both ways, all of "
			"it drawn from one seed. Safety (byte-exact\nstreams, each connection "
			"closed once, counters that balance, full pools) is judged after every\n"
			"step, liveness by the virtual time that passes once the faults stop. A "
			"seed that fails is run again\nwith a trace of its frames, and the line "
			"that repeats it is printed.\nExit status: 0; 1 if a seed failed; 4 if it "
			"was asked wrongly.",
		.table = table,
		.count = sizeof(table) / sizeof(table[0])};
	int status;

	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	seeds.count = flags_find(&flags, "seed")->given && !flags_find(&flags, "seeds")->given
			      ? 1
			      : count;
	if (flags_find(&flags, "bound")->given)
		seeds.bound_text = flags_find(&flags, "bound")->text;
	seeds.trace_lines = trace;
	return judge(&seeds);
}
