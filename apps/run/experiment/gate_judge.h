/*
 * gate_judge: the part of an experiment that says when variants pass.
 *
 * The runner measures, and the analysis applies the gate: here it is only made sure, before
 * anything runs, that there is one that can be applied.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_GATE_JUDGE_H
#define WEIR_RUN_GATE_JUDGE_H

#include "apps/run/experiment/complaint.h"

/*
 * Judges "gate" once the axes are read. Categories of scenarios that the command line's profiles
 * took away are taken out of the JSON.
 */
void gate_judge(const struct judge *judge);

#endif
