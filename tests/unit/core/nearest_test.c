#include "dataplane/core/nearest.h"
#include "tests/support/suite.h"

static const char *const names[] = {"--connections", "--connect", "--depth", "--duration"};

static void finds_what_was_meant(void)
{
	CU_ASSERT_STRING_EQUAL(nearest_of("--conections", names, 4), "--connections");
	CU_ASSERT_STRING_EQUAL(nearest_of("--dept", names, 4), "--depth");
	CU_ASSERT_STRING_EQUAL(nearest_of("--duratoin", names, 4), "--duration");
	CU_ASSERT_STRING_EQUAL(nearest_of("--connect", names, 4), "--connect");
}

static void does_not_guess(void)
{
	static const char *const verbs[] = {"doctor", "stacks", "serve", "load", "run"};
	char text[NEAREST_TEXT];

	CU_ASSERT_PTR_NULL(nearest_of("build", verbs, 5));
	CU_ASSERT_PTR_NULL(nearest_of("--port", names, 4));
	CU_ASSERT_STRING_EQUAL(nearest_of("lod", verbs, 5), "load");
	CU_ASSERT_STRING_EQUAL(nearest_of("srve", verbs, 5), "serve");
	CU_ASSERT_STRING_EQUAL(nearest_ask("build", verbs, 5, "", text), "");
	CU_ASSERT_STRING_EQUAL(nearest_ask("laod", verbs, 5, "--", text),
			       "did you mean '--load'? ");
}

static void survives_any_word(void)
{
	char long_word[1000];

	for (int i = 0; i < 999; i++)
		long_word[i] = 'x';
	long_word[999] = '\0';
	CU_ASSERT_PTR_NULL(nearest_of(long_word, names, 4));
	CU_ASSERT_PTR_NULL(nearest_of("", names, 4));
}

static const struct suite_test tests[] = {
	{"the name with the fewest edits is found", finds_what_was_meant},
	{"a word that is far from every name gets no guess", does_not_guess},
	{"an empty word and a very long one are near to nothing", survives_any_word},
};

SUITE_MAIN("nearest", tests)
