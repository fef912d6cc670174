#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static char skip_reason[256];
static unsigned running_row;

unsigned suite_row(void)
{
	return running_row;
}

void suite_skip(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(skip_reason, sizeof(skip_reason), format, arguments);
	va_end(arguments);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return argc < 2;
}

/* Runs one test in CUnit and prints its TAP line; whether it passed. */
static bool run_one(unsigned number, const char *name, CU_pSuite suite, CU_pTest test)
{
	CU_pFailureRecord failure;
	bool passed;

	skip_reason[0] = '\0';
	CU_run_test(suite, test);
	passed = CU_get_number_of_failures() == 0;
	if (passed && skip_reason[0])
		printf("ok %u - %s # SKIP %s\n", number, name, skip_reason);
	else
		printf("%s %u - %s\n", passed ? "ok" : "not ok", number, name);
	for (failure = CU_get_failure_list(); failure; failure = failure->pNext)
		if (failure->strCondition)
			printf("# %s:%u: %s\n", failure->strFileName, failure->uiLineNumber,
			       failure->strCondition);
	fflush(stdout);
	return passed;
}

int suite_run(const char *suite_name, const struct suite_test *tests, unsigned count, int argc,
	      char **argv)
{
	unsigned number = 0;
	CU_pSuite suite;
	bool passed = true;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	CU_set_error_action(CUEA_IGNORE);
	suite = CU_add_suite(suite_name, NULL, NULL);
	for (unsigned i = 0; i < count; i++) {
		CU_pTest test;

		if (!is_wanted(tests[i].name, argc, argv))
			continue;
		test = CU_add_test(suite, tests[i].name, tests[i].run);
		if (!test) {
			printf("not ok %u - %s # cannot be registered: is the name used twice?\n",
			       ++number, tests[i].name);
			passed = false;
			continue;
		}
		running_row = i;
		passed &= run_one(++number, tests[i].name, suite, test);
	}
	printf("1..%u\n", number);
	CU_cleanup_registry();
	return passed ? 0 : 1;
}
