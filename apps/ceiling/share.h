/*
 * share: what part of the bare echo the pipeline reaches, cell by cell, from a campaign's results.
 *
 * A pair is the pipeline's sample and the bare echo's of the same cell and run, which were measured
 * one after the other. Each pair gives two shares: of requests/s, and of CPU (the bare echo's busy
 * time a request over the pipeline's). Where the client was at its limit, the rate says nothing of
 * the server and the share of CPU is the one that counts. A pair in which a thread of the kernel
 * works beside the server's workers has no share of CPU.
 *
 * Plane: report.
 */
#ifndef WEIR_CEILING_SHARE_H
#define WEIR_CEILING_SHARE_H

#include <jansson.h>
#include <stdbool.h>

/* Fewer pairs span too little for a verdict: five cover the true median with 94 %. */
enum { SHARE_PAIRS_MIN = 5 };

/* Of the pairs of one cell; all 0 if there is none. */
struct share_range {
	unsigned count;
	double median;
	double least;
	double most;
};

struct share_cell {
	const char *stack; /* lent from the results */
	unsigned connections;
	unsigned depth;
	struct share_range bare_rps;
	struct share_range pipeline_rps;
	struct share_range rps; /* 1 is the whole of the bare echo */
	struct share_range bare_busy_ns;
	struct share_range pipeline_busy_ns;
	struct share_range cpu;
	bool saturated;		 /* the client was at its limit in a sample of a pair */
	bool saturation_unknown; /* or that is not known of one */
};

enum share_verdict {
	SHARE_REACHED,
	SHARE_MISSED,
	/*
	 * The least is within the range, or there are too few pairs, or it would be reached by a
	 * client that may have been at its limit, which makes both rates alike.
	 */
	SHARE_UNDECIDED,
};

/*
 * The cells of `results` (an array of result.json), in the order in which they were first measured,
 * at most `room`; their number.
 */
unsigned share_cells(const json_t *results, struct share_cell *cells, unsigned room);

/*
 * ceiling.json: every cell with its ranges, null with a reason where there is none, and its verdict
 * where `least` is not 0; a new reference.
 */
json_t *share_to_json(const struct share_cell *cells, unsigned count, double least);

/* "reached", "missed" or "undecided". */
const char *share_verdict_name(enum share_verdict verdict);

/* The share that counts for a verdict. */
const struct share_range *share_counted(const struct share_cell *cell);

/* Whether the cell reaches `least` (0.9 for 90 %). */
enum share_verdict share_judge(const struct share_cell *cell, double least);

/* Missed if one cell misses it, else undecided if one is or if there is none. */
enum share_verdict share_judge_all(const struct share_cell *cells, unsigned count, double least);

#endif
