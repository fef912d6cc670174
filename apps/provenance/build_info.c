#include "apps/provenance/build_info.h"

#include "apps/provenance/build_config.h"
#include "apps/provenance/build_commit.h"
#include "apps/common/json.h"

#include <string.h>

/*
 * The commit as `git describe` named it when the program was linked, with "-dirty" if the tree had
 * changes.
 */
static void set_commit(json_t *build)
{
	static const char dirty[] = "-dirty";
	size_t bytes = strlen(BUILD_COMMIT), dirty_bytes = strlen(dirty);
	int is_dirty =
		bytes > dirty_bytes && strcmp(BUILD_COMMIT + bytes - dirty_bytes, dirty) == 0;

	if (strcmp(BUILD_COMMIT, "unknown") == 0) {
		json_set_unknown(build, "git_commit", "built outside a git repository");
		json_set_unknown(build, "git_dirty", "built outside a git repository");
		return;
	}
	json_object_set_new(build, "git_commit",
			    json_stringn(BUILD_COMMIT, bytes - (is_dirty ? dirty_bytes : 0)));
	json_object_set_new(build, "git_dirty", json_boolean(is_dirty));
}

/* A version, or null and why if it is empty. */
static void set_library(json_t *libraries, const char *name, const char *version,
			const char *absent)
{
	if (version[0])
		json_object_set_new(libraries, name, json_string(version));
	else
		json_set_unknown(libraries, name, absent);
}

const char *build_version(void)
{
	return BUILD_VERSION;
}

const char *build_unfit(void)
{
	if (strcmp(BUILD_SANITIZERS, "none") != 0)
		return "built with sanitizers";
	if (BUILD_OPTIMIZATION[0] != '2' && BUILD_OPTIMIZATION[0] != '3')
		return "built without optimization";
	return NULL;
}

json_t *build_info(void)
{
	json_t *build =
		json_pack("{ss ss}", "schema", "weir.build/1", "weir_version", BUILD_VERSION);
	json_t *libraries = json_pack("{ss}", "jansson", JANSSON_VERSION);

	set_commit(build);
	json_object_set_new(build, "compiler", json_string(BUILD_COMPILER));
	json_object_set_new(build, "build_type", json_string(BUILD_TYPE));
	json_object_set_new(build, "optimization", json_string(BUILD_OPTIMIZATION));
	json_object_set_new(build, "c_args", json_string(BUILD_C_ARGS));
	json_object_set_new(build, "sanitizers", json_string(BUILD_SANITIZERS));
#ifdef NDEBUG
	json_object_set_new(build, "assertions", json_false());
#else
	json_object_set_new(build, "assertions", json_true());
#endif
	set_library(libraries, "dpdk", BUILD_DPDK, "built without DPDK");
	set_library(libraries, "liburing", BUILD_LIBURING, "built without liburing");
	json_object_set_new(build, "libraries", libraries);
	json_object_set_new(build, "unfit_for_performance", json_text(build_unfit()));
	return build;
}
