#include "apps/run/autogroup.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char path[] = "/proc/self/autogroup";

struct group {
	char name[64];
	int nice;
};

static struct group own_group(void)
{
	struct group group = {.name = ""};
	FILE *file = fopen(path, "r");

	if (file && fscanf(file, "%63s nice %d", group.name, &group.nice) != 2)
		group.name[0] = '\0';
	if (file)
		fclose(file);
	return group;
}

/*
 * Runs `body` in a process of its own, which leads a session, so that the group of whoever runs the
 * tests stays as it is. Its result: how many of its expectations failed.
 */
static int run_in_session(int (*body)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		_exit(body());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* The group of a child that first did `what`. */
static struct group child_group(pid_t (*what)(void))
{
	struct group group = {.name = ""};
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		return group;
	pid = fork();
	if (pid == 0) {
		what();
		group = own_group();
		_exit(write(ends[1], &group, sizeof(group)) == sizeof(group) ? 0 : 1);
	}
	close(ends[1]);
	if (read(ends[0], &group, sizeof(group)) != sizeof(group))
		group.name[0] = '\0';
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return group;
}

static pid_t lead_processes(void)
{
	return setpgid(0, 0);
}

/* The folder of a test, and what was written down in it. */
static void remove_note(const char *folder)
{
	char note[64];

	snprintf(note, sizeof(note), "%s/autogroup", folder);
	unlink(note);
	rmdir(folder);
}

/* As a runner that is killed would leave it; another process then puts it back. */
static int raise_and_be_killed(void)
{
	char folder[] = "/tmp/weir-test-XXXXXX";
	int failed = !mkdtemp(folder), status = 1;
	pid_t pid = fork();

	if (pid == 0) {
		json_t *facts = json_object();

		_exit(autogroup_raise(folder, facts) != 0);
	}
	waitpid(pid, &status, 0);
	failed += status != 0 || own_group().nice != AUTOGROUP_NICE;
	pid = fork();
	if (pid == 0) {
		setsid();
		_exit(autogroup_settle(folder) != 0 || own_group().nice != 0);
	}
	waitpid(pid, &status, 0);
	failed += status != 0 || own_group().nice != 0;
	remove_note(folder);
	return failed;
}

static int raise_and_restore(void)
{
	json_t *facts = json_object();
	char folder[] = "/tmp/weir-test-XXXXXX";
	int failed = !mkdtemp(folder) || autogroup_raise(folder, facts) != 0;

	failed += own_group().nice != AUTOGROUP_NICE;
	failed += !json_is_true(json_object_get(facts, "raised"));
	failed += json_integer_value(json_object_get(facts, "nice_before")) != 0;
	failed += json_integer_value(json_object_get(facts, "nice")) != AUTOGROUP_NICE;
	failed += strcmp(json_string_value(json_object_get(facts, "group")), own_group().name) != 0;
	failed += !json_is_boolean(json_object_get(facts, "in_effect"));
	failed += autogroup_restore(facts) != 0;
	failed += own_group().nice != 0;
	remove_note(folder);
	json_decref(facts);
	return failed;
}

static int start_children(void)
{
	json_t *facts = json_object();
	char folder[] = "/tmp/weir-test-XXXXXX";
	int failed = !mkdtemp(folder) || autogroup_raise(folder, facts) != 0;
	struct group own = own_group(), member = child_group(lead_processes);
	struct group leader = child_group(setsid);

	failed += strcmp(member.name, own.name) != 0 || member.nice != AUTOGROUP_NICE;
	failed += strcmp(leader.name, own.name) == 0 || leader.nice != 0;
	remove_note(folder);
	json_decref(facts);
	return failed;
}

static int raise_without_right(void)
{
	json_t *facts = json_object();
	char folder[] = "/tmp/weir-test-XXXXXX";
	int failed = setresuid(65534, 65534, 65534) != 0;

	failed += !mkdtemp(folder) || autogroup_raise(folder, facts) == 0;
	failed += !json_is_false(json_object_get(facts, "raised"));
	failed += !json_is_string(json_object_get(facts, "raised_reason"));
	failed += own_group().nice != 0;
	failed += autogroup_restore(facts) != 0;
	remove_note(folder);
	json_decref(facts);
	return failed;
}

/* Whether this host lets us try; else the test is skipped. */
static int may_try(void)
{
	if (own_group().name[0] && geteuid() == 0)
		return 1;
	suite_skip("needs root and a kernel with autogroups");
	return 0;
}

static void what_a_killed_runner_left_is_put_back(void)
{
	if (may_try())
		CU_ASSERT_EQUAL(run_in_session(raise_and_be_killed), 0);
}

static void a_folder_without_a_note_is_none_of_ours(void)
{
	CU_ASSERT_EQUAL(autogroup_settle("/nonexistent"), 0);
}

static void raises_and_restores(void)
{
	if (may_try())
		CU_ASSERT_EQUAL(run_in_session(raise_and_restore), 0);
}

static void reaches_children(void)
{
	if (may_try())
		CU_ASSERT_EQUAL(run_in_session(start_children), 0);
}

static void says_why_not(void)
{
	if (may_try())
		CU_ASSERT_EQUAL(run_in_session(raise_without_right), 0);
}

static const struct suite_test tests[] = {
	{"what a killed runner's session was is put back from another session",
	 what_a_killed_runner_left_is_put_back},
	{"where nothing was written down nothing is put back",
	 a_folder_without_a_note_is_none_of_ours},
	{"a group is raised, and put back", raises_and_restores},
	{"children have the runner's group unless they lead a session", reaches_children},
	{"who may not raise it is told why", says_why_not},
};

SUITE_MAIN("run autogroup", tests)
