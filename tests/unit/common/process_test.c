#include "apps/common/process.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void reads_numbers_by_name(void)
{
	char path[] = "/tmp/weir-process-XXXXXX";
	static const char text[] = "Page:\t7 kB\nPages: 12\nName:\tweir\n";
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	CU_ASSERT_EQUAL(process_read_number(path, "Page"), 7);
	CU_ASSERT_EQUAL(process_read_number(path, "Pages"), 12);
	CU_ASSERT_EQUAL(process_read_number(path, "Pag"), -1);
	CU_ASSERT_EQUAL(process_read_number(path, "Name"), -1);
	close(fd);
	unlink(path);
	CU_ASSERT_EQUAL(process_read_number(path, "Page"), -1);
}

static const struct suite_test tests[] = {
	{"a number is found by its whole name", reads_numbers_by_name},
};

SUITE_MAIN("common process", tests)
