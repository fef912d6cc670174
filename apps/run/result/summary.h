/*
 * summary: what the samples of a run say together, cell by cell, for the eye and for summary.json.
 *
 * Medians of the valid samples with their least and greatest. No verdicts and no intervals: that is
 * the report's work.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_SUMMARY_H
#define WEIR_RUN_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#define SUMMARY_SCHEMA "weir.summary/1"

/*
 * summary.json from plan.json and the results (an array of result.json, in the plan's order), so
 * that a reader of the directory can make it anew. `attempts_failed` counts samples that were
 * measured again, and `mismatch` says how servers answered differently, or is null (attempts.h). A
 * new reference.
 */
json_t *summary_make(const json_t *plan, const json_t *results, unsigned attempts_failed,
		     json_t *mismatch);

/* One line a cell. */
void summary_print(const json_t *summary, FILE *to);

/* How many results are valid. */
unsigned summary_valid(const json_t *results);

/* 1234567.8 as "1,234,568"; returns `text`. */
const char *summary_group(double value, char text[32]);

#endif
