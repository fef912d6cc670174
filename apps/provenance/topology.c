#include "apps/provenance/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

/* Drivers of accelerators, which may take seconds to wake and have no network. */
static const char *const unwanted[] = {"cuda", "gl", "levelzero", "nvml", "opencl", "rsmi"};

/* Whether values[index] occurs nowhere before it. */
static bool is_new(const int *values, unsigned index)
{
	for (unsigned i = 0; i < index; i++)
		if (values[i] == values[index])
			return false;
	return true;
}

bool topology_is_first_of_core(const struct topology *topology, unsigned index)
{
	return is_new(topology->core, index);
}

/* The number of the object's first CPU, or `fallback` without one. */
static int first_of(hwloc_obj_t object, int fallback)
{
	int first = object ? hwloc_bitmap_first(object->cpuset) : -1;

	return first < 0 ? fallback : first;
}

/* The lowest of the topology's CPUs that the object has. */
static int first_allowed_of(const struct topology *topology, hwloc_obj_t object)
{
	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (hwloc_bitmap_isset(object->cpuset, topology->cpus.cpu[i]))
			return topology->cpus.cpu[i];
	return -1;
}

static void add_caches(struct topology *topology, unsigned index, hwloc_topology_t machine,
		       hwloc_obj_t pu)
{
	static const hwloc_obj_type_t types[] = {
		[TOPOLOGY_L1D] = HWLOC_OBJ_L1CACHE,
		[TOPOLOGY_L2] = HWLOC_OBJ_L2CACHE,
		[TOPOLOGY_L3] = HWLOC_OBJ_L3CACHE,
	};

	for (unsigned level = 0; level < TOPOLOGY_LEVEL_COUNT; level++) {
		struct topology_cache *cache = &topology->caches[level];
		hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(machine, types[level], pu);

		cache->kib[index] = object ? (uint32_t)(object->attr->cache.size / 1024) : 0;
		cache->first[index] = object ? first_allowed_of(topology, object) : -1;
	}
}

/* Where one CPU belongs. The machine's kinds are in order of speed, the fastest last. */
static void add_cpu(struct topology *topology, unsigned index, hwloc_topology_t machine)
{
	unsigned cpu = topology->cpus.cpu[index];
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(machine, cpu);
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_PACKAGE, pu);
	int node = hwloc_bitmap_first(pu->nodeset);
	int kind = hwloc_cpukinds_get_by_cpuset(machine, pu->cpuset, 0);

	topology->core[index] =
		first_of(hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, pu), (int)cpu);
	topology->package[index] =
		package && package->os_index != HWLOC_UNKNOWN_INDEX ? (int)package->os_index : 0;
	topology->node[index] = node < 0 ? 0 : node;
	if (kind >= 0 && kind < (int)topology->kind_count)
		topology->kind[index] = (uint8_t)(topology->kind_count - 1 - (unsigned)kind);
	add_caches(topology, index, machine, pu);
}

static void copy_name(char to[TOPOLOGY_NAME_BYTES], const char *from)
{
	snprintf(to, TOPOLOGY_NAME_BYTES, "%s", from);
}

static void add_kinds(struct topology *topology, hwloc_topology_t machine)
{
	int count = hwloc_cpukinds_get_nr(machine, 0);

	if (count < 2 || count > TOPOLOGY_KINDS_MAX)
		return;
	topology->kind_count = (unsigned)count;
	for (unsigned i = 0; i < topology->kind_count; i++) {
		struct topology_kind *kind = &topology->kinds[topology->kind_count - 1 - i];
		struct hwloc_info_s *infos = NULL;
		unsigned info_count = 0;

		kind->efficiency = -1;
		hwloc_cpukinds_get_info(machine, i, NULL, &kind->efficiency, &info_count, &infos,
					0);
		for (unsigned k = 0; k < info_count; k++)
			if (strcmp(infos[k].name, "CoreType") == 0)
				copy_name(kind->name, infos[k].value);
	}
}

static void add_memories(struct topology *topology, hwloc_topology_t machine)
{
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, object)))
		if (topology->memory_count < TOPOLOGY_MEMORIES_MAX)
			topology->memories[topology->memory_count++] = (struct topology_memory){
				(int)object->os_index, object->attr->numanode.local_memory};
}

/* The node of a device; -1 where the whole machine is equally near. */
static int node_of_device(hwloc_topology_t machine, hwloc_obj_t device)
{
	hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(machine, device);

	if (!near || !near->nodeset || hwloc_bitmap_weight(near->nodeset) != 1)
		return -1;
	return hwloc_bitmap_first(near->nodeset);
}

