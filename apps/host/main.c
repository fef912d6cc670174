#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/provenance/host.h"
#include "apps/provenance/topology_facts.h"
#include "apps/weir/verbs.h"

#include <stdio.h>
#include <stdlib.h>

static void print(json_t *object)
{
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(object);
}

/* Another machine's topology. The exit status. */
static int print_topology(const char *path)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	struct tp_error error = {.text = "no memory"};
	int code = topology ? topology_read_xml(path, topology, &error) : -1;

	if (code == 0)
		print(topology_to_json(topology));
	else
		fprintf(stderr, "weir host: %s\n", error.text);
	free(topology);
	return code == 0 ? EXIT_PASS : EXIT_USAGE;
}

int verb_host(int argc, char **argv)
{
	const char *path = NULL;
	struct flag table[] = {
		{.name = "topology",
		 .kind = &flag_text,
		 .value = &path,
		 .about = "print the topology of another machine instead, from hwloc's XML of it"},
	};
	struct flags flags = {
		.program = "weir host",
		.about = "Prints what this host is and how it is set up, as a result's host.json "
			 "has it.",
		.table = table,
		.count = sizeof(table) / sizeof(table[0])};
	int status;

	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	if (path)
		return print_topology(path);
	print(host_facts());
	return EXIT_PASS;
}
