#include "apps/common/membind.h"

#include "apps/common/json.h"

#include <errno.h>
#include <hwloc.h>
#include <string.h>

const char *const membind_names[] = {"bind", "none", NULL};

/* Nodes and CPUs alone: caches and devices cost time to find out. NULL if it cannot be read. */
static hwloc_topology_t read_nodes(void)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) < 0)
		return NULL;
	hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	if (hwloc_topology_load(topology) == 0)
		return topology;
	hwloc_topology_destroy(topology);
	return NULL;
}

/* The nodes of these CPUs; NULL without memory. */
static hwloc_nodeset_t nodes_of(hwloc_topology_t topology, const struct cpus *cpus)
{
	hwloc_cpuset_t set = hwloc_bitmap_alloc();
	hwloc_nodeset_t nodes = hwloc_bitmap_alloc();

	for (unsigned i = 0; set && i < cpus->count; i++)
		hwloc_bitmap_set(set, cpus->cpu[i]);
	if (set && nodes)
		hwloc_cpuset_to_nodeset(topology, set, nodes);
	hwloc_bitmap_free(set);
	return nodes;
}

static json_t *bitmap_to_json(hwloc_const_bitmap_t bitmap)
{
	json_t *array = json_array();

	for (int bit = hwloc_bitmap_first(bitmap); bit >= 0; bit = hwloc_bitmap_next(bitmap, bit))
		json_array_append_new(array, json_integer(bit));
	return array;
}

static void set_unbound(json_t *object, const char *reason)
{
	json_object_set_new(object, "bound", json_false());
	json_object_set_new(object, "bound_reason", json_text(reason));
}

static void bind_to(hwloc_topology_t topology, const struct cpus *cpus, json_t *object)
{
	hwloc_nodeset_t nodes = nodes_of(topology, cpus);

	if (!nodes || hwloc_bitmap_iszero(nodes)) {
		set_unbound(object, "the host does not say on which node these CPUs are");
	} else if (hwloc_set_membind(topology, nodes, HWLOC_MEMBIND_BIND,
				     HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_STRICT |
					     HWLOC_MEMBIND_BYNODESET) < 0) {
		set_unbound(object, strerror(errno));
	} else {
		json_object_set_new(object, "bound", json_true());
		json_object_set_new(object, "nodes", bitmap_to_json(nodes));
	}
	hwloc_bitmap_free(nodes);
}

json_t *membind_apply(enum membind asked, const struct cpus *cpus)
{
	json_t *object = json_object();
	hwloc_topology_t topology;

	json_object_set_new(object, "asked", json_text(membind_names[asked]));
	if (asked == MEMBIND_NONE) {
		set_unbound(object, "it was not asked for");
		return object;
	}
	topology = read_nodes();
	if (!topology) {
		set_unbound(object, "the host's nodes cannot be read");
		return object;
	}
	bind_to(topology, cpus, object);
	hwloc_topology_destroy(topology);
	return object;
}
