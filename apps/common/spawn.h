/*
 * spawn: what a new process does between fork and exec, whatever it becomes.
 *
 * Every program that is started here leads a process group of its own, so that a Ctrl-C at the
 * terminal reaches this process alone; it is killed when this process dies; it has no signal
 * blocked and SIGPIPE as it was; and what it reads and writes is said by whoever starts it.
 *
 * Plane: setup, main thread.
 */
#ifndef WEIR_APPS_SPAWN_H
#define WEIR_APPS_SPAWN_H

#include <sys/types.h>

/* What its standard streams are; -1: nothing to read, and what this process writes to. */
struct spawn_ends {
	int in, out, err;
};

/*
 * To be called first in the new process; `parent` is what getpid() said before the fork. Does not
 * return if the parent has died in the meantime.
 */
void spawn_settle(pid_t parent, const struct spawn_ends *ends);

#endif
