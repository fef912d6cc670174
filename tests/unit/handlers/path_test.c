#include "dataplane/handlers/path.h"

#include "tests/support/suite.h"

#include <string.h>

static struct span span_of(const char *text)
{
	return (struct span){(const uint8_t *)text, strlen(text)};
}

static void escapes_are_decoded_once(void)
{
	static const int expected[] = {'/', 'a', '/', '%', '2', '5', 255, -1, -1};
	struct span path = span_of("/a%2f%2525%fF%x1%1");
	size_t at = 0;

	for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		CU_ASSERT_EQUAL(path_next(path, &at), expected[i]);
	CU_ASSERT_TRUE(at >= path.bytes);
}

static void dots_are_found_however_they_are_written(void)
{
	static const char *const paths[] = {
		"/.",	       "/..",	      "/../a",	     "/a/.",	      "/a/./b",
		"/a/..",       "/a/../b",     "/%2e%2e/a",   "/a/%2E",	      "/a/.%2e/b",
		"/a/..%2fb",   "/a%2f..%2fb", "/a%2F%2e%2E", "/a/..\\b",      "/a%5c..%5Cb",
		"/a/..;x=1/b", "/a/.;/b",     "/a/..;",	     "/a/b/%2e%2e;x", "..",
	};

	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		CU_ASSERT_TRUE(path_has_dots(span_of(paths[i])));
}

static void dots_within_names_are_none(void)
{
	static const char *const paths[] = {
		"",
		"*",
		"/",
		"//",
		"/a",
		"/.a",
		"/a.",
		"/..a/b",
		"/a../b",
		"/...",
		"/a/.../b",
		"/a.b/c..",
		"/%252e%252e/a",
		"/a;..",
		"/a;/b",
		"/.well-known/x",
		"/a%2eb",
		"/....",
		"/;.",
	};

	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		CU_ASSERT_FALSE(path_has_dots(span_of(paths[i])));
}

static const struct suite_test tests[] = {
	{"escapes are decoded once", escapes_are_decoded_once},
	{"parts of dots are found however they are written",
	 dots_are_found_however_they_are_written},
	{"dots within names are none", dots_within_names_are_none},
};

SUITE_MAIN("path", tests)
