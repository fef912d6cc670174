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
	char wrong[IMPAIR_WRONG_BYTES];

	if (impair_parse(text, &seeds->impair, wrong) < 0)
		return -EINVAL;
	seeds->impair_text = text;
	return 0;
}

static bool explain_impair(const char *text, struct flag_fault *fault)
{
	char wrong[IMPAIR_WRONG_BYTES];
	struct impair impair;

	if (fault->skip > 0 || impair_parse(text, &impair, wrong) == 0)
		return false;
	snprintf(fault->text, sizeof(fault->text), "%s", wrong);
	return true;
}

static const struct flag_kind flag_seed = {
	.metavar = "N", .accepts = "a number below 2^64", .parse = parse_seed};
static const struct flag_kind flag_impair = {.metavar = "FAULTS",
					     .accepts = IMPAIR_ACCEPTS,
					     .parse = parse_impair,
					     .explain = explain_impair};

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

static const char about[] =
	"Runs utcp, the user-space TCP, against itself on a simulated wire with a virtual clock: "
	"two\n"
	"instances whose applications stream both ways, all of it drawn from one seed. Safety\n"
	"(byte-exact streams, each connection closed once, counters that balance, full pools) is\n"
	"judged after every step, liveness by the virtual time that passes once the faults stop. "
	"A\n"
	"seed that fails is run again with a trace of its frames, and the line that repeats it is\n"
	"printed, also where an invariant broke or it crashed.\n"
	"\n"
	"FAULTS is a kind of fault: clean, loss, reorder, duplicate, corrupt, mark, delay, stall "
	"or\n"
	"all; or a list of what the wire does: loss, duplicate, corrupt, reorder and mark\n"
	"(congestion), per cent of frames; stall, per cent of moments at which the program stands\n"
	"still for up to 5 s; delay and jitter of all frames; and hold, for how long at most "
	"reorder\n"
	"holds one back, 5ms unless said: loss=1%,reorder=5%,hold=5ms,delay=1ms.\n"
	"\n"
	"Exit status: 0; 1 if a seed failed; 4 if it was asked wrongly.";

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
		 .about = "what the wire does to frames, see above"},
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
	struct flags flags = {.program = "weir sim",
			      .about = about,
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
