#include "apps/common/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ORPHANED = 127 }; /* exit status of one that was never to be */

void spawn_settle(pid_t parent, const struct spawn_ends *ends)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(ORPHANED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(ends->in >= 0 ? ends->in : open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	if (ends->out >= 0)
		dup2(ends->out, STDOUT_FILENO);
	if (ends->err >= 0)
		dup2(ends->err, STDERR_FILENO);
}
