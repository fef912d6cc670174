/*
 * command: another program, run to its end.
 *
 * For tools that do at setup what would take much code of our own, e.g. `ip`, git, a compiler.
 * There is no shell in between. What the program says on stderr is kept, so that an error can quote
 * it. It leads a process group of its own with no signal blocked (spawn.h): a Ctrl-C does not break
 * it off in the middle of its work, and if this process dies it is killed. command_work is for work
 * that may be broken off.
 *
 * Plane: setup, main thread.
 */
#ifndef WEIR_APPS_COMMAND_H
#define WEIR_APPS_COMMAND_H

#include <stddef.h>

enum {
	COMMAND_INPUT_BYTES = 4096, /* of input at most, end included */
	COMMAND_SAID_BYTES = 256,
};

/* What to run. Lent for the call. */
struct command {
	const char *const *argv; /* ended by NULL; argv[0] is found through PATH */
	const char *folder;	 /* where it runs; NULL: where this process stands */
	char *const *env;	 /* all that it gets, ended by NULL; NULL: what this process has */
};

/*
 * Runs argv[0], found through PATH, with `input` on its stdin; argv is ended by NULL. What it says
 * on stdout is dropped. 0 if its exit status was 0; -ENOENT if there is no such program, or no such
 * folder; -EIO if it failed, with what it said, line ends as "; ", in `said_out`; or another
 * negative errno if it could not be started. Where the program said nothing, `said_out` says what
 * is known.
 */
int command_run(const char *const *argv, const char *input, char said_out[COMMAND_SAID_BYTES]);

/*
 * The same with nothing on its stdin; what it says on stdout is in `output`, ended by a NUL.
 * -EFBIG if that has no room. "" on failure.
 */
int command_read(const struct command *command, char *output, size_t room,
		 char said_out[COMMAND_SAID_BYTES]);

/* The same, with what it says on stdout in a file, made or written over. */
int command_write(const struct command *command, const char *path,
		  char said_out[COMMAND_SAID_BYTES]);

/*
 * Long work: all that it says goes to the end of the log, so that `said_out` only tells how it
 * ended. A warden (warden.h) is left with it: when `stop_fd` becomes readable (-1: never) or this
 * process dies, the program and what it started get a SIGTERM and 10 s, and then whatever descends
 * from it is killed, process groups of its own included. Then -EINTR. The descriptor is not read.
 */
int command_work(const struct command *command, const char *log_path, int stop_fd,
		 char said_out[COMMAND_SAID_BYTES]);

#endif
