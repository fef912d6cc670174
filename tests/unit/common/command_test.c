#include "apps/common/command.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static int run(const char *script, const char *input, char said[COMMAND_SAID_BYTES])
{
	const char *argv[] = {"sh", "-c", script, NULL};

	return command_run(argv, input, said);
}

static void reads_its_input(void)
{
	char said[COMMAND_SAID_BYTES];

	CU_ASSERT_EQUAL(run("read one && read two && test \"$one$two\" = ab", "a\nb\n", said), 0);
	CU_ASSERT_EQUAL(run("read one", "", said), -EIO);
}

static void quotes_what_a_failure_said(void)
{
	char said[COMMAND_SAID_BYTES];

	CU_ASSERT_EQUAL(run("echo shown; echo first >&2; echo; echo second >&2; exit 3", "", said),
			-EIO);
	CU_ASSERT_STRING_EQUAL(said, "first; second");
}

static void says_how_a_silent_one_ended(void)
{
	char said[COMMAND_SAID_BYTES];

	CU_ASSERT_EQUAL(run("exit 3", "", said), -EIO);
	CU_ASSERT_STRING_EQUAL(said, "ended with status 3");
	CU_ASSERT_EQUAL(run("kill -9 $$", "", said), -EIO);
	CU_ASSERT_STRING_EQUAL(said, "ended by signal 9 (Killed)");
}

static void keeps_the_beginning_of_much_talk(void)
{
	char said[COMMAND_SAID_BYTES];
	const char *script = "i=0; while [ $i -lt 20000 ]; do echo 0123456789 >&2; "
			     "i=$((i + 1)); done; exit 1";

	CU_ASSERT_EQUAL(run(script, "", said), -EIO);
	CU_ASSERT_EQUAL(strncmp(said, "0123456789; 0123456789; ", 24), 0);
	CU_ASSERT(strlen(said) < sizeof(said));
}

static void knows_an_absent_program(void)
{
	const char *argv[] = {"weir-no-such-program", NULL};
	char said[COMMAND_SAID_BYTES];

	CU_ASSERT_EQUAL(command_run(argv, "", said), -ENOENT);
	CU_ASSERT_STRING_EQUAL(said, "No such file or directory");
}

static const struct suite_test tests[] = {
	{"a program reads the input and then its end", reads_its_input},
	{"what a program that fails said on stderr becomes one line", quotes_what_a_failure_said},
	{"of a program that fails in silence it is said how", says_how_a_silent_one_ended},
	{"of much talk the beginning is kept", keeps_the_beginning_of_much_talk},
	{"an absent program is told from one that fails", knows_an_absent_program},
};

SUITE_MAIN("common command", tests)
