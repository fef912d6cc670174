#include "dataplane/handlers/static_path.h"

#include "tests/support/suite.h"

#include <string.h>

struct example {
	const char *path;
	unsigned code;
	const char *name;
};

static void paths_name_files_below_the_folder(void)
{
	static const struct example examples[] = {
		{"/", 0, "index.html"},	    {"/a", 0, "a"},	  {"/a/", 0, "a/index.html"},
		{"/a/b.txt", 0, "a/b.txt"}, {"/a%20b", 0, "a b"}, {"/%61%2Eb", 0, "a.b"},
		{"/a..", 0, "a.."},	    {"/%2561", 0, "%61"}, /* once, not twice */
		{"/%c3%A9", 0, "\303\251"},
	};
	char name[STATIC_NAME_BYTES];

	for (unsigned i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct span path = {(const uint8_t *)examples[i].path, strlen(examples[i].path)};

		CU_ASSERT_EQUAL(static_path_name(path, name), examples[i].code);
		CU_ASSERT_STRING_EQUAL(name, examples[i].name);
	}
}

static void paths_that_mean_something_else_are_refused(void)
{
	static const struct example examples[] = {
		{"", 404, NULL},
		{"*", 404, NULL},
		{"a", 404, NULL},
		{"//", 404, NULL},
		{"//etc/passwd", 404, NULL},
		{"/a//b", 404, NULL},
		{"/.", 404, NULL},
		{"/..", 404, NULL},
		{"/../a", 404, NULL},
		{"/a/../b", 404, NULL},
		{"/a/./b", 404, NULL},
		{"/%2e%2e/a", 404, NULL},
		{"/%2E./a", 404, NULL},
		{"/a/%2e%2e%2fb", 404, NULL},
		{"/a%2fb", 404, NULL},
		{"/%2fetc/passwd", 404, NULL},
		{"/a%00b", 404, NULL},
		{"/a%00", 404, NULL},
		{"/.git/config", 404, NULL},
		{"/a/.hidden", 404, NULL},
		{"/%", 400, NULL},
		{"/%4", 400, NULL},
		{"/%4g", 400, NULL},
		{"/%g4", 400, NULL},
		{"/a%", 400, NULL},
		{"/%-1", 400, NULL},
	};
	char name[STATIC_NAME_BYTES];

	for (unsigned i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct span path = {(const uint8_t *)examples[i].path, strlen(examples[i].path)};

		CU_ASSERT_EQUAL(static_path_name(path, name), examples[i].code);
	}
}

static void names_keep_within_their_room(void)
{
	uint8_t path[STATIC_NAME_BYTES + 1] = "/";
	char name[STATIC_NAME_BYTES];

	memset(path + 1, 'a', sizeof(path) - 1);
	CU_ASSERT_EQUAL(static_path_name((struct span){path, STATIC_NAME_BYTES}, name), 0);
	CU_ASSERT_EQUAL(strlen(name), STATIC_NAME_BYTES - 1);
	CU_ASSERT_EQUAL(static_path_name((struct span){path, STATIC_NAME_BYTES + 1}, name), 414);
	path[STATIC_NAME_BYTES - 1] = '/';
	CU_ASSERT_EQUAL(static_path_name((struct span){path, STATIC_NAME_BYTES}, name), 414);
}

static const struct suite_test tests[] = {
	{"paths name files below the folder", paths_name_files_below_the_folder},
	{"paths that mean something else are refused", paths_that_mean_something_else_are_refused},
	{"names keep within their room", names_keep_within_their_room},
};

SUITE_MAIN("static_path", tests)
