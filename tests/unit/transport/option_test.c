#include "dataplane/transport/option.h"

#include "dataplane/transport/transport.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

enum { TRIGGER, POLL, RING, IDLE, BUFFER, CPU, KEEP, OPTION_COUNT };

static const char *const triggers[] = {"edge", "level", NULL};

static const struct tp_option table[OPTION_COUNT] = {
	[TRIGGER] = {.name = "trigger", .kind = TP_OPTION_CHOICE, .choices = triggers},
	[POLL] = {.name = "sqpoll", .kind = TP_OPTION_SWITCH, .initial = 1},
	[RING] = {.name = "entries", .kind = TP_OPTION_COUNT, .initial = 8, .min = 1, .max = 64},
	[IDLE] = {.name = "idle", .kind = TP_OPTION_DURATION, .max = 1000 * 1000},
	[BUFFER] = {.name = "buffer", .kind = TP_OPTION_BYTES, .initial = 4096, .max = 1 << 20},
	[CPU] = {.name = "cpu", .kind = TP_OPTION_COUNT, .initial = 9, .max = 9, .word = "worker"},
	[KEEP] = {.name = "keep",
		  .kind = TP_OPTION_DURATION,
		  .min = 1000 * 1000,
		  .max = 1000 * 1000 * 1000,
		  .word = "off"},
};

static const struct tp_ops ops = {.name = "trial", .options = table, .option_count = OPTION_COUNT};
static const struct tp_ops plain = {.name = "plain"};

static void what_is_not_given_stays_as_it_is_initially(void)
{
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_error error;

	CU_ASSERT_EQUAL(tp_options_parse(&ops, "", values, &error), 0);
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		CU_ASSERT_EQUAL(values[i], table[i].initial);
	CU_ASSERT_EQUAL(tp_options_parse(&plain, "", values, &error), 0);
}

static void every_kind_is_read_and_written(void)
{
	static const char *const texts[] = {"level", "off", "64", "50us", "16KiB", "8", "1s"};
	static const uint64_t expected[] = {1, 0, 64, 50 * 1000, 16 * 1024, 8, 1000 * 1000 * 1000};
	uint64_t values[TP_OPTIONS_MAX];
	char text[TP_OPTION_TEXT];
	struct tp_error error;

	CU_ASSERT_EQUAL(
		tp_options_parse(&ops,
				 "buffer=16KiB,trigger=level,sqpoll=off,entries=64,idle=50us,cpu=8,"
				 "keep=1s",
				 values, &error),
		0);
	for (unsigned i = 0; i < OPTION_COUNT; i++) {
		CU_ASSERT_EQUAL(values[i], expected[i]);
		CU_ASSERT_STRING_EQUAL(tp_option_print(&table[i], values[i], text), texts[i]);
	}
	CU_ASSERT_EQUAL(tp_options_parse(&ops, "idle=0", values, &error), 0);
	CU_ASSERT_STRING_EQUAL(tp_option_print(&table[IDLE], values[IDLE], text), "0");
}

static void a_count_may_have_a_word_for_its_most(void)
{
	uint64_t values[TP_OPTIONS_MAX];
	char text[TP_OPTION_TEXT], accepted[128];
	struct tp_error error;

	CU_ASSERT_EQUAL(tp_options_parse(&ops, "cpu=0", values, &error), 0);
	CU_ASSERT_EQUAL(values[CPU], 0);
	CU_ASSERT_EQUAL(tp_options_parse(&ops, "cpu=worker", values, &error), 0);
	CU_ASSERT_EQUAL(values[CPU], 9);
	CU_ASSERT_STRING_EQUAL(tp_option_print(&table[CPU], 9, text), "worker");
	CU_ASSERT_STRING_EQUAL(tp_option_accepted(&table[CPU], accepted), "0 to 8, or worker");
	CU_ASSERT_EQUAL(tp_options_parse(&ops, "cpu=9", values, &error), -EINVAL);
	CU_ASSERT_EQUAL(tp_options_parse(&ops, "entries=worker", values, &error), -EINVAL);
}

static void a_duration_may_have_a_word_for_none(void)
{
	uint64_t values[TP_OPTIONS_MAX];
	char text[TP_OPTION_TEXT], accepted[128];
	struct tp_error error;

	CU_ASSERT_EQUAL(tp_options_parse(&ops, "keep=off", values, &error), 0);
	CU_ASSERT_EQUAL(values[KEEP], 0);
	CU_ASSERT_STRING_EQUAL(tp_option_print(&table[KEEP], 0, text), "off");
	CU_ASSERT_STRING_EQUAL(tp_option_accepted(&table[KEEP], accepted), "1ms to 1s, or off");
	CU_ASSERT_EQUAL(tp_options_parse(&ops, "keep=0", values, &error), -EINVAL);
	CU_ASSERT_EQUAL(tp_options_parse(&ops, "idle=off", values, &error), -EINVAL);
}

static void what_is_wrong_is_named(void)
{
	static const char *const wrong[][2] = {
		{"tigger=edge", "did you mean 'trigger'?"},
		{"trigger=both", "edge or level is accepted"},
		{"sqpoll=yes", "off or on is accepted"},
		{"entries=0", "1 to 64 is accepted"},
		{"entries=65", "1 to 64 is accepted"},
		{"buffer=2MiB", "0 to 1MiB is accepted"},
		{"idle=1", "0 to 1ms is accepted"},
		{"cpu=10", "0 to 8, or worker is accepted"},
		{"idle=2ms", "0 to 1ms is accepted"},
		{"entries", "NAME=VALUE is expected"},
		{"=8", "NAME=VALUE is expected"},
		{"entries=8,,idle=0", "NAME=VALUE is expected"},
		{"entries=8,entries=9", "given twice"},
		{"entries=11111111111111111111111111111111111111111111111111111111111111111111111",
		 "NAME=VALUE is expected"},
	};
	uint64_t values[TP_OPTIONS_MAX] = {7};
	struct tp_error error;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_EQUAL(tp_options_parse(&ops, wrong[i][0], values, &error), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, wrong[i][1]));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "trial"));
	}
	CU_ASSERT_EQUAL(values[0], 7);
	CU_ASSERT_EQUAL(tp_options_parse(&plain, "a=1", values, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no options"));
}

static const struct suite_test tests[] = {
	{"what is not given stays as it is initially", what_is_not_given_stays_as_it_is_initially},
	{"every kind of option is read and written", every_kind_is_read_and_written},
	{"a count may have a word for its most", a_count_may_have_a_word_for_its_most},
	{"a duration may have a word for none", a_duration_may_have_a_word_for_none},
	{"what is wrong is named, with what is accepted, and nothing changes",
	 what_is_wrong_is_named},
};

SUITE_MAIN("option", tests)
