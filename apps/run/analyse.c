#include "apps/run/analyse.h"

#include "apps/common/exit.h"
#include "apps/report/analysis.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
	    struct interrupt *interrupt, char why[ANALYSE_WHY_BYTES])
{
	pid_t runner = getpid(), pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		become(program, module, arguments, runner);
	if (pid < 0) {
		snprintf(why, ANALYSE_WHY_BYTES, "the analysis could not be begun: %s",
			 strerror(errno));
		return -1;
	}
	status = await(pid, interrupt);
	if (status >= EXIT_PASS && status <= EXIT_USAGE)
		return status;
	if (interrupt->signal_number)
		snprintf(why, ANALYSE_WHY_BYTES, "interrupted by SIG%s",
			 sigabbrev_np(interrupt->signal_number));
	else if (status < 0)
		snprintf(why, ANALYSE_WHY_BYTES, "the analysis was killed");
	else
		snprintf(why, ANALYSE_WHY_BYTES, "the analysis failed (status %d)", status);
	return -1;
}

int analyse_to_judge(const char *program, const char *module, const char *const *arguments,
		     struct interrupt *interrupt)
{
	char why[ANALYSE_WHY_BYTES];
	int status = analyse(program, module, arguments, interrupt, why);

	if (status >= 0)
		return status;
	fprintf(stderr, "%s: NOT JUDGED: %s; the result is whole all the same: `%s", program, why,
		program);
	for (; *arguments; arguments++)
		fprintf(stderr, " %s", *arguments);
	fprintf(stderr, "` judges it\n");
	return -1;
}
