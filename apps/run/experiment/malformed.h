/*
 * malformed: what is wrong with an experiment's text that is no JSON, said as of one that is.
 *
 * The parser knows a place and its own words alone. Of a number that is none (08, 1e400, NaN) the
 * reader wants the range that is accepted there, of a key that is there twice both places.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_MALFORMED_H
#define WEIR_RUN_MALFORMED_H

#include "apps/run/experiment/experiment.h"
#include "apps/common/problems.h"

/* Adds the problem that the parser found in the experiment's text. */
void malformed_say(const struct experiment *experiment, const json_error_t *error,
		   struct problems *problems);

#endif
