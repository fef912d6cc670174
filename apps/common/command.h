/*
 * command: another program, run to its end.
 *
 * For tools that do at setup what would take much code of our own, e.g. `ip`. What the program says
 * on stderr is kept, so that an error can quote it; what it says on stdout is dropped. It inherits
 * the signal mask: where the caller has blocked the signals of ending, a Ctrl-C does not break the
 * program off in the middle of its work.
 *
 * Plane: setup, main thread.
 */
#ifndef WEIR_APPS_COMMAND_H
#define WEIR_APPS_COMMAND_H

enum {
	COMMAND_INPUT_BYTES = 4096, /* of input at most, end included */
	COMMAND_SAID_BYTES = 256,
};

/*
 * Runs argv[0], found through PATH, with `input` on its stdin; argv is ended by NULL. 0 if its exit
 * status was 0; -ENOENT if there is no such program; -EIO if it failed, with what it said, line
 * ends as "; ", in `said_out`; or another negative errno if it could not be started. Where the
 * program said nothing, `said_out` says what is known.
 */
int command_run(const char *const *argv, const char *input, char said_out[COMMAND_SAID_BYTES]);

#endif
