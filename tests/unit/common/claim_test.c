#include "apps/common/claim.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static void begin(void)
{
	snprintf(folder, sizeof(folder), "/tmp/weir-claim-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static void end(void)
{
	claim_remove(folder, ".lock");
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* A process that claims a name and then only lives. */
static pid_t start_owner(const char *name)
{
	struct tp_error error;
	int ready[2];
	pid_t pid;
	char byte;

	CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		bool taken = claim_take(folder, name, &error) >= 0;

		if (!taken || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	CU_ASSERT_EQUAL_FATAL(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void kill_owner(pid_t pid)
{
	CU_ASSERT_EQUAL(kill(pid, SIGKILL), 0);
	CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
}

static void is_there_while_held(void)
{
	struct tp_error error;
	struct claim claim;
	int fd;

	begin();
	CU_ASSERT_EQUAL(claim_look(folder, "one").state, CLAIM_NONE);
	fd = claim_take(folder, "one", &error);
	CU_ASSERT_FATAL(fd >= 0);
	claim = claim_look(folder, "one");
	CU_ASSERT_EQUAL(claim.state, CLAIM_HELD);
	CU_ASSERT_EQUAL(claim.pid, getpid());
	claim_drop(folder, "one", fd);
	CU_ASSERT_EQUAL(claim_look(folder, "one").state, CLAIM_NONE);
	end();
}

static void is_refused_to_a_second(void)
{
	struct tp_error error;
	char pid_text[32];
	pid_t owner;

	begin();
	owner = start_owner("one");
	snprintf(pid_text, sizeof(pid_text), "(pid %d)", (int)owner);
	CU_ASSERT_EQUAL(claim_take(folder, "one", &error), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, pid_text));
	CU_ASSERT_EQUAL(claim_look(folder, "one").state, CLAIM_HELD);
	kill_owner(owner);
	claim_remove(folder, "one");
	end();
}

static void is_stale_when_its_owner_is_dead(void)
{
	struct tp_error error;
	struct claim claim;
	pid_t owner;
	int fd;

	begin();
	owner = start_owner("one");
	kill_owner(owner);
	claim = claim_look(folder, "one");
	CU_ASSERT_EQUAL(claim.state, CLAIM_STALE);
	CU_ASSERT_EQUAL(claim.pid, owner);
	fd = claim_take(folder, "one", &error);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(claim_look(folder, "one").pid, getpid());
	claim_drop(folder, "one", fd);
	end();
}

/* The file says the id of a process that lives, but that process has no lock on it. */
static void is_stale_though_its_pid_lives(void)
{
	char path[128];
	FILE *file;

	begin();
	snprintf(path, sizeof(path), "%s/one", folder);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fprintf(file, "pid %d\n", (int)getpid());
	fclose(file);
	CU_ASSERT_EQUAL(claim_look(folder, "one").state, CLAIM_STALE);
	claim_remove(folder, "one");
	end();
}

static void list_has_the_prefix(void)
{
	struct claim list[8];
	struct tp_error error;
	pid_t owner;
	int held, other;

	begin();
	owner = start_owner("veth-dead");
	kill_owner(owner);
	held = claim_take(folder, "veth-live", &error);
	other = claim_take(folder, "else", &error);
	CU_ASSERT_EQUAL_FATAL(claim_list(folder, "veth-", list, 8), 2);
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(list[i].state,
				strcmp(list[i].name, "veth-dead") == 0 ? CLAIM_STALE : CLAIM_HELD);
	CU_ASSERT_EQUAL(claim_list(folder, "veth-", list, 1), 1);
	claim_drop(folder, "veth-live", held);
	claim_drop(folder, "else", other);
	claim_remove(folder, "veth-dead");
	CU_ASSERT_EQUAL(claim_list(folder, "", list, 8), 0);
	CU_ASSERT_EQUAL(claim_list("/nowhere/at/all", "", list, 8), 0);
	end();
}

/* Puts into the folder what may share its names, but is no claim. */
static void make_strangers(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char path[128];

	snprintf(path, sizeof(path), "%s/veth-fifo", folder);
	CU_ASSERT_EQUAL(mkfifo(path, 0644), 0);
	snprintf(path, sizeof(path), "%s/veth-folder", folder);
	CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/veth-link", folder);
	CU_ASSERT_EQUAL(symlink("veth-true", path), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/veth-socket", folder);
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

/* A FIFO that nobody writes would hold its opener: the alarm ends a test that hangs. */
static void others_are_left_alone(void)
{
	static const char *const names[] = {"veth-fifo", "veth-folder", "veth-link", "veth-socket"};
	struct claim list[8];
	struct tp_error error;
	struct stat status;
	char path[128];
	int held;

	begin();
	make_strangers();
	held = claim_take(folder, "veth-true", &error);
	alarm(30);
	CU_ASSERT_EQUAL_FATAL(claim_list(folder, "veth-", list, 8), 1);
	CU_ASSERT_STRING_EQUAL(list[0].name, "veth-true");
	for (unsigned i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(claim_look(folder, names[i]).state, CLAIM_NONE);
		CU_ASSERT(claim_take(folder, names[i], &error) < 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, names[i]));
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		CU_ASSERT_EQUAL(lstat(path, &status), 0);
		CU_ASSERT_EQUAL(remove(path), 0);
	}
	alarm(0);
	claim_drop(folder, "veth-true", held);
	end();
}

static void lock_makes_its_folder(void)
{
	struct tp_error error;
	int fd;

	begin();
	CU_ASSERT_EQUAL(rmdir(folder), 0);
	fd = claim_lock(folder, &error);
	CU_ASSERT(fd >= 0);
	close(fd);
	fd = claim_lock(folder, &error);
	CU_ASSERT(fd >= 0);
	close(fd);
	CU_ASSERT(claim_lock("/nowhere/at/all", &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/nowhere/at/all"));
	end();
}

static const struct suite_test tests[] = {
	{"a claim is held by its pid until it is dropped", is_there_while_held},
	{"a second owner is refused with the first one's pid", is_refused_to_a_second},
	{"a claim whose owner was killed is stale, and can be taken",
	 is_stale_when_its_owner_is_dead},
	{"a pid used anew does not make a stale claim look held", is_stale_though_its_pid_lives},
	{"a list has what has the prefix and a claim, up to its room", list_has_the_prefix},
	{"a FIFO, a directory, a link and a socket are no claims, and are left alone",
	 others_are_left_alone},
	{"the folder is made when it is locked, and unlocked by close", lock_makes_its_folder},
};

SUITE_MAIN("common claim", tests)
