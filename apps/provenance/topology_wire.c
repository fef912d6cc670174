#include "apps/provenance/topology_wire.h"

#include <errno.h>
#include <string.h>

enum { NUMBERS = 6 };

json_t *topology_wire_make(const struct topology *topology)
{
	json_t *wire = json_array();

	for (unsigned i = 0; i < topology->cpus.count; i++)
		json_array_append_new(wire, json_pack("[iiiiii]", (int)topology->cpus.cpu[i],
						      topology->core[i], topology->package[i],
						      topology->node[i], (int)topology->kind[i],
						      topology->isolated[i] ? 1 : 0));
	return wire;
}

/* The numbers of one CPU. False if they are not that. */
static bool read_numbers(const json_t *list, int numbers[NUMBERS])
{
	for (unsigned i = 0; i < NUMBERS; i++) {
		const json_t *number = json_array_get(list, i);
		json_int_t value = json_integer_value(number);

		if (!json_is_integer(number) || value < 0 || value > CPUS_NUMBER_MAX)
			return false;
		numbers[i] = (int)value;
	}
	return json_array_size(list) == NUMBERS && numbers[4] < TOPOLOGY_KINDS_MAX;
}

int topology_wire_read(const json_t *wire, struct topology *topology_out)
{
	size_t count = json_array_size(wire);
	int numbers[NUMBERS];

	for (size_t i = 0; i < count; i++)
		if (!read_numbers(json_array_get(wire, i), numbers))
			return -EINVAL;
	if (count == 0 || count > CPUS_MAX)
		return -EINVAL;
	memset(topology_out, 0, sizeof(*topology_out));
	topology_out->cpus.count = (unsigned)count;
	for (size_t i = 0; i < count; i++) {
		read_numbers(json_array_get(wire, i), numbers);
		topology_out->cpus.cpu[i] = (uint16_t)numbers[0];
		topology_out->core[i] = numbers[1];
		topology_out->package[i] = numbers[2];
		topology_out->node[i] = numbers[3];
		topology_out->kind[i] = (uint8_t)numbers[4];
		topology_out->isolated[i] = numbers[5] != 0;
	}
	return 0;
}
