#include "dataplane/handlers/fields.h"

#include "tests/support/suite.h"

#include <string.h>

static struct span span_of(const char *text)
{
	return (struct span){(const uint8_t *)text, strlen(text)};
}

static bool is(struct span span, const char *text)
{
	return span.bytes == strlen(text) && memcmp(span.base, text, span.bytes) == 0;
}

static void all_fields_of_a_name_are_walked(void)
{
	struct http1_response response = {.field_count = 3};
	struct fields_walk walk;
	struct span value;

	response.fields[0] = (struct http1_field){span_of("Via"), span_of("a")};
	response.fields[1] = (struct http1_field){span_of("Viaduct"), span_of("b")};
	response.fields[2] = (struct http1_field){span_of("vIA"), span_of("c")};
	walk = FIELDS_WALK(&response);
	CU_ASSERT_TRUE(fields_next(&walk, "via", &value) && is(value, "a"));
	CU_ASSERT_TRUE(fields_next(&walk, "via", &value) && is(value, "c"));
	CU_ASSERT_FALSE(fields_next(&walk, "via", &value));
	CU_ASSERT_TRUE(fields_have(FIELDS_WALK(&response), "viaduct"));
	CU_ASSERT_FALSE(fields_have(FIELDS_WALK(&response), "vi"));
}

static void members_stand_between_commas(void)
{
	struct span list = span_of(" , a ,,\tb=\"x, \\\", y\" , c"), member;

	CU_ASSERT_TRUE(fields_member(&list, &member) && is(member, "a"));
	CU_ASSERT_TRUE(fields_member(&list, &member) && is(member, "b=\"x, \\\", y\""));
	CU_ASSERT_TRUE(fields_member(&list, &member) && is(member, "c"));
	CU_ASSERT_FALSE(fields_member(&list, &member));
}

static void numbers_are_digits_within_a_bound(void)
{
	static const char *const wrong[] = {"",	  "-1",	 "+1",	" 1",
					    "1 ", "0x1", "256", "99999999999"};
	uint64_t number = 7;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_FALSE(fields_number(span_of(wrong[i]), 255, &number));
	CU_ASSERT_EQUAL(number, 7);
	CU_ASSERT_TRUE(fields_number(span_of("255"), 255, &number) && number == 255);
	CU_ASSERT_TRUE(fields_number(span_of("18446744073709551615"), UINT64_MAX, &number));
	CU_ASSERT_EQUAL(number, UINT64_MAX);
	CU_ASSERT_FALSE(fields_number(span_of("18446744073709551616"), UINT64_MAX, &number));
}

static void lines_are_written_whole_or_remembered_as_not(void)
{
	uint8_t room[20];
	struct fields_text text = {.base = room, .room = sizeof(room)};

	fields_put_line(&text, span_of("Age"), span_of("0"));
	fields_put_text(&text, "N: ");
	fields_put_number(&text, 1234567890);
	CU_ASSERT_TRUE(text.full);
	CU_ASSERT_TRUE(is(fields_written(&text), "Age: 0\r\nN: "));
	fields_put_text(&text, "x");
	CU_ASSERT_EQUAL(text.bytes, 11);
}

static const struct suite_test tests[] = {
	{"all fields of a name are walked", all_fields_of_a_name_are_walked},
	{"members of a list stand between commas", members_stand_between_commas},
	{"numbers are digits within a bound", numbers_are_digits_within_a_bound},
	{"what does not fit is not written, and that is remembered",
	 lines_are_written_whole_or_remembered_as_not},
};

SUITE_MAIN("fields", tests)
