#include "apps/provenance/fact.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/weir-fact-XXXXXX";

static const char *file_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(file_of(name), "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static void expect_ranges(const unsigned *numbers, unsigned count, const char *expected)
{
	char text[64] = "";

	for (unsigned i = 0; i < count; i++)
		fact_add_to_ranges(text, sizeof(text), numbers[i]);
	CU_ASSERT_STRING_EQUAL(text, expected);
}

static void makes_ranges(void)
{
	expect_ranges((unsigned[]){7}, 1, "7");
	expect_ranges((unsigned[]){0, 1}, 2, "0-1");
	expect_ranges((unsigned[]){8, 9, 10, 11}, 4, "8-11");
	expect_ranges((unsigned[]){0, 2, 4}, 3, "0,2,4");
	expect_ranges((unsigned[]){0, 1, 2, 5, 98, 99, 100}, 7, "0-2,5,98-100");
}

static void groups_by_value(void)
{
	static const unsigned numbers[] = {0, 1, 2, 3};
	json_t *facts = json_object(), *spread;
	char start[256];

	put("cpu0.governor", "performance\n");
	put("cpu1.governor", "performance\n");
	put("cpu3.governor", "powersave\n");
	snprintf(start, sizeof(start), "%s/cpu", folder);
	fact_spread(facts, "governors", start, ".governor", numbers, 4);
	spread = json_object_get(facts, "governors");
	CU_ASSERT_EQUAL(json_object_size(spread), 2);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(spread, "performance")), "0-1");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(spread, "powersave")), "3");
	fact_spread(facts, "none", start, ".absent", numbers, 4);
	CU_ASSERT_TRUE(json_is_null(json_object_get(facts, "none")));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(json_string_value(json_object_get(facts, "none_reason")), ".absent"));
	json_decref(facts);
}

static void expect_text(const char *key, char separator, const char *expected)
{
	char text[64] = "";

	CU_ASSERT_EQUAL(fact_read_text(file_of("keys"), key, separator, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, expected);
}

static void reads_keys(void)
{
	char text[64];

	put("keys", "model\t\t: 10\nmodel name\t: A B\nNAME=\"quoted\"\nsome avg10=1.0\nlast: x");
	expect_text("model", ':', "10");
	expect_text("model name", ':', "A B");
	expect_text("NAME", '=', "quoted");
	expect_text("some", ' ', "avg10=1.0");
	expect_text("last", ':', "x");
	CU_ASSERT_EQUAL(fact_read_text(file_of("keys"), "name", ':', text, sizeof(text)), -ENOENT);
	CU_ASSERT_EQUAL(fact_read_text(file_of("gone"), "name", ':', text, sizeof(text)), -ENOENT);
}

static void reads_lines(void)
{
	char line[64];

	put("line", "value \t\nmore\n");
	CU_ASSERT_EQUAL(fact_read_line(file_of("line"), line, sizeof(line)), 0);
	CU_ASSERT_STRING_EQUAL(line, "value");
	put("line", "");
	CU_ASSERT_EQUAL(fact_read_line(file_of("line"), line, sizeof(line)), -ENODATA);
}

static const struct suite_test tests[] = {
	{"ascending numbers become ranges", makes_ranges},
	{"files of one value are grouped, absent ones left out", groups_by_value},
	{"a key's text is found whatever surrounds it", reads_keys},
	{"a line comes without the blanks at its end", reads_lines},
};

int main(int argc, char **argv)
{
	int status;

	if (!mkdtemp(folder))
		return 1;
	status = suite_run("provenance fact", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	for (unsigned i = 0; i < 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), "cpu%u.governor", i);
		unlink(file_of(name));
	}
	unlink(file_of("keys"));
	unlink(file_of("line"));
	rmdir(folder);
	return status;
}
