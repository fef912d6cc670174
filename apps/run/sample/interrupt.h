/*
 * interrupt: Ctrl-C and its kin as something to poll for.
 *
 * SIGINT, SIGTERM and SIGHUP are blocked and read from a descriptor, so that they end what is being
 * done at a place where it can be ended, and nothing else is cut short.
 *
 * Plane: setup. One a process.
 */
#ifndef WEIR_RUN_INTERRUPT_H
#define WEIR_RUN_INTERRUPT_H

struct interrupt {
	int fd;
	int signal_number; /* the first that came; 0 if none did */
};

/* 0 or negative errno. */
int interrupt_open(struct interrupt *interrupt);

/* Sees whether a signal came. Does not block. The signal's number, or 0. */
int interrupt_check(struct interrupt *interrupt);

/* Waits until this process has the file's lock (flock). 0, -EINTR if a signal came, or another
 * negative errno. */
int interrupt_lock(struct interrupt *interrupt, int fd);

#endif
