/*
 * machines: the machines of tests/topologies, for tests of what depends on how CPUs are laid out.
 *
 * tests/topologies/README.md describes each. Plane: tests.
 */
#ifndef WEIR_TESTS_MACHINES_H
#define WEIR_TESTS_MACHINES_H

#include "apps/provenance/topology.h"

/* "two-sockets-smt"; valid until the next call. A test that cannot read it has failed (CU_FAIL). */
struct topology *machine_read(const char *name);

#endif
