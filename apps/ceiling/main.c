#include "apps/ceiling/compose.h"
#include "apps/ceiling/share.h"
#include "apps/ceiling/table.h"
#include "apps/common/exit.h"
#include "apps/common/pipeline_flags.h"
#include "apps/common/stack.h"
#include "apps/run/conduct.h"
#include "apps/run/experiment/link.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "weir ceiling";

/* Longest warm-up and window, an hour, as of an experiment. */
#define WINDOW_MAX_NS (3600 * CLOCK_SECOND_NS)

struct ceiling_options {
	struct compose compose;
	struct conduct conduct;
	double least;	      /* 0: no gate */
	uint64_t warmup_ns;   /* checked here, handed on as written */
	uint64_t duration_ns; /* likewise */
};

/* Measured if none is named, as far as this build and host have them. */
static const char *const stacks_default[] = {"epoll@loopback", "uring@loopback"};

/* --- flags --- */

static int parse_stack(const struct flag *flag, const char *text)
{
	struct compose *compose = flag->value;

	if (compose->stack_count == COMPOSE_STACKS_MAX)
		return -EINVAL;
	compose->stacks[compose->stack_count++] = text;
	return 0;
}

static const struct flag_kind flag_stacks = {
	.metavar = "STACK@DEVICE[,OPTION=VALUE]...",
	.accepts = "a stack of an experiment, like epoll@loopback; at most 16 times",
	.repeats = true,
	.parse = parse_stack,
};

static int parse_numbers(const struct flag *flag, const char *text)
{
	return compose_parse_numbers(text, (uint32_t)flag->max, flag->value);
}

static const struct flag_kind flag_numbers = {
	.metavar = "N[,N]...",
	.accepts = "whole numbers joined by commas, none twice, at most 16",
	.parse = parse_numbers,
};

/* "90%", from above 0 to 200. */
static int parse_share(const struct flag *flag, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (text[0] < '0' || text[0] > '9' || strcmp(end, "%") != 0 || percent <= 0 ||
	    percent > 200)
		return -EINVAL;
	*(double *)flag->value = percent / 100;
	return 0;
}

static const struct flag_kind flag_share = {
	.metavar = "N%", .accepts = "a share in percent, like 90%", .parse = parse_share};

/* --- the verb --- */

/* The stacks of the default that can be measured here; the others are named. */
static void choose_stacks(struct compose *compose)
{
	unsigned count = sizeof(stacks_default) / sizeof(stacks_default[0]);
	struct tp_error error;

	for (unsigned i = 0; i < count; i++) {
		if (compose_check_stack(stacks_default[i], &error) == 0)
			compose->stacks[compose->stack_count++] = stacks_default[i];
		else
			printf("%s is left out: %s\n", stacks_default[i], error.text);
	}
}

/* Completes what the flags say. 0, or -EINVAL with `error` filled. */
static int resolve(struct ceiling_options *options, const struct flags *flags,
		   struct tp_error *error)
{
	struct compose *compose = &options->compose;

	if (options->least > 0 && compose->runs < SHARE_PAIRS_MIN)
		return tp_fail(error, -EINVAL,
			       "%u runs span too little for a verdict; --least wants --runs %d or "
			       "more",
			       compose->runs, SHARE_PAIRS_MIN);
	for (unsigned i = 0; i < compose->stack_count; i++)
		if (compose_check_stack(compose->stacks[i], error) < 0)
			return -EINVAL;
	if (compose->client_stack && compose_check_link(compose->client_stack, error) < 0)
		return -EINVAL;
	if (compose->stack_count == 0)
		choose_stacks(compose);
	if (compose->stack_count == 0)
		return tp_fail(error, -EINVAL, "no stack here has a bare echo");
	compose->warmup = flags_find(flags, "warmup")->text;
	compose->duration = flags_find(flags, "duration")->text;
	return 0;
}

static int exit_of(const struct share_cell *cells, unsigned count, double least)
{
	static const int status[] = {[SHARE_REACHED] = EXIT_PASS,
				     [SHARE_MISSED] = EXIT_GATE,
				     [SHARE_UNDECIDED] = EXIT_INCONCLUSIVE};

	return status[share_judge_all(cells, count, least)];
}

/* The campaign's cells, to be freed; NULL without memory. */
static struct share_cell *make_cells(const struct campaign *campaign, unsigned *count_out)
{
	unsigned room = campaign->plan->cell_count;
	struct share_cell *cells = calloc(room, sizeof(*cells));

	*count_out = cells ? share_cells(campaign->results, cells, room) : 0;
	if (!cells)
		fprintf(stderr, "%s: no memory for the table\n", program);
	return cells;
}

static void print(const struct share_cell *cells, unsigned count, double least, FILE *to)
{
	table_print(cells, count, to);
	if (least > 0)
		table_print_verdicts(cells, count, least, to);
}

