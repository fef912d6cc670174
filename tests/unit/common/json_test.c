#include "apps/common/file.h"
#include "apps/common/json.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES_MAX = 4096 };

static char folder[64], path[96];

static void begin(void)
{
	strcpy(folder, "/tmp/weir-json-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
}

static void expect_file(const char *expected)
{
	struct tp_error error;
	size_t bytes;
	char *text;

	CU_ASSERT_EQUAL_FATAL(file_read(path, TEXT_BYTES_MAX, &text, &bytes, &error), 0);
	CU_ASSERT_STRING_EQUAL(text, expected);
	free(text);
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0); /* nothing else was left in it */
}

static void lines_are_elements(void)
{
	json_t *array = json_pack("[{si}, {sf}, []]", "a", 1, "b", 0.1);
	struct tp_error error;

	begin();
	CU_ASSERT_EQUAL(json_write_lines(path, array, &error), 0);
	expect_file("{\"a\":1}\n{\"b\":0.1}\n[]\n");
	json_decref(array);
}

static void no_value_is_no_file(void)
{
	struct tp_error error;

	begin();
	CU_ASSERT_EQUAL(json_write_lines(path, NULL, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "not a JSON value"));
	CU_ASSERT_EQUAL(json_write_file(path, NULL, 1, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, path));
	CU_ASSERT_EQUAL(access(path, F_OK), -1);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void a_failure_is_named(void)
{
	json_t *array = json_pack("[i]", 1);
	struct tp_error error;

	CU_ASSERT(json_write_lines("/proc/no/such", array, &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/proc/no/such"));
	json_decref(array);
}

static void bytes_that_are_no_text(void)
{
	json_t *value = json_text("a\xff");

	CU_ASSERT_STRING_EQUAL(json_string_value(value), "a?");
	json_decref(value);
	value = json_text(NULL);
	CU_ASSERT(json_is_null(value));
	json_decref(value);
	value = json_number(__builtin_nan(""));
	CU_ASSERT(json_is_null(value));
	json_decref(value);
}

static void put(const char *text)
{
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(file_write(path, text, strlen(text), &error), 0);
}

static void only_whole_objects_are_read(void)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"", ":1: "},
		{"{\"schema\": \"x/1\"", ":1: "},
		{"{\"schema\": \"x/1\"}\n{", ":2: "},
		{"[1]", "no object"},
		{"{\"a\": 1}", "names no schema"},
		{"{\"schema\": \"x/2\"}", "its schema is 'x/2'; this weir reads x/1"},
		{"{\"schema\": \"x/1\", \"a\": 1, \"a\": 2}", "duplicate"},
	};
	struct tp_error error;
	json_t *object = NULL;

	begin();
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put(wrong[i].text);
		CU_ASSERT_EQUAL(json_read_file(path, 64, "x/1", &object, &error), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, wrong[i].says));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, path));
		CU_ASSERT_PTR_NULL(object);
	}
	put("{\"schema\": \"x/1\", \"long\": \"0123456789012345678901234567890123456789\"}");
	CU_ASSERT_EQUAL(json_read_file(path, 64, "x/1", &object, &error), -EFBIG);
	CU_ASSERT_EQUAL(json_read_file(folder, 64, "x/1", &object, &error), -EINVAL);
	put("{\"schema\": \"x/1\"}\n");
	CU_ASSERT_EQUAL_FATAL(json_read_file(path, 64, "x/1", &object, &error), 0);
	json_decref(object);
	unlink(path);
	rmdir(folder);
}

static void lines_that_are_cut_off_are_refused(void)
{
	struct tp_error error;
	json_t *array = NULL;

	begin();
	put("{\"a\":1}\n{\"a\":2}\n");
	CU_ASSERT_EQUAL_FATAL(json_read_lines(path, 64, NULL, &array, &error), 0);
	CU_ASSERT_EQUAL(json_array_size(array), 2);
	json_decref(array);
	put("{\"a\":1}\n{\"a\":2}");
	CU_ASSERT_EQUAL(json_read_lines(path, 64, NULL, &array, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, ":2: the line has no end"));
	put("{\"a\":1}\n{\"a\":\n");
	CU_ASSERT_EQUAL(json_read_lines(path, 64, NULL, &array, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, ":2: "));
	unlink(path);
	rmdir(folder);
}

static void rounding_makes_no_difference(void)
{
	static const struct {
		const char *a, *b;
		bool alike;
	} pairs[] = {
		{"{\"a\": [1.00000000000001, null]}", "{\"a\": [1.0, null]}", true},
		{"{\"a\": 1.0001}", "{\"a\": 1.0}", false},
		{"{\"a\": 1}", "{\"a\": 1, \"b\": null}", false},
		{"{\"a\": 1, \"b\": null}", "{\"a\": 1}", false},
		{"{\"a\": [1]}", "{\"a\": [1, 2]}", false},
		{"{\"a\": \"x\"}", "{\"a\": \"y\"}", false},
		{"{\"a\": 1}", "{\"a\": 2}", false},
		{"{\"a\": -0.0}", "{\"a\": 0.0}", true},
	};

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		json_t *a = json_loads(pairs[i].a, 0, NULL), *b = json_loads(pairs[i].b, 0, NULL);

		CU_ASSERT_EQUAL(json_alike(a, b), pairs[i].alike);
		json_decref(a);
		json_decref(b);
	}
}

static void appended_texts_are_cut(void)
{
	char longer[2 * JSON_TEXT_BYTES];
	json_t *array = json_array();

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	json_append_text(array, "%s: %d", "a\xff", 7);
	json_append_text(array, "%s", longer);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(array, 0)), "a?: 7");
	CU_ASSERT_EQUAL(json_string_length(json_array_get(array, 1)), JSON_TEXT_BYTES - 1);
	json_decref(array);
}

static const struct suite_test tests[] = {
	{"each element of an array has a line", lines_are_elements},
	{"what is no JSON leaves no file", no_value_is_no_file},
	{"a file that cannot be written is named", a_failure_is_named},
	{"a text that is not UTF-8 and a number that is none are still JSON",
	 bytes_that_are_no_text},
	{"only a whole object of the schema is read, and what is wrong is named",
	 only_whole_objects_are_read},
	{"a line that is cut off is no object", lines_that_are_cut_off_are_refused},
	{"two objects are alike if they differ by the rounding of files only",
	 rounding_makes_no_difference},
	{"a text of any length is appended, cut at the limit", appended_texts_are_cut},
};

SUITE_MAIN("common json", tests)