static void add_nic(struct topology *topology, hwloc_topology_t machine, hwloc_obj_t device)
{
	struct topology_nic *nic = &topology->nics[topology->nic_count++];
	hwloc_obj_t parent = device->parent;

	*nic = (struct topology_nic){.node = node_of_device(machine, device)};
	copy_name(nic->name, device->name ? device->name : "");
	if (parent && parent->type == HWLOC_OBJ_PCI_DEVICE)
		snprintf(nic->bus, sizeof(nic->bus), "%04x:%02x:%02x.%x",
			 parent->attr->pcidev.domain, parent->attr->pcidev.bus,
			 parent->attr->pcidev.dev, parent->attr->pcidev.func);
}

static void add_nics(struct topology *topology, hwloc_topology_t machine)
{
	hwloc_obj_t device = NULL;

	while ((device = hwloc_get_next_osdev(machine, device)))
		if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK &&
		    topology->nic_count < TOPOLOGY_NICS_MAX)
			add_nic(topology, machine, device);
}

static void count_all(struct topology *topology)
{
	for (unsigned i = 0; i < topology->cpus.count; i++) {
		topology->cores += is_new(topology->core, i);
		topology->packages += is_new(topology->package, i);
		topology->nodes += is_new(topology->node, i);
	}
}

/* Fills in everything about the CPUs that are set already. */
static void describe(struct topology *topology, hwloc_topology_t machine)
{
	add_kinds(topology, machine);
	for (unsigned i = 0; i < topology->cpus.count; i++)
		add_cpu(topology, i, machine);
	add_memories(topology, machine);
	add_nics(topology, machine);
	count_all(topology);
}

/* An empty machine that will look at devices as well. 0 or negative errno. */
static int begin(hwloc_topology_t *machine_out)
{
	hwloc_topology_t machine;

	if (hwloc_topology_init(&machine) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		hwloc_topology_set_components(machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
					      unwanted[i]);
	hwloc_topology_set_io_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	*machine_out = machine;
	return 0;
}

/* Those of the wanted CPUs that the machine has; all that it has for NULL. */
static void take_cpus(struct topology *topology, hwloc_topology_t machine,
		      const struct cpus *wanted)
{
	hwloc_const_cpuset_t has = hwloc_topology_get_topology_cpuset(machine);

	for (unsigned cpu = 0; cpu <= CPUS_NUMBER_MAX; cpu++)
		if (hwloc_bitmap_isset(has, cpu) && (!wanted || cpus_have(wanted, cpu)) &&
		    topology->cpus.count < CPUS_MAX)
			topology->cpus.cpu[topology->cpus.count++] = (uint16_t)cpu;
}

static void mark_isolated(struct topology *topology)
{
	struct cpus isolated;

	cpus_isolated(&isolated);
	for (unsigned i = 0; i < topology->cpus.count; i++)
		topology->isolated[i] = cpus_have(&isolated, topology->cpus.cpu[i]);
}

int topology_read(struct topology *topology_out)
{
	struct cpus allowed;
	hwloc_topology_t machine = NULL;
	int code = cpus_allowed(&allowed);

	if (code == 0)
		code = begin(&machine);
	if (code < 0)
		return code;
	if (hwloc_topology_load(machine) < 0)
		code = errno ? -errno : -EIO;
	else if (!hwloc_topology_is_thissystem(machine))
		code = -EXDEV;
	if (code == 0) {
		memset(topology_out, 0, sizeof(*topology_out));
		take_cpus(topology_out, machine, &allowed);
		describe(topology_out, machine);
		mark_isolated(topology_out);
	}
	hwloc_topology_destroy(machine);
	return code;
}

/* Loads the file's machine. 0 or negative errno. */
static int load_xml(hwloc_topology_t machine, const char *path)
{
	errno = 0;
	if (hwloc_topology_set_xml(machine, path) == 0 && hwloc_topology_load(machine) == 0)
		return 0;
	return errno ? -errno : -EINVAL;
}

int topology_read_xml(const char *path, struct topology *topology_out, struct tp_error *error)
{
	hwloc_topology_t machine;
	int code = begin(&machine);

	if (code < 0)
		return tp_fail(error, code, "no memory to read the topology %s", path);
	code = load_xml(machine, path);
	if (code == 0) {
		memset(topology_out, 0, sizeof(*topology_out));
		take_cpus(topology_out, machine, NULL);
		describe(topology_out, machine);
	}
	hwloc_topology_destroy(machine);
	if (code < 0)
		return tp_fail(error, code,
			       "%s cannot be read as a topology (%s); make one with `lstopo "
			       "FILE.xml` on the machine that it describes",
			       path, strerror(-code));
	return 0;
}