/* Keeps the table with the result, for eyes and for programs. */
static void keep(struct campaign *campaign, void *user)
{
	const struct ceiling_options *options = user;
	char *text = NULL;
	size_t bytes = 0;
	unsigned count;
	struct share_cell *cells = make_cells(campaign, &count);
	FILE *file = open_memstream(&text, &bytes);
	json_t *json = share_to_json(cells, count, options->least);

	directory_write_json(&campaign->directory, "ceiling.json", json);
	if (file) {
		print(cells, count, options->least, file);
		fclose(file);
		directory_write(&campaign->directory, "ceiling.txt", text, bytes);
	}
	json_decref(json);
	free(text);
	free(cells);
}

static int judge(const struct campaign *campaign, void *user)
{
	const struct ceiling_options *options = user;
	unsigned count;
	struct share_cell *cells = make_cells(campaign, &count);
	int status = options->least > 0 ? exit_of(cells, count, options->least) : EXIT_PASS;

	print(cells, count, options->least, stdout);
	free(cells);
	return status;
}

static int measure(struct ceiling_options *options)
{
	struct problems problems = {0};
	struct experiment *experiment;
	char *text = compose_text(&options->compose);
	int status;

	options->conduct.program = program;
	options->conduct.judge = judge;
	options->conduct.add_files = keep;
	options->conduct.user = options;
	if (!text || experiment_compose(program, text, &experiment, &problems) < 0) {
		free(text);
		return conduct_refuse(program, &problems);
	}
	free(text);
	status = conduct(&options->conduct, experiment);
	experiment_free(experiment);
	return status;
}

/* What the command line says; the table below writes it. */
static struct ceiling_options options;

static struct flag table[] = {
	{.name = "stack",
	 .kind = &flag_stacks,
	 .value = &options.compose,
	 .about = "may be given again (default: epoll and uring over loopback)"},
	{.name = "connections",
	 .kind = &flag_numbers,
	 .value = &options.compose.connections,
	 .initial = "64,256",
	 .max = LIMIT_CONN_MAX,
	 .about = "connections, a cell each"},
	{.name = "depth",
	 .kind = &flag_numbers,
	 .value = &options.compose.depths,
	 .initial = "1,8,32",
	 .max = LIMIT_DEPTH_MAX,
	 .about = "requests outstanding on a connection, a cell each"},
	{.name = "request-bytes",
	 .kind = &flag_bytes,
	 .value = &options.compose.request_bytes,
	 .initial = "256",
	 .max = BARE_BODY_MAX,
	 .about = "body bytes of each request"},
	{.name = "response-bytes",
	 .kind = &flag_bytes,
	 .value = &options.compose.response_bytes,
	 .initial = "64",
	 .max = BARE_BODY_MAX,
	 .about = "body bytes of each response"},
	{.name = "wait",
	 .kind = &flag_wait,
	 .value = &options.compose.wait,
	 .initial = "default",
	 .about = "how idle workers wait"},
	{.name = "client-stack",
	 .kind = &flag_text,
	 .value = &options.compose.client_stack,
	 .about = "the client's stack, the same for all (default: as the server's)"},
	{.name = "runs",
	 .kind = &flag_count,
	 .value = &options.compose.runs,
	 .initial = "5",
	 .min = 1,
	 .max = EXPERIMENT_RUNS_MAX,
	 .about = "pairs of each cell"},
	{.name = "warmup",
	 .kind = &flag_duration,
	 .value = &options.warmup_ns,
	 .initial = "0.3s",
	 .max = WINDOW_MAX_NS,
	 .about = "time on the same server before the window"},
	{.name = "duration",
	 .kind = &flag_duration,
	 .value = &options.duration_ns,
	 .initial = "1s",
	 .min = 100 * CLOCK_MS_NS,
	 .max = WINDOW_MAX_NS,
	 .about = "the measured window"},
	{.name = "least",
	 .kind = &flag_share,
	 .value = &options.least,
	 .about = "the gate: exit 1 if a cell's share is below, 2 if that is not sure"},
	CONDUCT_FLAGS(&options.conduct),
};

int verb_ceiling(int argc, char **argv)
{
	struct flags flags = {
		.program = program,
		.about = "Measures what share of its stack's bare echo the pipeline reaches: the "
			 "same stack, pins and\nclient, a fresh server each, the two measured one "
			 "after the other in alternating order\n(docs/ceiling.md). The last line "
			 "is `results: PATH`.\n"
			 "Exit status: 0; with --least 1 if a cell's share is below and 2 if that "
			 "is not sure; 3 if\nsamples are invalid, 4 if nothing or not all could be "
			 "run.",
		.table = table,
		.count = sizeof(table) / sizeof(table[0])};
	struct tp_error error;
	int status;

	conduct_default_lock(&flags);
	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	if (resolve(&options, &flags, &error) < 0)
		return exit_with(EXIT_USAGE, program, &error);
	clock_start();
	return measure(&options);
}
