#include "apps/run/store/ground.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct ground_wish any;

static bool exists(const char *path)
{
	struct stat about;

	return lstat(path, &about) == 0;
}

static bool is_listed(const struct leftover *list, unsigned count, const char *what)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(list[i].what, what) == 0)
			return true;
	return false;
}

static bool is_left(const char *what)
{
	struct leftover list[LEFTOVER_MAX];

	return is_listed(list, leftover_list(list), what);
}

static void taken_and_given_back(void)
{
	struct tp_error error;
	struct ground ground, other;

	CU_ASSERT_EQUAL_FATAL(ground_take(&ground, &any, &error), 0);
	CU_ASSERT_EQUAL_FATAL(ground_take(&other, &any, &error), 0);
	CU_ASSERT_EQUAL(strlen(ground.run_id), 8);
	CU_ASSERT_EQUAL(strspn(ground.run_id, "0123456789abcdef"), 8);
	CU_ASSERT_STRING_NOT_EQUAL(ground.run_id, other.run_id);
	CU_ASSERT_PTR_NOT_NULL(strstr(ground.folder, ground.run_id));
	CU_ASSERT_TRUE(exists(ground.folder));
	CU_ASSERT(ground.port && ground.upstream_port && ground.port != ground.upstream_port);
	CU_ASSERT_FALSE(is_left(ground.folder)); /* its runner lives */
	ground_give_back(&ground);
	ground_give_back(&other);
	CU_ASSERT_FALSE(exists(ground.folder));
}

/* A port that is wished for the upstream is not found for the server as well, or the other way. */
static void no_port_is_both(void)
{
	struct ground_wish wish = {.run_id = NULL};
	struct ground first, ground;

	ground_pretend(&first, &any);
	wish.upstream_port = first.port;
	ground_pretend(&ground, &wish);
	CU_ASSERT_EQUAL(ground.upstream_port, first.port);
	CU_ASSERT(ground.port && ground.port != ground.upstream_port);
	wish = (struct ground_wish){.port = first.upstream_port};
	ground_pretend(&ground, &wish);
	CU_ASSERT_EQUAL(ground.port, first.upstream_port);
	CU_ASSERT(ground.upstream_port && ground.port != ground.upstream_port);
}

/* A process takes ground, makes a folder and a file in it, and is killed. */
static void leave(struct ground *ground)
{
	int pipe_fds[2], status;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(pipe_fds), 0);
	pid = fork();
	if (pid == 0) {
		struct tp_error error;
		char path[128];

		if (ground_take(ground, &any, &error) < 0)
			_exit(1);
		snprintf(path, sizeof(path), "%s/deep", ground->folder);
		mkdir(path, 0700);
		snprintf(path, sizeof(path), "%s/deep/file", ground->folder);
		close(open(path, O_CREAT | O_WRONLY, 0600));
		(void)!write(pipe_fds[1], ground, sizeof(*ground));
		pause();
		_exit(1);
	}
	CU_ASSERT_EQUAL_FATAL(read(pipe_fds[0], ground, sizeof(*ground)), (ssize_t)sizeof(*ground));
	kill(pid, SIGKILL);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void what_a_killed_run_left_is_removed(void)
{
	struct leftover removed[LEFTOVER_MAX];
	struct ground ground;
	unsigned count;

	leave(&ground);
	CU_ASSERT_TRUE(is_left(ground.folder));
	count = leftover_remove(removed);
	CU_ASSERT_TRUE(is_listed(removed, count, ground.folder));
	for (unsigned i = 0; i < count; i++)
		if (strcmp(removed[i].what, ground.folder) == 0)
			CU_ASSERT_STRING_EQUAL(removed[i].run_id, ground.run_id);
	CU_ASSERT_FALSE(exists(ground.folder));
}

static void an_id_is_taken_again_once_it_is_free(void)
{
	struct leftover removed[LEFTOVER_MAX];
	struct ground ground, again, third;
	struct ground_wish same = {0};
	struct tp_error error;

	leave(&ground);
	same.run_id = ground.run_id;
	leftover_remove(removed);
	CU_ASSERT_EQUAL_FATAL(ground_take(&again, &same, &error), 0);
	CU_ASSERT_STRING_EQUAL(again.folder, ground.folder);
	CU_ASSERT_EQUAL(ground_take(&third, &same, &error), -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, ground.folder));
	ground_give_back(&again);
}

static void names_that_are_no_run_stay(void)
{
	static const char *const names[] = {"/tmp/weir-run-1234567", "/tmp/weir-run-0123456789",
					    "/tmp/weir-run-ABCDEF01"};
	struct leftover removed[LEFTOVER_MAX];

	for (unsigned i = 0; i < 3; i++)
		(void)!mkdir(names[i], 0700);
	leftover_remove(removed);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(rmdir(names[i]), 0);
}

static const struct suite_test tests[] = {
	{"ground has an id of its own and is gone when it is given back", taken_and_given_back},
	{"what a killed run left is removed, and told by its run id",
	 what_a_killed_run_left_is_removed},
	{"an id is taken again once it is free, and not before",
	 an_id_is_taken_again_once_it_is_free},
	{"a server and its upstream never have one port", no_port_is_both},
	{"folders that are no run's stay", names_that_are_no_run_stay},
};

SUITE_MAIN("run ground", tests)
