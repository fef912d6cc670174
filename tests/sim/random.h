/*
 * random: where tests look for it; see apps/sim/random.h.
 */
#ifndef WEIR_TESTS_SIM_RANDOM_H
#define WEIR_TESTS_SIM_RANDOM_H

#include "apps/sim/random.h"

#endif
