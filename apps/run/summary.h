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

#include "apps/run/plan.h"

#include <stdio.h>

/*
 * summary.json from the results (an array of result.json, in order of execution); a new reference.
 */
json_t *summary_make(const struct plan *plan, const json_t *results);

/* One line a cell. */
void summary_print(const json_t *summary, FILE *to);

/* How many results are valid. */
unsigned summary_valid(const json_t *results);

/* 1234567.8 as "1,234,568"; returns `text`. */
const char *summary_group(double value, char text[32]);

#endif
