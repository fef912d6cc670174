#include "apps/common/command.h"
#include "apps/common/tree.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOON_MS = 30 * 1000 };

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

/* A shell's script as a command. */
#define SCRIPT(text) ((const char *const[]){"sh", "-c", text, NULL})

static void gives_what_is_said_on_stdout(void)
{
	struct command command = {.argv = SCRIPT("pwd; echo \"$HOME\"; echo no >&2"),
				  .folder = "/usr",
				  .env = (char *const[]){"HOME=/nowhere", NULL}};
	char said[COMMAND_SAID_BYTES], output[32];

	CU_ASSERT_EQUAL(command_read(&command, output, sizeof(output), said), 0);
	CU_ASSERT_STRING_EQUAL(output, "/usr\n/nowhere\n");
	CU_ASSERT_EQUAL(command_read(&command, output, 14, said), -EFBIG);
	CU_ASSERT_STRING_EQUAL(output, "");
	CU_ASSERT_EQUAL(command_read(&command, output, 15, said), 0);
	command.argv = SCRIPT("echo half; echo why >&2; exit 1");
	CU_ASSERT_EQUAL(command_read(&command, output, sizeof(output), said), -EIO);
	CU_ASSERT_STRING_EQUAL(said, "why");
	CU_ASSERT_STRING_EQUAL(output, "");
}

static void knows_an_absent_folder(void)
{
	struct command command = {.argv = SCRIPT("exit 0"), .folder = "/nowhere/at/all"};
	char said[COMMAND_SAID_BYTES], output[8];

	CU_ASSERT_EQUAL(command_read(&command, output, sizeof(output), said), -ENOENT);
}

/* Reads a small file. */
static void read_file(const char *path, char text[64])
{
	FILE *file = fopen(path, "r");
	size_t bytes = file ? fread(text, 1, 63, file) : 0;

	text[bytes] = '\0';
	if (file)
		fclose(file);
}

static void writes_stdout_to_a_file_and_work_to_a_log(void)
{
	struct command command = {.argv = SCRIPT("echo out; echo err >&2; exit 4")};
	char path[] = "/tmp/weir-command-XXXXXX", said[COMMAND_SAID_BYTES], text[64];

	close(mkstemp(path));
	CU_ASSERT_EQUAL(command_write(&command, path, said), -EIO);
	CU_ASSERT_STRING_EQUAL(said, "err");
	read_file(path, text);
	CU_ASSERT_STRING_EQUAL(text, "out\n");
	CU_ASSERT_EQUAL(command_work(&command, path, -1, said), -EIO);
	CU_ASSERT_STRING_EQUAL(said, "ended with status 4");
	read_file(path, text);
	CU_ASSERT_STRING_EQUAL(text, "out\nout\nerr\n");
	command.argv = SCRIPT("exit 0");
	CU_ASSERT_EQUAL(command_work(&command, path, -1, said), 0);
	unlink(path);
}

/*
 * The script and a process that it starts hold the pipe's end open, so that its reader sees the end
 * only when both are gone.
 */
static const char lasting[] = "sleep 600 & echo going; wait";

static void work_that_is_to_stop_ends_with_all_it_started(void)
{
	struct command command = {.argv = SCRIPT(lasting)};
	char path[] = "/tmp/weir-command-XXXXXX", said[COMMAND_SAID_BYTES], log[64], text[64];
	int stop[2], fifo;
	pid_t pid;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
	snprintf(log, sizeof(log), "%s/log", path);
	CU_ASSERT_EQUAL_FATAL(mkfifo(log, 0600), 0);
	fifo = open(log, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CU_ASSERT_EQUAL_FATAL(pipe2(stop, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		poll(&(struct pollfd){.fd = fifo, .events = POLLIN}, 1, -1);
		_exit(write(stop[1], "!", 1) != 1);
	}
	CU_ASSERT_EQUAL(command_work(&command, log, stop[0], said), -EINTR);
	waitpid(pid, NULL, 0);
	fcntl(fifo, F_SETFL, 0);
	while (read(fifo, text, sizeof(text)) > 0)
		;
	CU_ASSERT_EQUAL(read(fifo, text, sizeof(text)), 0);
	close(fifo);
	close(stop[0]);
	close(stop[1]);
	unlink(log);
	rmdir(path);
}

/* Reads what comes within the time that even a slow host takes; the bytes, 0 at the end. */
static ssize_t read_soon(int fd, char *text, size_t room)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};

	return poll(&wanted, 1, SOON_MS) == 1 ? read(fd, text, room - 1) : -1;
}

/* Whether all of its writers are gone soon. */
static bool ends_soon(int fd)
{
	char text[64];
	ssize_t got;

	while ((got = read_soon(fd, text, sizeof(text))) > 0)
		;
	return got == 0;
}

/* Work in a process of its own, which is killed once the work has begun. */
struct killed {
	char folder[32], log[64];
	int fifo; /* the log's reading end */
};

