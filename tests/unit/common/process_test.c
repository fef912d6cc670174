#include "apps/common/process.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void reads_numbers_by_name(void)
{
	char path[] = "/tmp/weir-process-XXXXXX";
	static const char text[] = "Page:\t7 kB\nPages: 12\nName:\tweir\nse.nr  :   3\n";
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	CU_ASSERT_EQUAL(process_read_number(path, "Page"), 7);
	CU_ASSERT_EQUAL(process_read_number(path, "Pages"), 12);
	CU_ASSERT_EQUAL(process_read_number(path, "se.nr"), 3);
	CU_ASSERT_EQUAL(process_read_number(path, "Pag"), -1);
	CU_ASSERT_EQUAL(process_read_number(path, "Name"), -1);
	close(fd);
	unlink(path);
	CU_ASSERT_EQUAL(process_read_number(path, "Page"), -1);
}

/* Moves this thread from CPU to CPU and back. */
static void counts_migrations(void)
{
	long before = process_migrations("/proc/self/task"), after;
	struct tp_error error;
	struct cpus allowed;

	CU_ASSERT_EQUAL(process_migrations("/proc/self/nothing"), -1);
	if (before < 0 || cpus_allowed(&allowed) < 0 || allowed.count < 2) {
		suite_skip("needs a kernel that counts migrations, and two CPUs");
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		struct cpus one = {.count = 1, .cpu = {allowed.cpu[i % 2]}};

		CU_ASSERT_EQUAL_FATAL(cpus_bind(&one, &error), 0);
	}
	after = process_migrations("/proc/self/task");
	CU_ASSERT_EQUAL(cpus_bind(&allowed, &error), 0);
	CU_ASSERT(after >= before + 7);
}

static const struct suite_test tests[] = {
	{"a number is found by its whole name", reads_numbers_by_name},
	{"moves between CPUs are counted, or said not to be", counts_migrations},
};

SUITE_MAIN("common process", tests)
