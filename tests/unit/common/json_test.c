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

static const struct suite_test tests[] = {
	{"each element of an array has a line", lines_are_elements},
	{"what is no JSON leaves no file", no_value_is_no_file},
	{"a file that cannot be written is named", a_failure_is_named},
	{"a text that is not UTF-8 and a number that is none are still JSON",
	 bytes_that_are_no_text},
};

SUITE_MAIN("common json", tests)
