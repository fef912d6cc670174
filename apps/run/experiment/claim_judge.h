/*
 * claim_judge: the part of an experiment that says what its author expects to find.
 *
 * The analysis evaluates the claims; here it is only made sure, before anything runs, that each is
 * one that can be evaluated: its cells are levels of what varies, its bounds are numbers.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_CLAIM_JUDGE_H
#define WEIR_RUN_CLAIM_JUDGE_H

#include "apps/run/experiment/complaint.h"

/*
 * Judges "claims" once the axes are read, and counts them. A claim on levels that the command line
 * took away is taken out of the JSON.
 */
void claim_judge_all(const struct judge *judge);

#endif
