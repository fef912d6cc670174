#include "apps/ceiling/table.h"

#include "apps/common/stack.h"
#include "apps/run/result/summary.h"

#include <math.h>
#include <string.h>

enum { SHARE_TEXT = 48, SHARE_COLUMN = 22 };

/* "96.5% (95.1-97.9)", or "n/a". */
static const char *print_share(const struct share_range *share, char text[SHARE_TEXT])
{
	if (share->count == 0)
		snprintf(text, SHARE_TEXT, "n/a");
	else
		snprintf(text, SHARE_TEXT, "%.1f%% (%.1f-%.1f)", 100 * share->median,
			 100 * share->least, 100 * share->most);
	return text;
}

static void print_number(const struct share_range *range, int width, FILE *to)
{
	char text[32] = "n/a";

	if (range->count > 0)
		summary_group(range->median, text);
	fprintf(to, "  %*s", width, text);
}

static void print_cell(const struct share_cell *cell, int width, FILE *to)
{
	char rps[SHARE_TEXT], cpu[SHARE_TEXT];

	fprintf(to, "%-*s  %5u  %5u", width, cell->stack, cell->connections, cell->depth);
	print_number(&cell->bare_rps, 10, to);
	print_number(&cell->pipeline_rps, 10, to);
	fprintf(to, "  %*s", SHARE_COLUMN, print_share(&cell->rps, rps));
	print_number(&cell->bare_busy_ns, 8, to);
	print_number(&cell->pipeline_busy_ns, 8, to);
	fprintf(to, "  %*s%s\n", SHARE_COLUMN, print_share(&cell->cpu, cpu),
		cell->saturated		   ? " *"
		: cell->saturation_unknown ? " ?"
					   : "");
}

/*
 * That the range of n pairs holds the true median: all of them fall on one side with probability 2
 * / 2^n.
 */
static double coverage(unsigned pairs)
{
	return 1 - 2 * pow(0.5, pairs);
}

static void print_legend(const struct share_cell *cells, unsigned count, FILE *to)
{
	unsigned pairs = cells[0].rps.count;
	bool saturated = false, unknown = false, no_cpu = false;

	for (unsigned i = 0; i < count; i++) {
		pairs = cells[i].rps.count < pairs ? cells[i].rps.count : pairs;
		saturated |= cells[i].saturated;
		unknown |= cells[i].saturation_unknown && !cells[i].saturated;
		no_cpu |= cells[i].cpu.count == 0 && cells[i].rps.count > 0;
	}
	fprintf(to, "\nMedians; shares are of pairs measured one after the other, with their least "
		    "and greatest. Of CPU:\nthe bare echo's busy time a request over the "
		    "pipeline's.\n");
	if (pairs == 1)
		fprintf(to, "One pair has no range: how sure a share is needs more runs.\n");
	if (pairs > 1)
		fprintf(to, "%u pairs: such a range holds the true median with %.0f %%.\n", pairs,
			100 * coverage(pairs));
	if (saturated)
		fprintf(to, "* the client was at its limit: its rate says nothing of the server, "
			    "the share of CPU counts.\n");
	if (unknown)
		fprintf(to, "? whether the client was at its limit is not known: a high share may "
			    "be the client's.\n");
	if (no_cpu)
		fprintf(to, "n/a: %s.\n", stack_busy_unknown);
}

void table_print(const struct share_cell *cells, unsigned count, FILE *to)
{
	int width = 5;

	if (count == 0)
		return;
	for (unsigned i = 0; i < count; i++) {
		int length = (int)strlen(cells[i].stack);

		width = length > width ? length : width;
	}
	fprintf(to, "%-*s  conns  depth  %10s  %10s  %*s  %8s  %8s  %*s\n", width, "", "bare",
		"pipeline", SHARE_COLUMN, "pipeline's", "bare", "pipeline", SHARE_COLUMN,
		"pipeline's");
	fprintf(to, "%-*s                %10s  %10s  %*s  %8s  %8s  %*s\n", width, "stack", "req/s",
		"req/s", SHARE_COLUMN, "share of req/s", "ns/req", "ns/req", SHARE_COLUMN,
		"share of CPU");
	for (unsigned i = 0; i < count; i++)
		print_cell(&cells[i], width, to);
	print_legend(cells, count, to);
	fputc('\n', to);
}

void table_print_verdicts(const struct share_cell *cells, unsigned count, double least, FILE *to)
{
	static const char *const words[] = {[SHARE_REACHED] = "reached",
					    [SHARE_MISSED] = "MISSED",
					    [SHARE_UNDECIDED] = "undecided"};
	unsigned reached = 0;
	char share[SHARE_TEXT];

	for (unsigned i = 0; i < count; i++) {
		enum share_verdict verdict = share_judge(&cells[i], least);

		reached += verdict == SHARE_REACHED;
		if (verdict != SHARE_REACHED)
			fprintf(to, "gate: %s, %u connections, depth %u: %s: %s of %s\n",
				cells[i].stack, cells[i].connections, cells[i].depth,
				words[verdict], print_share(share_counted(&cells[i]), share),
				cells[i].saturated ? "CPU" : "req/s");
	}
	fprintf(to, "gate: at least %.4g%%: reached in %u of %u cells\n", 100 * least, reached,
		count);
}
