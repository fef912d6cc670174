/*
 * differ: in what a plan, a host or the programs of today differ from those of an earlier result.
 *
 * Each function adds to `differences`, an array of {what, was, now}; `what` names the fact, and
 * where it is a sample's the first such sample and how many more differ.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_DIFFER_H
#define WEIR_RUN_DIFFER_H

#include "apps/common/problems.h"

#include <jansson.h>

/*
 * Two plan.json: settings, and sample by sample what, where, when and how it is measured. What
 * today's does not know yet, since hosts were not asked for their CPUs, is not compared.
 */
void differ_plans(const json_t *was, const json_t *now, json_t *differences);

/* Two host.json: is it the same machine with the same kernel? */
void differ_hosts(const json_t *was, const json_t *now, json_t *differences);

/* Two lists of programs, as plan.json has them; one of now that is not built yet is not judged. */
void differ_programs(const json_t *was, const json_t *now, json_t *differences);

/* "WHAT: was X, now Y", a problem each. */
void differ_say(const json_t *differences, struct problems *problems);

#endif
