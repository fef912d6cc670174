/*
 * agent: what a runner starts on another host, through ssh, to act there in its name.
 *
 * `weir agent run` carries out one process: the first line on its stdin is a request, an object in
 * JSON with program, argv, env, folder and make; each line behind it is an order:
 *
 *	signal N	to the process alone
 *	kill N		to the process and all that it started
 *	beat		the runner is alive
 *
 * The process writes to the agent's own stdout and stderr. How it ended is the agent's exit status.
 * `weir agent keep` holds the run's folder there and answers requests, a line of JSON each, by a
 * line of JSON, which for some is followed by as many bytes as its member "bytes" says.
 *
 * Either ends when its stdin does, or when no line has come for a while: then the runner, the
 * connection or the host between is gone. The one kills its process, the other removes the folder,
 * so that nothing is left there.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_AGENT_H
#define WEIR_AGENT_H

#include "dataplane/core/clock.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>

/* Without a line for so long the runner is gone. */
#define AGENT_RUN_SILENCE_NS (30 * CLOCK_SECOND_NS)
#define AGENT_KEEP_SILENCE_NS (600 * CLOCK_SECOND_NS)

/* Folders of runs that nobody holds are removed; those without a lock file only if so old. */
enum { AGENT_STALE_S = 600 };

enum {
	AGENT_LINE_BYTES = 256 * 1024,
	AGENT_FILE_BYTES_MAX = 64 * 1024 * 1024,
};

/* Exit statuses of `weir agent run`; ssh itself has 255. */
enum {
	AGENT_STATUS_MOST = 150, /* the process's own, larger ones cut to this */
	AGENT_SIGNAL_BASE = 160, /* plus the signal that killed the process */
	AGENT_SIGNAL_MOST = 224,
	AGENT_REFUSED = 240,  /* nothing was started; why is on stderr */
	AGENT_ORPHANED = 241, /* the runner was gone, the process was killed */
};

/* The name of every folder of a run on another host begins like this. */
#define AGENT_FOLDER_PREFIX "weir-agent-"

/* What waitpid gave, as an exit status. */
static inline int agent_status_of(int wait_status)
{
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;

	if (WIFSIGNALED(wait_status))
		return AGENT_SIGNAL_BASE + WTERMSIG(wait_status);
	return status > AGENT_STATUS_MOST ? AGENT_STATUS_MOST : status;
}

/*
 * What waitpid gave there, from the exit status that ssh passed on. False if it says nothing of the
 * process: it was not started, or what became of it is not known.
 */
static inline bool agent_wait_status(int status, int *wait_status_out)
{
	if (status <= AGENT_STATUS_MOST)
		*wait_status_out = status << 8;
	else if (status > AGENT_SIGNAL_BASE && status <= AGENT_SIGNAL_MOST)
		*wait_status_out = status - AGENT_SIGNAL_BASE;
	else
		return false;
	return true;
}

/* Lines on stdin, as they come. */
struct agent_lines {
	size_t used;  /* bytes in `data` */
	size_t given; /* bytes of it that the last line took, its end included */
	char data[AGENT_LINE_BYTES];
};

/*
 * Waits for a line, at most `silence_ns`, or until `also_fd` (-1: none) can be read. 1 with the
 * line in `line_out`, lent until the next call; 0 if it was the other; -1 if there will be no more.
 */
int agent_next_line(struct agent_lines *lines, int also_fd, uint64_t silence_ns, char **line_out);

/*
 * Whether a folder may be held, and so removed at the end: it has a run's name, is a folder of our
 * own user's that nobody else may enter, and the program that asks was copied into it.
 */
bool agent_is_own_folder(const char *path);

/* Removes what runs left beside `folder` that nobody holds any more. */
void agent_sweep(const char *folder);

/* Carries out one process; the exit status. */
int agent_run(void);

/* Holds `folder` and answers; the exit status. */
int agent_keep(const char *folder);

#endif
