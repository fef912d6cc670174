#include "tests/support/machines.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

struct topology *machine_read(const char *name)
{
	static struct topology topology;
	struct tp_error error = {.text = ""};
	char path[512];

	memset(&topology, 0, sizeof(topology));
	snprintf(path, sizeof(path), "%s/%s.xml", MACHINES_FOLDER, name);
	if (topology_read_xml(path, &topology, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		CU_FAIL("a machine of tests/topologies can be read");
	}
	return &topology;
}
