#include "apps/provenance/topology_facts.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

/* Whether a CPU is in a set that a number names. */
typedef bool (*is_in)(const struct topology *topology, unsigned index, int number);

/* The ranges of CPUs for which `in` holds. */
static json_t *ranges_of(const struct topology *topology, is_in in, int number)
{
	char text[FACT_RANGES_BYTES] = "";

	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (in(topology, i, number))
			fact_add_to_ranges(text, sizeof(text), topology->cpus.cpu[i]);
	return json_string(text);
}

static bool is_any(const struct topology *topology, unsigned index, int number)
{
	return true;
}

static bool is_of_core(const struct topology *topology, unsigned index, int core)
{
	return topology->core[index] == core;
}

static bool is_of_kind(const struct topology *topology, unsigned index, int kind)
{
	return topology->kind[index] == kind;
}

static bool is_isolated(const struct topology *topology, unsigned index, int number)
{
	return topology->isolated[index];
}

static bool uses_l1d(const struct topology *topology, unsigned index, int first)
{
	return topology->caches[TOPOLOGY_L1D].first[index] == first;
}

static bool uses_l2(const struct topology *topology, unsigned index, int first)
{
	return topology->caches[TOPOLOGY_L2].first[index] == first;
}

static bool uses_l3(const struct topology *topology, unsigned index, int first)
{
	return topology->caches[TOPOLOGY_L3].first[index] == first;
}

static json_t *cores_to_json(const struct topology *topology)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (topology_is_first_of_core(topology, i))
			json_array_append_new(
				list, json_pack("{so si si}", "cpus",
						ranges_of(topology, is_of_core, topology->core[i]),
						"package", topology->package[i], "node",
						topology->node[i]));
	return list;
}

/* The entry of a level's caches of this size; NULL if there is none yet. */
static json_t *find_cache(const json_t *level, uint32_t kib)
{
	json_t *cache;
	size_t i;

	json_array_foreach(level, i, cache)
	{
		if (json_integer_value(json_object_get(cache, "kib")) == kib)
			return cache;
	}
	return NULL;
}

/* Adds the caches of one level, those of one size together. */
static void add_level(json_t *list, const struct topology *topology, enum topology_level level)
{
	static const struct {
		const char *name;
		is_in uses;
	} rows[] = {{"L1d", uses_l1d}, {"L2", uses_l2}, {"L3", uses_l3}};
	const struct topology_cache *of = &topology->caches[level];
	json_t *own = json_array(), *cache;

	for (unsigned i = 0; i < topology->cpus.count; i++) {
		if (of->kib[i] == 0 || of->first[i] != topology->cpus.cpu[i])
			continue;
		cache = find_cache(own, of->kib[i]);
		if (!cache) {
			cache = json_pack("{ss si s[]}", "level", rows[level].name, "kib",
					  (int)of->kib[i], "cpus");
			json_array_append_new(own, cache);
		}
		json_array_append_new(json_object_get(cache, "cpus"),
				      ranges_of(topology, rows[level].uses, of->first[i]));
	}
	json_array_extend(list, own);
	json_decref(own);
}

static json_t *caches_to_json(const struct topology *topology)
{
	json_t *list = json_array();

	for (unsigned level = 0; level < TOPOLOGY_LEVEL_COUNT; level++)
		add_level(list, topology, level);
	return list;
}

static json_t *memories_to_json(const struct topology *topology)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < topology->memory_count; i++)
		json_array_append_new(list,
				      json_pack("{si so}", "node", topology->memories[i].node,
						"bytes", json_count(topology->memories[i].bytes)));
	return list;
}

/* None where the machine does not tell cores apart. */
static json_t *kinds_to_json(const struct topology *topology)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < topology->kind_count; i++) {
		const struct topology_kind *kind = &topology->kinds[i];
		json_t *object = json_pack("{so}", "cpus", ranges_of(topology, is_of_kind, (int)i));

		if (kind->name[0])
			fact_set(object, "name", json_text(kind->name));
		else
			fact_unknown(object, "name", "the processor names no kinds");
		if (kind->efficiency >= 0)
			fact_set(object, "rank", json_integer(kind->efficiency));
		else
			fact_unknown(object, "rank", "hwloc cannot rank these kinds");
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *nics_to_json(const struct topology *topology)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < topology->nic_count; i++) {
		const struct topology_nic *nic = &topology->nics[i];
		json_t *object = json_pack("{so}", "name", json_text(nic->name));

		if (nic->bus[0])
			fact_set(object, "bus", json_text(nic->bus));
		else
			fact_unknown(object, "bus", "it is not on a PCI bus of its own");
		if (nic->node >= 0)
			fact_set(object, "node", json_integer(nic->node));
		else
			fact_unknown(object, "node", "no node is nearer than others");
		json_array_append_new(list, object);
	}
	return list;
}

json_t *topology_to_json(const struct topology *topology)
{
	return json_pack("{so so so so so so so}", "cpus", ranges_of(topology, is_any, 0), "cores",
			 cores_to_json(topology), "caches", caches_to_json(topology), "memories",
			 memories_to_json(topology), "kinds", kinds_to_json(topology), "nics",
			 nics_to_json(topology), "isolated", ranges_of(topology, is_isolated, 0));
}
