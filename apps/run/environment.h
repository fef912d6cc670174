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

/* Makes it, and nothing else, this process's. Between fork and exec. */
void environment_become(const json_t *environment);

#endif
