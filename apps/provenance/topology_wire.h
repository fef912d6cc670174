/*
 * topology_wire: of a topology what pins are chosen by, as JSON, to tell of it from one host to
 * another: [[CPU, core, package, NUMA node, kind, 1 if isolated], ...].
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_TOPOLOGY_WIRE_H
#define WEIR_APPS_TOPOLOGY_WIRE_H

#include "apps/provenance/topology.h"

#include <jansson.h>

/* A new reference. */
json_t *topology_wire_make(const struct topology *topology);

/* 0, or -EINVAL if it is not that. Caches, memories and network cards stay empty. */
int topology_wire_read(const json_t *wire, struct topology *topology_out);

#endif
