/*
 * judge: whether a result directory is what the run wrote, and adds up.
 *
 * Every file against the manifest, the manifest against its digest, the samples against the plan,
 * results.jsonl against each sample's result.json, and summary.json against what these results
 * come to. A result whose servers were found to answer differently does not add up either.
 *
 * Plane: report.
 */
#ifndef WEIR_VERIFY_JUDGE_H
#define WEIR_VERIFY_JUDGE_H

#include <jansson.h>

/* Adds "FILE: what is wrong" to `faults`, an array of texts, for all that is. Changes nothing. */
void judge_result(const char *path, json_t *faults);

#endif
