#include "dataplane/core/program.h"

#include "tests/support/suite.h"

#include <sys/prctl.h>
#include <unistd.h>

static void own_program_is_named(void)
{
	char name[PROGRAM_NAME];

	prctl(PR_SET_NAME, "a name");
	CU_ASSERT_STRING_EQUAL(program_name(getpid(), name), "a name");
}

static void nobody_has_no_name(void)
{
	char name[PROGRAM_NAME];

	CU_ASSERT_STRING_EQUAL(program_name(0, name), "?");
}

static const struct suite_test tests[] = {
	{"a process's program is named as the kernel does", own_program_is_named},
	{"a process that is not there has the name ?", nobody_has_no_name},
};

SUITE_MAIN("program", tests)
