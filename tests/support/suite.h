/*
 * suite: CUnit tests that speak TAP.
 *
 * A test program is a table of named functions and one call. Each function is a CUnit test
 * (CU_ASSERT... inside); the result goes out in the Test Anything Protocol, so that meson and
 * `./weir test` count single tests, and a skip carries its reason. Arguments, if any, are
 * substrings: only tests whose names contain one of them run.
 */
#ifndef WEIR_TESTS_SUITE_H
#define WEIR_TESTS_SUITE_H

#include <CUnit/CUnit.h>

struct suite_test {
	const char *name; /* a sentence: "a head decodes the same at every split" */
	void (*run)(void);
};

/* Runs the tests; the exit status for main: 0 if none failed. */
int suite_run(const char *suite, const struct suite_test *tests, unsigned count, int argc,
	      char **argv);

/* The row of the running test in its table. */
unsigned suite_row(void);

/* Ends the running test as skipped. Call it, then return from the test. */
void suite_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define SUITE_MAIN(suite, tests)                                                              \
	int main(int argc, char **argv)                                                       \
	{                                                                                     \
		return suite_run(suite, tests, sizeof(tests) / sizeof(tests[0]), argc, argv); \
	}

#endif
