#include "apps/run/store/lock.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static char folder[64], path[96];

/* A folder that every user may look into, and the name of a lock in it. */
static void begin(void)
{
	strcpy(folder, "/tmp/weir-lock-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	CU_ASSERT_EQUAL_FATAL(chmod(folder, 0755), 0);
	snprintf(path, sizeof(path), "%s/lock", folder);
}

static void end(void)
{
	unlink(path);
	rmdir(folder);
}

static void one_holds_it_and_is_named(void)
{
	struct tp_error error;
	char pid[32];
	int held, again;

	begin();
	snprintf(pid, sizeof(pid), "pid %d, mine", (int)getpid());
	held = lock_take(path, "mine", &error);
	CU_ASSERT_FATAL(held >= 0);
	CU_ASSERT_EQUAL(lock_take(path, "another's", &error), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, pid));
	close(held);
	again = lock_take(path, "another's", &error);
	CU_ASSERT(again >= 0);
	close(again);
	end();
}

/* Takes it as a user who does not own it; the exit status says how that went. */
static int take_as_nobody(void)
{
	struct tp_error error;
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(9);
		_exit(lock_take(path, "nobody's", &error) >= 0 ? 0 : 1);
	}
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static void every_user_may_hold_it(void)
{
	mode_t mask = umask(077);
	struct tp_error error;
	struct stat about;
	int held;

	begin();
	held = lock_take(path, "mine", &error);
	umask(mask);
	CU_ASSERT_FATAL(held >= 0);
	CU_ASSERT_EQUAL(fstat(held, &about), 0);
	CU_ASSERT_EQUAL(about.st_mode & 0777, 0666);
	CU_ASSERT_EQUAL(take_as_nobody(), 1);
	close(held);
	CU_ASSERT_EQUAL(take_as_nobody(), 0);
	end();
}

static void reading_is_enough(void)
{
	int fd;

	begin();
	fd = open(path, O_RDWR | O_CREAT, 0444);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(fchmod(fd, 0444), 0);
	close(fd);
	CU_ASSERT_EQUAL(take_as_nobody(), 0);
	end();
}

static void a_link_is_not_followed(void)
{
	struct tp_error error;

	begin();
	CU_ASSERT_EQUAL_FATAL(symlink("/dev/null", path), 0);
	CU_ASSERT_EQUAL(lock_take(path, "mine", &error), -ELOOP);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "--lock names another file"));
	end();
}

static void a_second_name_is_not_written_to(void)
{
	struct tp_error error;
	char other[112];
	int fd;

	begin();
	snprintf(other, sizeof(other), "%s/other", folder);
	fd = open(other, O_RDWR | O_CREAT, 0644);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(link(other, path), 0);
	CU_ASSERT_EQUAL(lock_take(path, "mine", &error), -EEXIST);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_END), 0);
	close(fd);
	unlink(other);
	end();
}

/* As a user may make it who can only be read from: opening it would wait for a writer. */
static void a_fifo_is_not_waited_for(void)
{
	begin();
	CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0444), 0);
	CU_ASSERT_EQUAL(chmod(path, 0444), 0);
	CU_ASSERT_EQUAL(take_as_nobody(), 1);
	end();
}

/* Each user's own would let two measure at once; so it is where everybody may make one. */
static void the_default_is_the_same_for_everybody(void)
{
	struct stat about;
	char parent[64];

	snprintf(parent, sizeof(parent), "%s", lock_default_path());
	*strrchr(parent, '/') = '\0';
	CU_ASSERT_STRING_EQUAL(parent, "/tmp");
	CU_ASSERT_EQUAL_FATAL(stat(parent, &about), 0);
	CU_ASSERT_EQUAL(about.st_mode & 01777, 01777);
}

static const struct suite_test tests[] = {
	{"one holds the lock and the next is told who", one_holds_it_and_is_named},
	{"every user may hold a lock that one of them made", every_user_may_hold_it},
	{"a lock that may only be read can be held", reading_is_enough},
	{"a symbolic link in the lock's place is refused", a_link_is_not_followed},
	{"a file that has another name beside the lock's is not written to",
	 a_second_name_is_not_written_to},
	{"a FIFO in the lock's place is refused without waiting", a_fifo_is_not_waited_for},
	{"the default is one place that every user may lock",
	 the_default_is_the_same_for_everybody},
};

SUITE_MAIN("run lock", tests)
