/*
 * wire: where tests look for it; see apps/sim/wire.h.
 */
#ifndef WEIR_TESTS_SIM_WIRE_H
#define WEIR_TESTS_SIM_WIRE_H

#include "apps/sim/wire.h"

#endif
