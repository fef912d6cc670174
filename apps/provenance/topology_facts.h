/*
 * topology_facts: a topology as JSON, for host.json and for people.
 *
 * Plane: report.
 */
#ifndef WEIR_APPS_TOPOLOGY_FACTS_H
#define WEIR_APPS_TOPOLOGY_FACTS_H

#include "apps/provenance/topology.h"

#include <jansson.h>

/*
 * {"cpus": "0-3", "cores": [{"cpus": "0,2", "package": 0, "node": 0}], "caches": [{"level": "L3",
 * "kib": 8192, "cpus": ["0-3"]}], "memories": [{"node": 0, "bytes": 1}], "kinds": [], "nics": [],
 * "isolated": ""}; docs/results.md says more. A new reference.
 */
json_t *topology_to_json(const struct topology *topology);

#endif
