/*
 * bracket: what is done and looked at around the samples, once before the first and once after the
 * last: the host's facts and what became of them, whether the servers answer alike, and the weight
 * of the runner's session.
 *
 * Legal order: begin, close, with the samples in between; whoever began closes, whatever happened.
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_BRACKET_H
#define WEIR_RUN_BRACKET_H

#include "apps/run/store/directory.h"
#include "apps/run/sample/interrupt.h"
#include "apps/run/plan/plan.h"

struct bracket {
	const struct plan *plan;
	struct directory *directory;
	struct interrupt *interrupt;
	const char *ground; /* the run's folder, which a run after a kill finds */
	bool resumes;	    /* the directory has a host.json, which stays */
	/* written by begin and close */
	json_t *autogroup;
	json_t *parity; /* parity.json */
};

/*
 * Writes host.json (host-resumed.json beside one that is there), and parity.json if there are
 * servers to compare. 0; -EINTR; or the directory's failure, also where servers answer differently:
 * they do different work, and which is faster would mean nothing.
 */
int bracket_begin(struct bracket *bracket);

/*
 * Looks again, unless the run was broken off: completes parity.json, writes host-after.json and
 * drift.json, and says on stderr what changed that matters. Of a run that was gone on with, drift
 * is what changed since then, and what had changed until then stands apart under "earlier". 0,
 * -EINTR or the directory's failure.
 */
int bracket_end(struct bracket *bracket, const char *program);

/* Puts back what begin changed. */
void bracket_close(struct bracket *bracket);

#endif
