/*
 * record: what one worker saw between two marks of the main thread.
 *
 * A worker writes into one record while the main thread owns another; at a mark they swap, so
 * that nothing is copied in a turn and no request is missed or counted twice. Records add up
 * over workers and over intervals. A request belongs to the record that is current when its
 * response is complete.
 *
 * Planes: record_complete is turn, begin and end are at a mark, the rest is report.
 */
#ifndef WEIR_APPS_LOAD_RECORD_H
#define WEIR_APPS_LOAD_RECORD_H

#include "apps/common/stack.h"
#include "dataplane/core/histogram.h"
#include "dataplane/pipeline/busy.h"

#include <stdbool.h>
#include <stdint.h>

struct record {
	uint64_t begin_ns;
	uint64_t end_ns;
	struct histogram service;    /* from the actual send to the last byte of the response */
	struct histogram intended;   /* from when the request became due */
	struct busy busy;	     /* at the beginning; once ended, the difference */
	struct stack_copy transport; /* likewise */
};

/* Makes it empty; begin and end are unset. */
void record_reset(struct record *record);

/* Marks the beginning. */
void record_begin(struct record *record, uint64_t now_ns, const struct busy *busy,
		  const struct tp *tp);

/* Marks the end. */
void record_end(struct record *record, uint64_t now_ns, const struct busy *busy,
		const struct tp *tp);

/* Adds an ended record to a sum that record_reset made. */
void record_add(struct record *sum, const struct record *record);

/*
 * Whether a response was complete, by the clock, before its request was sent or due: then no time
 * in it can be believed.
 */
bool record_went_backwards(const struct record *record);

/* Time from the first beginning to the last end, s; 0 for an empty sum. */
double record_elapsed_s(const struct record *record);

/*
 * Share of the workers' time in turns that moved something: busy / (busy + empty + waited); 0
 * if there was none.
 */
double record_busy_share(const struct record *record);

static inline void record_complete(struct record *record, uint64_t now_ns, uint64_t due_ns,
				   uint64_t sent_ns)
{
	histogram_record(&record->service, now_ns - sent_ns);
	histogram_record(&record->intended, now_ns - due_ns);
}

#endif
