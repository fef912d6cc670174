#include "apps/run/environment.h"

#include "apps/common/json.h"

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

json_t *environment_choose(void)
{
	json_t *environment = json_object();

	json_object_set_new(environment, "LC_ALL", json_string("C"));
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (getenv(kept[i]))
			json_object_set_new(environment, kept[i], json_text(getenv(kept[i])));
	return environment;
}

void environment_become(const json_t *environment)
{
	const char *name;
	json_t *value;

	clearenv();
	json_object_foreach((json_t *)environment, name, value)
		setenv(name, json_string_value(value), 1);
}
