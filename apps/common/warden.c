#include "apps/common/warden.h"

#include "dataplane/core/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT_START = 126 };

/* What it watches over. */
struct work {
	pid_t pid;
	bool ended;
	int status; /* of waitpid, once ended */
};

/* Takes in who has ended: the work, or an orphan of it. False if nobody is left. */
static bool reap(struct work *work)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != work->pid)
			continue;
		work->ended = true;
		work->status = status;
	}
	return pid == 0;
}

/* Waits for a SIGCHLD, or a SIGTERM where it is `awaited`, no longer than until the deadline. */
static int await(const sigset_t *awaited, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t left_ns = now_ns < deadline_ns ? deadline_ns - now_ns : 0;
	const struct timespec left = {.tv_sec = (time_t)(left_ns / CLOCK_SECOND_NS),
				      .tv_nsec = (long)(left_ns % CLOCK_SECOND_NS)};

	return sigtimedwait(awaited, NULL, &left);
}

/* The parent of a process; 0 if it is gone. Its name, in parentheses, may have any letters. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512], *behind;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	behind = strrchr(text, ')');
	return behind && sscanf(behind, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Kills its children. */
static void kill_children(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	pid_t self = getpid();

	while (processes && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == self)
			kill((pid_t)atoi(entry->d_name), SIGKILL);
	if (processes)
		closedir(processes);
}

/* Kills all that descends from it: the children of those that die become its own. */
static void kill_all(struct work *work)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (reap(work)) {
		kill_children();
		await(&child, clock_monotonic_ns() + CLOCK_SECOND_NS / 10);
	}
}

/*
 * Ends the work. It is SIGCHLD alone that is waited for: who is asked to end a second time gives no
 * less time for it.
 */
static void end_work(struct work *work)
{
	uint64_t deadline_ns = clock_monotonic_ns() + WARDEN_GRACE_MS * (CLOCK_SECOND_NS / 1000);
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	kill(-work->pid, SIGTERM);
	while (reap(work) && !work->ended && clock_monotonic_ns() < deadline_ns)
		await(&child, deadline_ns);
	kill_all(work);
}

/* Exits as the work did. */
static _Noreturn void exit_like(int status)
{
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Until the work has ended, by itself or at a SIGTERM. */
static _Noreturn void watch_over(struct work *work, const sigset_t *awaited)
{
	int got;

	while (reap(work) && !work->ended) {
		got = sigwaitinfo(awaited, NULL);
		if (got == SIGTERM)
			end_work(work);
	}
	exit_like(work->status);
}

void warden_stay(int report)
{
	struct work work = {.pid = -1};
	sigset_t awaited, none;
	pid_t self = getpid();

	sigemptyset(&none);
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	work.pid = fork();
	if (work.pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(CANNOT_START);
		sigprocmask(SIG_SETMASK, &none, NULL);
		return;
	}
	close(report);
	if (work.pid < 0)
		_exit(CANNOT_START);
	setpgid(work.pid, work.pid);
	watch_over(&work, &awaited);
}
