#include "apps/provenance/build_info.h"

#include "apps/provenance/build_config.h"
#include "apps/provenance/build_commit.h"
#include "apps/common/json.h"

#include <gnu/libc-version.h>
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

/* The compiler's arguments come behind meson's, so that their word holds. */
static const char *unfit_by_arguments(const char *c_args, const char *optimization)
{
	const char *unfit = NULL;
	char level = optimization[0];

	for (const char *word = c_args; *word; word += strcspn(word, " ")) {
		word += strspn(word, " ");
		if (strncmp(word, "-fsanitize=", 11) == 0)
			unfit = "built with sanitizers";
		if (strncmp(word, "-O", 2) == 0)
			level = word[2];
	}
	if (!unfit && level != '2' && level != '3' && level != 'f')
		unfit = "built without optimization";
	return unfit;
}

const char *build_judge(const char *sanitizers, const char *optimization, const char *c_args)
{
	if (strcmp(sanitizers, "none") != 0)
		return "built with sanitizers";
	return unfit_by_arguments(c_args, optimization);
}

const char *build_unfit(void)
{
	return build_judge(BUILD_SANITIZERS, BUILD_OPTIMIZATION, BUILD_C_ARGS);
}

/* Each line as a text of its own. */
static json_t *split_lines(const char *lines)
{
	json_t *list = json_array();

	while (*lines) {
		size_t bytes = strcspn(lines, "\n");

		json_array_append_new(list, json_stringn(lines, bytes));
		lines += bytes + (lines[bytes] != '\0');
	}
	return list;
}

json_t *build_info(void)
{
	json_t *build =
		json_pack("{ss ss}", "schema", "weir.build/1", "weir_version", BUILD_VERSION);
	json_t *libraries = json_pack("{ss}", "jansson", JANSSON_VERSION);

	set_commit(build);
	json_object_set_new(build, "compiler", json_string(BUILD_COMPILER));
	json_object_set_new(build, "compiler_version", json_text(BUILD_COMPILER_VERSION));
	json_object_set_new(build, "compiler_command", json_text(BUILD_COMPILER_COMMAND));
	json_object_set_new(build, "linker", json_string(BUILD_LINKER));
	json_object_set_new(build, "setup", split_lines(BUILD_SETUP));
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
	json_object_set_new(libraries, "libc", json_string(gnu_get_libc_version()));
	json_object_set_new(build, "libraries", libraries);
	json_object_set_new(build, "unfit_for_performance", json_text(build_unfit()));
	return build;
}
