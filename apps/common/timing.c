#include "apps/common/timing.h"

#include "apps/common/json.h"
#include "dataplane/core/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first CPU's line of flags, for the caller to free; NULL if there is none. */
static char *read_flags(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0)
		found = strncmp(line, "flags", 5) == 0;
	if (file)
		fclose(file);
	if (found)
		return line;
	free(line);
	return NULL;
}

static void add_flag(json_t *object, const char *name, const char *flags)
{
	const char *found = flags ? strstr(flags, name) : NULL;

	if (flags)
		json_object_set_new(object, name, json_boolean(found != NULL));
	else
		json_set_unknown(object, name, "/proc/cpuinfo has no line of flags");
}

json_t *timing_to_json(void)
{
	json_t *object = json_object();
	char *flags = read_flags();

	json_object_set_new(object, "reads", json_text(clock_rate.tsc ? "tsc" : "CLOCK_MONOTONIC"));
	add_flag(object, "constant_tsc", flags);
	add_flag(object, "nonstop_tsc", flags);
	free(flags);
	return object;
}
