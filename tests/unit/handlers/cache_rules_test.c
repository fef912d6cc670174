#include "dataplane/handlers/cache_rules.h"

#include "dataplane/core/clock.h"
#include "tests/support/suite.h"

#include <string.h>

enum { FIELDS = 2 };

static struct span span_of(const char *text)
{
	return (struct span){(const uint8_t *)text, strlen(text)};
}

/* The lifetime of an answer with fields of this name, in seconds; ended by NULL if fewer. */
static uint64_t lifetime(const char *name, const char *first, const char *second)
{
	const char *const values[FIELDS] = {first, second};
	struct http1_response response = {.status = 200};
	uint64_t age_seconds;

	for (unsigned i = 0; i < FIELDS && values[i]; i++)
		response.fields[response.field_count++] =
			(struct http1_field){span_of(name), span_of(values[i])};
	return cache_lifetime_ns(&response, 60 * CLOCK_SECOND_NS, &age_seconds) / CLOCK_SECOND_NS;
}

static uint64_t controlled(const char *value)
{
	return lifetime("Cache-Control", value, NULL);
}

static void a_lifetime_is_what_its_directive_says(void)
{
	CU_ASSERT_EQUAL(lifetime("X", NULL, NULL), 60);
	CU_ASSERT_EQUAL(controlled("public, max-age=5"), 5);
	CU_ASSERT_EQUAL(controlled("MAX-AGE=\"5\""), 5);
	CU_ASSERT_EQUAL(controlled("max-age=5, s-maxage=7"), 7);
	CU_ASSERT_EQUAL(controlled("s-maxage=7, max-age=5"), 7);
	CU_ASSERT_EQUAL(controlled("max-age=99999999999999999999"), 0);
	CU_ASSERT_EQUAL(controlled("max-age=9999999999"), 1u << 31);
}

static void lifetimes_that_contradict_are_none(void)
{
	CU_ASSERT_EQUAL(controlled("max-age=0, max-age=1000"), 0);
	CU_ASSERT_EQUAL(controlled("max-age=1000, max-age=0"), 0);
	CU_ASSERT_EQUAL(controlled("max-age=2, max-age=1, max-age=2"), 0);
	CU_ASSERT_EQUAL(lifetime("Cache-Control", "s-maxage=5", "s-maxage=6"), 0);
	CU_ASSERT_EQUAL(lifetime("Cache-Control", "max-age=5", "max-age=5"), 5);
}

static void what_can_not_be_read_is_not_kept(void)
{
	static const char *const values[] = {
		"max-age",    "s-maxage",   "max-age=",	  "max-age=-1",	 "max-age=5 5",
		"max-age= 5", "\"no-store", "no-store;x", "max-age=5;x", "s-maxage, max-age=5"};

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		CU_ASSERT_EQUAL(controlled(values[i]), 0);
	CU_ASSERT_EQUAL(controlled("unknown, x-y=\"no-store\""), 60);
}

static void of_several_ages_the_oldest_is_believed(void)
{
	CU_ASSERT_EQUAL(lifetime("Age", "20", NULL), 40);
	CU_ASSERT_EQUAL(lifetime("Age", "1", "50"), 10);
	CU_ASSERT_EQUAL(lifetime("Age", "50", "1"), 10);
	CU_ASSERT_EQUAL(lifetime("Age", "1", "x"), 0);
}

static const struct suite_test tests[] = {
	{"a lifetime is what its directive says", a_lifetime_is_what_its_directive_says},
	{"lifetimes that contradict each other are none", lifetimes_that_contradict_are_none},
	{"what can not be read is not kept", what_can_not_be_read_is_not_kept},
	{"of several ages the oldest is believed", of_several_ages_the_oldest_is_believed},
};

SUITE_MAIN("cache_rules", tests)
