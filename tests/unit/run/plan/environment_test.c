#include "apps/run/plan/environment.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const json_t *find(const json_t *differences, const char *what)
{
	size_t index;
	json_t *one;

	json_array_foreach((json_t *)differences, index, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "what")), what) == 0)
			return one;
	}
	return NULL;
}

static void expect_now(const json_t *environment, const char *name, const char *value)
{
	const char *now = json_string_value(json_object_get(environment, name));

	CU_ASSERT_PTR_NOT_NULL_FATAL(now);
	CU_ASSERT_STRING_EQUAL(now, value);
}

static void a_file_does_not_say_what_is_loaded(void)
{
	static const char *const refused[] = {"LD_PRELOAD",   "LD_LIBRARY_PATH", "GLIBC_TUNABLES",
					      "ASAN_OPTIONS", "TMPDIR",		 "HOME"};
	json_t *now = json_pack("{ss ss}", "LC_ALL", "C", "PATH", "/usr/bin");
	json_t *before = json_pack("{ss ss}", "LC_ALL", "C", "PATH", "/tmp/theirs");
	json_t *differences = json_array();
	char what[64];

	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		json_object_set_new(before, refused[i], json_string("/tmp/theirs.so"));
	environment_lend(now, before, differences);
	expect_now(now, "PATH", "/usr/bin");
	CU_ASSERT_PTR_NOT_NULL(find(differences, "environment.PATH"));
	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		CU_ASSERT_PTR_NULL(json_object_get(now, refused[i]));
		snprintf(what, sizeof(what), "environment.%s", refused[i]);
		CU_ASSERT_PTR_NOT_NULL(find(differences, what));
	}
	json_decref(differences);
	json_decref(before);
	json_decref(now);
}

static void what_bears_on_speed_alone_is_as_it_was(void)
{
	json_t *now = json_pack("{ss ss}", "LC_ALL", "C", "MALLOC_PERTURB_", "7");
	json_t *before = json_pack("{ss ss}", "LC_ALL", "C.UTF-8", "MALLOC_ARENA_MAX", "2");
	json_t *differences = json_array();

	environment_lend(now, before, differences);
	CU_ASSERT(json_equal(now, before));
	CU_ASSERT_EQUAL(json_array_size(differences), 0);
	json_decref(differences);
	json_decref(before);
	json_decref(now);
}

static void what_was_not_there_is_told_too(void)
{
	json_t *now = json_pack("{ss ss}", "LC_ALL", "C", "LD_PRELOAD", "/usr/lib/mine.so");
	json_t *before = json_pack("{ss}", "LC_ALL", "C"), *differences = json_array();
	const json_t *one;

	environment_lend(now, before, differences);
	expect_now(now, "LD_PRELOAD", "/usr/lib/mine.so");
	one = find(differences, "environment.LD_PRELOAD");
	CU_ASSERT_PTR_NOT_NULL_FATAL(one);
	CU_ASSERT(json_is_null(json_object_get(one, "was")) || !json_object_get(one, "was"));
	json_decref(differences);
	json_decref(before);
	json_decref(now);
}

static const struct suite_test tests[] = {
	{"a file does not say what a process loads, finds or writes",
	 a_file_does_not_say_what_is_loaded},
	{"what bears on speed alone is as it was", what_bears_on_speed_alone_is_as_it_was},
	{"what was not there before is told, too", what_was_not_there_is_told_too},
};

SUITE_MAIN("run environment", tests)
