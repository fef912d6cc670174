#include "apps/run/analyse.h"

#include "apps/common/exit.h"
#include "apps/report/analysis.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long an analysis that was asked to end may take: 5 s. */
enum { STEP_MS = 100, END_STEPS = 50 };

/*
 * Waits for the analysis; an interrupt ends it, and what would not be ended is killed. Its exit
 * status, or -1.
 */
static int await(pid_t pid, struct interrupt *interrupt)
{
	struct pollfd signals = {.fd = interrupt->fd, .events = POLLIN};
	unsigned patience = END_STEPS;
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		if (interrupt_check(interrupt)) {
			kill(pid, patience > 0 ? SIGTERM : SIGKILL);
			patience -= patience > 0;
			signals.fd = -1;
		}
		poll(&signals, 1, STEP_MS);
	}
	interrupt_check(interrupt); /* Ctrl-C at a terminal is the analysis's too */
	return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In the child: ends with the runner, and takes signals as programs do. */
static void become(const char *program, const char *module, const char *const *arguments,
		   pid_t runner)
{
	struct tp_error error;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != runner)
		_exit(EXIT_USAGE); /* it ended before it was asked for */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	analysis_exec(module, arguments, &error);
	_exit(exit_with(EXIT_USAGE, program, &error));
}

int analyse(const char *program, const char *module, const char *const *arguments,
	    struct interrupt *interrupt)
{
	pid_t runner = getpid(), pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		become(program, module, arguments, runner);
	return pid < 0 ? -1 : await(pid, interrupt);
}

int analyse_to_judge(const char *program, const char *module, const char *const *arguments,
		     struct interrupt *interrupt)
{
	int status = analyse(program, module, arguments, interrupt);

	if (status >= 0)
		return status;
	fprintf(stderr, "%s: analysis.%s did not end by itself; the result is whole all the same\n",
		program, module);
	return EXIT_USAGE;
}
