/*
 * attempts: samples that were measured again, and what they were before.
 *
 * A run that is gone on with measures anew what has no valid result. Nothing is deleted: the
 * sample's old folder moves to attempts/<its name>.N, the first N from 1 that is free, and what
 * the directory has that is made anew goes to attempts/resume.N. What failed stays counted.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_ATTEMPTS_H
#define WEIR_RUN_ATTEMPTS_H

#include "apps/run/store/directory.h"

#include <jansson.h>

/* Moves a sample's folder ("samples/s0001-x") away, if there is one. 0, or the failure. */
int attempts_keep_sample(struct directory *directory, const char *folder);

/*
 * Moves away what a run makes anew when it ends, and what an earlier end left, but for the `files`
 * that servers are given ([{path}, ...]); keeps a copy of plan.json, which is written to. 0, or the
 * failure.
 */
int attempts_keep_files(struct directory *directory, const json_t *files);

/* Attempts in the result directory `path` that have a result, an invalid one. */
unsigned attempts_failed(const char *path);

/*
 * How servers of the result directory `path` were found to answer differently, in parity.json or in
 * that of an earlier part: what was measured then stays in the result. The text, or null; a new
 * reference.
 */
json_t *attempts_mismatch(const char *path);

#endif
