#include "dataplane/core/units.h"

#include "tests/support/suite.h"

#include <errno.h>

static void test_counts(void)
{
	static const char *const wrong[] = {"",	   "-1", "+1",	 " 1",
					    "1 ",  "01", "0x10", "1e3",
					    "1.0", "a",	 "256",	 "99999999999999999999999"};
	uint64_t count = 7;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(units_parse_count(wrong[i], 255, &count), -EINVAL);
	CU_ASSERT_EQUAL(count, 7);
	CU_ASSERT_EQUAL(units_parse_count("255", 255, &count), 0);
	CU_ASSERT_EQUAL(count, 255);
	CU_ASSERT_EQUAL(units_parse_count("0", 255, &count), 0);
	CU_ASSERT_EQUAL(count, 0);
	CU_ASSERT_EQUAL(units_parse_count("18446744073709551615", UINT64_MAX, &count), 0);
	CU_ASSERT_EQUAL(count, UINT64_MAX);
	CU_ASSERT_EQUAL(units_parse_count("18446744073709551616", UINT64_MAX, &count), -EINVAL);
}

static void test_durations(void)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {
		{"3s", 3000000000},  {"200ms", 200000000},  {"1m", 60000000000},
		{"0.5s", 500000000}, {"1.25ms", 1250000},   {"10us", 10000},
		{"7ns", 7},	     {"2h", 7200000000000}, {"0s", 0},
	};
	static const char *const wrong[] = {
		"",    "3",   "s",    "3 s", "-3s", "3S",  "3sec",	  ".5s",
		"0.s", "1.5", "1e3s", "inf", "nan", "03s", "9999999999h", "9223372036854775807s"};
	uint64_t ns = 7;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(units_parse_duration(wrong[i], &ns), -EINVAL);
	CU_ASSERT_EQUAL(ns, 7);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CU_ASSERT_EQUAL(units_parse_duration(rows[i].text, &ns), 0);
		CU_ASSERT_EQUAL(ns, rows[i].ns);
	}
}

static void test_bytes(void)
{
	uint64_t bytes = 7;

	CU_ASSERT_EQUAL(units_parse_bytes("64", 1 << 20, &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 64);
	CU_ASSERT_EQUAL(units_parse_bytes("16KiB", 1 << 20, &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 16384);
	CU_ASSERT_EQUAL(units_parse_bytes("1MiB", 1 << 20, &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 1 << 20);
	CU_ASSERT_EQUAL(units_parse_bytes("1025KiB", 1 << 20, &bytes), -EINVAL);
	CU_ASSERT_EQUAL(units_parse_bytes("4GiB", 1 << 20, &bytes), -EINVAL);
	CU_ASSERT_EQUAL(units_parse_bytes("1KB", 1 << 20, &bytes), -EINVAL);
	CU_ASSERT_EQUAL(units_parse_bytes("KiB", 1 << 20, &bytes), -EINVAL);
	CU_ASSERT_EQUAL(bytes, 1 << 20);
}

static void printed_is_read_back(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} durations[] = {{0, "0s"},
			 {1, "1ns"},
			 {1500, "1500ns"},
			 {50000, "50us"},
			 {2000000, "2ms"},
			 {3000000000, "3s"},
			 {60000000000, "60s"},
			 {1000000001, "1000000001ns"}};
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {{0, "0"},
		     {1, "1"},
		     {1000, "1000"},
		     {1536, "1536"},
		     {16384, "16KiB"},
		     {3 << 20, "3MiB"},
		     {1ull << 40, "1024GiB"},
		     {UINT64_MAX, "18446744073709551615"}};
	char text[UNITS_TEXT];
	uint64_t back;

	for (unsigned i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		CU_ASSERT_STRING_EQUAL(units_print_duration(durations[i].ns, text),
				       durations[i].text);
		CU_ASSERT_EQUAL(units_parse_duration(text, &back), 0);
		CU_ASSERT_EQUAL(back, durations[i].ns);
	}
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CU_ASSERT_STRING_EQUAL(units_print_bytes(sizes[i].bytes, text), sizes[i].text);
		CU_ASSERT_EQUAL(units_parse_bytes(text, UINT64_MAX, &back), 0);
		CU_ASSERT_EQUAL(back, sizes[i].bytes);
	}
}

static const struct suite_test tests[] = {
	{"a count is digits within its bound and nothing else", test_counts},
	{"a duration has a unit, and every other writing is refused", test_durations},
	{"bytes take binary units up to their bound", test_bytes},
	{"what is printed has the largest unit and is read back", printed_is_read_back},
};

SUITE_MAIN("units", tests)
