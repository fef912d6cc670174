/*
 * experiment_judge: whether a well-formed experiment.json means something, and what.
 *
 * Part of experiment: reads the parsed JSON into the struct's fields and adds a problem for
 * everything it cannot accept.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_EXPERIMENT_JUDGE_H
#define WEIR_RUN_EXPERIMENT_JUDGE_H

#include "apps/run/experiment/experiment.h"

/*
 * Fills the fields of `experiment` from its json. `changes` are those made to it, for messages.
 */
void experiment_judge(struct experiment *experiment, const struct experiment_changes *changes,
		      struct problems *problems);

/* Whether `key` stands at the top of the file and has one plain value. */
bool experiment_is_plain_key(const char *key);

/* All that do; `count_out` gets their number. */
const char *const *experiment_plain_keys(unsigned *count_out);

/* Whether `key` stands at the top of the file, with one plain value or not. */
bool experiment_is_top_key(const char *key);

/* What names of experiments and claims are, in words. */
extern const char experiment_slug[];

/* Whether a name is one. NULL is none. */
bool experiment_is_slug(const char *name);

#endif
