#include "apps/common/place.h"
#include "tests/support/suite.h"

static const char text[] = "{\n"
			   "  \"a\": [1, {\"b\": \"}]\\\",\"}, -2.5e3],\n"
			   "  \"\xc3\xa9\": {\"c\" : true, \"d\":null},\n"
			   "\t\"e\": {}\n"
			   "}\n";

static void expect(const struct place_step *steps, unsigned count, bool want_key, unsigned line,
		   unsigned column)
{
	struct place place = place_find(text, steps, count, want_key);

	CU_ASSERT_EQUAL(place.line, line);
	CU_ASSERT_EQUAL(place.column, column);
}

static void finds_members_and_elements(void)
{
	const struct place_step element[] = {{"a", 0}, {NULL, 2}};
	const struct place_step nested[] = {{"a", 0}, {NULL, 1}, {"b", 0}};

	expect(NULL, 0, false, 1, 1);
	expect(element, 1, false, 2, 8);
	expect(element, 1, true, 2, 3);
	expect(nested, 2, false, 2, 12);
	expect(nested, 3, false, 2, 18);
	expect(nested, 3, true, 2, 13);
	/* Behind a string with brackets and an escaped quote. */
	expect(element, 2, false, 2, 28);
}

/* The key on line 3 is one character, two bytes. */
static void counts_characters(void)
{
	const struct place_step steps[] = {{"\xc3\xa9", 0}, {"d", 0}};

	expect(steps, 1, false, 3, 8);
	expect(steps, 2, false, 3, 25);
	expect(steps, 2, true, 3, 21);
}

static void stops_where_the_way_ends(void)
{
	const struct place_step no_member[] = {{"e", 0}, {"x", 0}};
	const struct place_step no_element[] = {{"a", 0}, {NULL, 3}};
	const struct place_step not_a_container[] = {{"a", 0}, {NULL, 0}, {"x", 0}};

	expect(no_member, 2, true, 4, 7);
	expect(no_element, 2, false, 2, 8);
	expect(not_a_container, 3, false, 2, 9);
}

static const struct suite_test tests[] = {
	{"members and elements are found at any depth", finds_members_and_elements},
	{"columns count characters, not bytes", counts_characters},
	{"a way that leads nowhere stops at its last step", stops_where_the_way_ends},
};

SUITE_MAIN("run place", tests)
