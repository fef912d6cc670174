/*
 * environment: what the environment of a sample's processes is.
 *
 * Not the runner's: only what bears on how they run is handed on, so that plan.json can say all of
 * it, and a result gives away nothing else.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_ENVIRONMENT_H
#define WEIR_RUN_ENVIRONMENT_H

#include <jansson.h>

/* {NAME: text, ...}; a new reference. */
json_t *environment_choose(void);

/*
 * Takes over from `before`, the environment that a file tells of, what bears on speed and on
 * nothing else: such names as could make a process load, write or find something are what they are
 * now, whoever wrote the file, and so is every name that is not weir's. Adds to `differences` what
 * of the two is not the same then: {what, was, now} each.
 */
void environment_lend(json_t *environment, const json_t *before, json_t *differences);

/* Makes it, and nothing else, this process's. Between fork and exec. */
void environment_become(const json_t *environment);

#endif
