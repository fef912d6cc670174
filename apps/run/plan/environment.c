#include "apps/run/plan/environment.h"

#include "apps/common/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where programs and DPDK's runtime files are, and what changes libraries, allocator and
 * sanitizers.
 */
static const char *const kept[] = {
	"PATH",		"TMPDIR",	"XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY", "LD_LIBRARY_PATH",
	"LD_PRELOAD",	"LD_BIND_NOW",	"GLIBC_TUNABLES",  "MALLOC_ARENA_MAX",	"MALLOC_PERTURB_",
	"ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",   "TSAN_OPTIONS",
};

/* Of these, those that an earlier run may hand on. */
static const char *const harmless[] = {
	"LC_ALL",
	"LD_BIND_NOW",
	"MALLOC_ARENA_MAX",
	"MALLOC_PERTURB_",
};

json_t *environment_choose(void)
{
	json_t *environment = json_object();

	json_object_set_new(environment, "LC_ALL", json_string("C"));
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (getenv(kept[i]))
			json_object_set_new(environment, kept[i], json_text(getenv(kept[i])));
	return environment;
}

/* Puts in what was, or takes away what was not there. */
static void take_over(json_t *environment, const char *name, const json_t *before)
{
	json_t *value = json_object_get(before, name);

	if (json_is_string(value))
		json_object_set(environment, name, value);
	else
		json_object_del(environment, name);
}

static void note_difference(json_t *differences, const char *name, const json_t *was,
			    const json_t *now)
{
	char what[96];

	snprintf(what, sizeof(what), "environment.%.80s", name);
	json_array_append_new(differences, json_pack("{so sO? sO?}", "what", json_text(what), "was",
						     (json_t *)was, "now", (json_t *)now));
}

void environment_lend(json_t *environment, const json_t *before, json_t *differences)
{
	const char *name;
	json_t *value;

	for (unsigned i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		take_over(environment, harmless[i], before);
	json_object_foreach((json_t *)before, name, value)
	{
		json_t *now = json_object_get(environment, name);

		if (!json_equal(value, now))
			note_difference(differences, name, value, now);
	}
	json_object_foreach(environment, name, value)
	{
		if (!json_object_get(before, name))
			note_difference(differences, name, NULL, value);
	}
}

void environment_become(const json_t *environment)
{
	const char *name;
	json_t *value;

	clearenv();
	json_object_foreach((json_t *)environment, name, value)
	{
		setenv(name, json_string_value(value), 1);
	}
}
