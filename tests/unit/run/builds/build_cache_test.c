#include "apps/run/builds/build_cache.h"
#include "apps/common/tree.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[64];
static char cache[PATH_MAX]; /* as build_cache_open says it */
static struct interrupt none = {.fd = -1};

static const char *in_cache(const char *name, char path[128])
{
	snprintf(path, 128, "%s/cache/%s", top, name);
	return path;
}

static void set_up(void)
{
	strcpy(top, "/tmp/weir-cache-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(tree_remove(top), 0);
}

static int open_cache(struct tp_error *error)
{
	char path[128];

	return build_cache_open(in_cache("", path), &none, cache, error);
}

static void make_folder(const char *name)
{
	char path[128];

	CU_ASSERT_EQUAL_FATAL(tree_make(in_cache(name, path), 0700), 0);
}

/* A file that is kept open. */
static int make_file(const char *name)
{
	char path[128];
	int fd = open(in_cache(name, path), O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

static bool is_there(const char *name)
{
	char path[128];
	struct stat about;

	return lstat(in_cache(name, path), &about) == 0;
}

static void a_strangers_folder_is_refused(void)
{
	struct tp_error error;

	set_up();
	make_folder("myapp/build");
	make_folder("0123456789ab-0123456789ab/build");
	CU_ASSERT_EQUAL(open_cache(&error), -ENOTEMPTY);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "is not weir's"));
	CU_ASSERT(is_there("myapp/build"));
	CU_ASSERT(is_there("0123456789ab-0123456789ab/build"));
	CU_ASSERT_FALSE(is_there("0123456789ab-0123456789ab/lock"));
	CU_ASSERT_FALSE(is_there(".gitignore"));
	CU_ASSERT_FALSE(is_there(BUILD_CACHE_MARKER));
	tear_down();
}

static void a_link_is_no_marker(void)
{
	struct tp_error error;
	char path[128];

	set_up();
	make_folder("myapp");
	CU_ASSERT_EQUAL(symlink("/dev/null", in_cache(BUILD_CACHE_MARKER, path)), 0);
	CU_ASSERT_EQUAL(open_cache(&error), -ENOTEMPTY);
	CU_ASSERT(is_there("myapp"));
	tear_down();
}

static void an_empty_folder_becomes_a_cache(void)
{
	struct tp_error error;

	set_up();
	make_folder("");
	CU_ASSERT_EQUAL(open_cache(&error), 0);
	CU_ASSERT(is_there(BUILD_CACHE_MARKER));
	CU_ASSERT(is_there(".gitignore"));
	CU_ASSERT_EQUAL(open_cache(&error), 0);
	tear_down();
}

static void only_entries_are_swept(void)
{
	static const char *const kept[] = {
		"myapp/build",
		"0123456789ab-0123456789abc/build",
		"0123456789ab-0123456789aB/build",
		"0123456789ab_0123456789ab/build",
		"scratch-of-mine/build",
		"../elsewhere/build",
	};
	struct tp_error error;
	char path[128];

	set_up();
	CU_ASSERT_EQUAL_FATAL(open_cache(&error), 0);
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		make_folder(kept[i]);
	make_folder("0123456789ab-0123456789ab/build");
	make_folder("0123456789ab-0123456789ab/tree/.git");
	CU_ASSERT_EQUAL(symlink("../elsewhere", in_cache("fedcba987654-0123456789ab", path)), 0);
	CU_ASSERT_EQUAL(symlink("../elsewhere", in_cache("scratch-abcdef", path)), 0);
	CU_ASSERT_EQUAL(open_cache(&error), 0);
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		CU_ASSERT(is_there(kept[i]));
	CU_ASSERT_FALSE(is_there("0123456789ab-0123456789ab/build"));
	CU_ASSERT_FALSE(is_there("0123456789ab-0123456789ab/tree"));
	tear_down();
}

static void what_is_held_stays(void)
{
	struct tp_error error;
	int entry, scratch;

	set_up();
	CU_ASSERT_EQUAL_FATAL(open_cache(&error), 0);
	make_folder("0123456789ab-0123456789ab/build");
	entry = make_file("0123456789ab-0123456789ab/lock");
	CU_ASSERT_EQUAL(flock(entry, LOCK_EX), 0);
	/* its name is no number of a living process; another host or container may have made it */
	make_folder("scratch-999999/objects");
	scratch = make_file("scratch-999999/lock");
	CU_ASSERT_EQUAL(flock(scratch, LOCK_EX), 0);
	make_folder("scratch-XyzXyz");
	CU_ASSERT_EQUAL(open_cache(&error), 0);
	CU_ASSERT(is_there("0123456789ab-0123456789ab/build"));
	CU_ASSERT(is_there("scratch-999999/objects"));
	CU_ASSERT_FALSE(is_there("scratch-XyzXyz"));
	close(entry);
	close(scratch);
	CU_ASSERT_EQUAL(open_cache(&error), 0);
	CU_ASSERT_FALSE(is_there("0123456789ab-0123456789ab/build"));
	CU_ASSERT_FALSE(is_there("scratch-999999"));
	tear_down();
}

static void scratch_is_the_takers_until_it_dies(void)
{
	struct build_scratch scratch = {.path = ""}, other = {.path = ""};
	struct tp_error error;
	int fds[2];
	char path[PATH_MAX] = "";
	pid_t pid;

	set_up();
	CU_ASSERT_EQUAL_FATAL(open_cache(&error), 0);
	CU_ASSERT_EQUAL(build_scratch_take(&scratch, cache, &none, &error), 0);
	CU_ASSERT_EQUAL(build_scratch_take(&other, cache, &none, &error), 0);
	CU_ASSERT_NOT_EQUAL(strcmp(scratch.path, other.path), 0);
	build_scratch_give_back(&other);
	build_scratch_give_back(&other);
	CU_ASSERT_EQUAL(open_cache(&error), 0);
	CU_ASSERT_EQUAL(access(scratch.path, F_OK), 0);
	build_scratch_give_back(&scratch);

	CU_ASSERT_EQUAL_FATAL(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		if (build_scratch_take(&scratch, cache, &none, &error) < 0 ||
		    write(fds[1], scratch.path, PATH_MAX) != PATH_MAX)
			_exit(1);
		pause();
	}
	CU_ASSERT_EQUAL(read(fds[0], path, PATH_MAX), PATH_MAX);
	CU_ASSERT_EQUAL(open_cache(&error), 0);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CU_ASSERT_EQUAL(open_cache(&error), 0);
	CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
	close(fds[0]);
	close(fds[1]);
	tear_down();
}

static const struct suite_test tests[] = {
	{"a folder that has other things in it and no marker is refused and left as it is",
	 a_strangers_folder_is_refused},
	{"a link in the marker's place marks nothing", a_link_is_no_marker},
	{"an empty folder becomes a cache that git does not see", an_empty_folder_becomes_a_cache},
	{"nothing but entries and scratch folders is swept, and no link is followed",
	 only_entries_are_swept},
	{"what somebody holds is not swept, whoever it is", what_is_held_stays},
	{"a scratch folder is its taker's until that gives it back or dies",
	 scratch_is_the_takers_until_it_dies},
};

SUITE_MAIN("run build_cache", tests)
