#include "apps/run/sample/warmup.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static void expect(const char *log, const char *metrics, const char *expected)
{
	size_t bytes;
	char *text = warmup_make(log, metrics, &bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, expected);
	CU_ASSERT_EQUAL(bytes, strlen(expected));
	free(text);
}

static const char metrics_text[] = "{\"t_s\":0.5,\"phase\":\"warmup\",\"rps\":10}\n"
				   "{\"t_s\":1.0,\"phase\":\"measure\",\"rps\":20}\n"
				   "{\"t_s\":1.5,\"phase\":\"warmup\"";

static void takes_the_warmup_alone(void)
{
	expect("config depth=8 (flag)\nphase connect\nphase warmup\na word\nphase measure\nphase "
	       "drain\n",
	       metrics_text,
	       "phase connect\nphase warmup\na word\n"
	       "{\"t_s\":0.5,\"phase\":\"warmup\",\"rps\":10}\n"
	       "{\"t_s\":1.5,\"phase\":\"warmup\"\n");
}

static void a_client_that_failed_before(void)
{
	expect("config depth=8 (flag)\nphase connect\nweir load: refused", NULL,
	       "phase connect\nweir load: refused\n");
	expect("weir load: --depth: 'x' is not accepted\n", "", "");
	expect(NULL, NULL, "");
}

static const struct suite_test tests[] = {
	{"warm-up's words and figures are those before the measured window",
	 takes_the_warmup_alone},
	{"a client that failed before the window left what it said", a_client_that_failed_before},
};

SUITE_MAIN("run warmup", tests)