static void start_and_kill(struct killed *killed, const char *script)
{
	struct command command = {.argv = SCRIPT(script)};
	char said[COMMAND_SAID_BYTES], text[64];
	pid_t pid;

	strcpy(killed->folder, "/tmp/weir-command-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(killed->folder));
	snprintf(killed->log, sizeof(killed->log), "%s/log", killed->folder);
	CU_ASSERT_EQUAL_FATAL(mkfifo(killed->log, 0600), 0);
	command.folder = killed->folder;
	pid = fork();
	if (pid == 0)
		_exit(command_work(&command, killed->log, -1, said) != 0);
	killed->fifo = open(killed->log, O_RDONLY | O_CLOEXEC);
	CU_ASSERT(read_soon(killed->fifo, text, sizeof(text)) > 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void forget(struct killed *killed)
{
	close(killed->fifo);
	tree_remove(killed->folder);
}

static void work_ends_when_the_one_that_wanted_it_is_killed(void)
{
	struct killed killed;

	start_and_kill(&killed, lasting);
	CU_ASSERT(ends_soon(killed.fifo));
	forget(&killed);
}

static void work_in_groups_of_its_own_ends_too(void)
{
	/* the shell dies of the signal and leaves what is in another session and ignores it */
	static const char script[] =
		"trap '' TERM; setsid sh -c 'echo going; sleep 600' & trap - TERM; wait";
	struct killed killed;

	start_and_kill(&killed, script);
	CU_ASSERT(ends_soon(killed.fifo));
	forget(&killed);
}

static void work_may_pass_on_that_it_is_to_end(void)
{
	static const char script[] =
		"mkfifo leave; trap 'echo asked; read line <leave; echo tidied; exit' TERM\n"
		"echo going; while :; do sleep 600 & wait; done";
	struct killed killed;
	char text[64] = "", leave[64];
	int fd;

	start_and_kill(&killed, script);
	snprintf(leave, sizeof(leave), "%s/leave", killed.folder);
	fd = open(leave, O_RDWR | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(read_soon(killed.fifo, text, sizeof(text)), 6);
	CU_ASSERT_EQUAL(memcmp(text, "asked\n", 6), 0);
	CU_ASSERT_EQUAL(write(fd, "go\n", 3), 3);
	CU_ASSERT_EQUAL(read_soon(killed.fifo, text, sizeof(text)), 7);
	CU_ASSERT_EQUAL(memcmp(text, "tidied\n", 7), 0);
	CU_ASSERT(ends_soon(killed.fifo));
	close(fd);
	forget(&killed);
}

static void a_short_program_dies_with_the_one_that_wanted_it(void)
{
	/* the caller has the signals of ending blocked, as the runner has */
	int fds[2];
	char text[8], script[64], said[COMMAND_SAID_BYTES];
	sigset_t ending;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(fds), 0);
	snprintf(script, sizeof(script), "echo going >&%d; exec sleep 600", fds[1]);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		sigemptyset(&ending);
		sigaddset(&ending, SIGTERM);
		sigaddset(&ending, SIGINT);
		sigprocmask(SIG_BLOCK, &ending, NULL);
		_exit(run(script, "", said) != 0);
	}
	close(fds[1]);
	CU_ASSERT(read_soon(fds[0], text, sizeof(text)) > 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CU_ASSERT(ends_soon(fds[0]));
	close(fds[0]);
}

static void a_program_has_no_signal_blocked_and_a_group_of_its_own(void)
{
	struct command command = {
		.argv = SCRIPT("grep SigBlk /proc/self/status; ps -o pgid= -p $$")};
	char said[COMMAND_SAID_BYTES], output[128], blocked[32];
	sigset_t ending, before;
	int group = 0;

	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigprocmask(SIG_BLOCK, &ending, &before);
	CU_ASSERT_EQUAL(command_read(&command, output, sizeof(output), said), 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	CU_ASSERT_EQUAL(sscanf(output, "SigBlk: %31s %d", blocked, &group), 2);
	CU_ASSERT_STRING_EQUAL(blocked, "0000000000000000");
	CU_ASSERT_NOT_EQUAL(group, getpgrp());
}

static const struct suite_test tests[] = {
	{"a program reads the input and then its end", reads_its_input},
	{"what a program that fails said on stderr becomes one line", quotes_what_a_failure_said},
	{"of a program that fails in silence it is said how", says_how_a_silent_one_ended},
	{"of much talk the beginning is kept", keeps_the_beginning_of_much_talk},
	{"an absent program is told from one that fails", knows_an_absent_program},
	{"what a program says on stdout is given whole or not at all",
	 gives_what_is_said_on_stdout},
	{"a program has no folder to run in that is not there", knows_an_absent_folder},
	{"stdout goes to a file, and all that work says to its log",
	 writes_stdout_to_a_file_and_work_to_a_log},
	{"work that is to stop ends with all that it started",
	 work_that_is_to_stop_ends_with_all_it_started},
	{"work ends when the one that wanted it is killed",
	 work_ends_when_the_one_that_wanted_it_is_killed},
	{"so does what of it is in process groups of its own", work_in_groups_of_its_own_ends_too},
	{"work that is to end gets the time to pass that on", work_may_pass_on_that_it_is_to_end},
	{"a short program dies with the one that wanted it, though signals are blocked there",
	 a_short_program_dies_with_the_one_that_wanted_it},
	{"a program has no signal blocked and a process group of its own",
	 a_program_has_no_signal_blocked_and_a_group_of_its_own},
};

SUITE_MAIN("common command", tests)
