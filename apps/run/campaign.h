/*
 * campaign: a plan carried out, sample after sample, into a result directory.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_CAMPAIGN_H
#define WEIR_RUN_CAMPAIGN_H

#include "apps/run/store/directory.h"
#include "apps/run/sample/interrupt.h"
#include "apps/run/store/origin.h"
#include "apps/run/plan/plan.h"

struct campaign {
	const char *program; /* "weir run", for messages */
	const struct plan *plan;
	const struct program *programs; /* of the experiment's builds */
	const json_t *plan_json;	/* plan.json, as stamp.h makes it */
	const struct origin *origin;	/* what is gone on with or repeated; NULL: neither */
	const char *output;		/* parent of the result directory */
	const char *ground;		/* the run's own folder on this host */
	struct interrupt *interrupt;
	struct hosts *hosts; /* open; NULL: all run here */
	/*
	 * Writes into the directory what a verb makes of all results, before the manifest is made;
	 * failure is the directory's. NULL: nothing.
	 */
	void (*add_files)(struct campaign *campaign, void *user);
	void *user;
	/* written by campaign_run */
	struct directory directory;
	bool differ; /* servers answered differently, in this part of the run or an earlier one */
	unsigned valid;
	unsigned done;	 /* samples that have a result */
	json_t *results; /* an array of result.json, in the plan's order; owned by the caller */
};

/*
 * Carries the plan out, telling of each sample on stdout, and prints the table. 0 with the
 * directory whole, however many samples are invalid; or -EINTR, or another negative errno with
 * directory.error filled; then what there is stays partial.
 */
int campaign_run(struct campaign *campaign);

#endif
