/*
 * child: a process that the runner started and will see the end of.
 *
 * It leads a process group of its own, so that a Ctrl-C at the terminal reaches the runner alone
 * and a kill reaches all that the child started; the kernel kills it if the runner dies. Its
 * standard output and error come in through pipes and go to one log. Standard input is empty, the
 * environment is what the caller says.
 *
 * A far child is one on another host: the process here is the ssh to an agent there (apps/agent),
 * which is told on its standard input what to start and which signals to send, and whose exit
 * status says how the child ended.
 *
 * Owned by the caller from start to close; legal order: start, { serve, signal }* until ended,
 * close.
 */
#ifndef WEIR_RUN_CHILD_H
#define WEIR_RUN_CHILD_H

#include "apps/run/sample/log.h"
#include "dataplane/transport/transport.h"

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_FDS = 3 };

struct child {
	const char *name; /* static, for messages: "the server" */
	pid_t pid;	  /* 0 if never started */
	int pidfd;
	int fds[CHILD_FDS - 1]; /* read ends of output and error; -1 once at their end */
	struct log_stream streams[CHILD_FDS - 1];
	struct log log;
	int input;	  /* where an agent listens; -1 for a child here */
	bool far;	  /* on another host */
	uint64_t beat_ns; /* when an agent last heard of us */
	bool stopped;	  /* by a signal, at least once, whether it has gone on or not */
	bool ended;
	bool lost;  /* ended, but what became of the process there is not known */
	int status; /* of waitpid, once ended and not lost */
};

struct child_spec {
	const char *name;    /* static */
	const char *program; /* what is executed, e.g. "/proc/self/exe" */
	const json_t *argv;  /* texts */
	const json_t *env;   /* NAME: text; all that it gets; NULL: what the runner has */
	const char *folder;  /* working directory */
	const char *input;   /* of a far child: what its agent is told first; else NULL */
	const char *log_path;
	void (*on_line)(void *user,
			const char *line); /* for its output, not its errors; may be NULL */
	void *user;
};

/* 0; or negative errno with `error` filled and nothing to close. */
int child_start(struct child *child, const struct child_spec *spec, struct tp_error *error);

/* What poll(2) is to watch for this child. */
void child_fill(const struct child *child, struct pollfd fds[CHILD_FDS]);

/* Takes in what poll found. After the end, all that was still in the pipes has been read. */
void child_serve(struct child *child, const struct pollfd fds[CHILD_FDS]);

/* To the whole process group. Harmless if it never started or has ended. */
void child_signal(const struct child *child, int signal_number);

/* To the process alone, not to what it started; likewise harmless. */
void child_ask(const struct child *child, int signal_number);

/* Ends a far child's connection: the agent there kills it. One here is killed. */
void child_cut(const struct child *child);

/* Whether it ended by itself with status 0. */
bool child_succeeded(const struct child *child);

/* How it ended: "was killed by signal 9 (Killed)", "ended with status 3". */
void child_describe_end(const struct child *child, char *text, size_t text_bytes);

/*
 * Closes pipes and log. The child must have ended (CHECK). 0, or why its log is not whole (negative
 * errno).
 */
int child_close(struct child *child);

#endif
