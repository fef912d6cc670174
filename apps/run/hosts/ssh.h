/*
 * ssh: OpenSSH's client as a process that is talked to.
 *
 * Never asks a person (BatchMode), never waits for ever (ConnectTimeout, ServerAliveInterval),
 * never shares a connection with others, and dies with the runner. The shell on the other side gets
 * one text; what callers put into it are words of letters, digits and ._/+- or what they have
 * quoted.
 *
 * Owned by the caller from start to close. Plane: setup.
 */
#ifndef WEIR_RUN_SSH_H
#define WEIR_RUN_SSH_H

#include "apps/run/sample/interrupt.h"
#include "dataplane/transport/transport.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SSH_ARGUMENTS_MAX = 40,
	SSH_SAID_BYTES = 400,
	SSH_PORT_BYTES = 12,
	SSH_FAILED = 255, /* ssh's own exit status */
};

/* Where to, as the experiment says. All lent. */
struct ssh_target {
	const char *destination; /* user@host; does not begin with '-' */
	unsigned port;		 /* 0: as ssh is configured; so the next two if NULL */
	const char *identity;
	const char *config;
};

/* The argument list, ended by NULL. */
struct ssh_argv {
	const char *of[SSH_ARGUMENTS_MAX];
	unsigned count;
	char port[SSH_PORT_BYTES];
};

/* One running ssh. */
struct ssh {
	pid_t pid; /* 0: none */
	int in;	   /* its stdin, for us to write; -1 if closed or a file */
	int out;
	int err;
	char said[SSH_SAID_BYTES]; /* the end of what came on stderr, lines joined by "; " */
};

/*
 * Fills `argv_out`, which must not move, for `command` there; both are lent until it is not used.
 */
void ssh_argv_make(const struct ssh_target *target, const char *command, struct ssh_argv *argv_out);

/*
 * Starts it. Its stdin is `input_fd`, or a pipe from us if that is -1. 0, or negative errno with
 * `error` filled; -ENOENT if there is no ssh.
 */
int ssh_start(const struct ssh_target *target, const char *command, int input_fd, struct ssh *ssh,
	      struct tp_error *error);

/*
 * Reads up to `bytes`, or up to and with the first line's end if `line`, until `deadline_ns`
 * (CLOCK_MONOTONIC). How many came: fewer at the end of its output; or -ETIMEDOUT, -EINTR. For a
 * line, which is then ended by a NUL in place of its end, one byte more is needed.
 */
ssize_t ssh_read(struct ssh *ssh, char *data, size_t bytes, bool line, uint64_t deadline_ns,
		 struct interrupt *interrupt);

/* Writes a text. 0 or negative errno. */
int ssh_write(const struct ssh *ssh, const char *text);

/*
 * Closes its stdin and waits for its end until `deadline_ns`, then kills it. Its exit status, or
 * -ETIMEDOUT, or -EINTR. What it still says is kept in `said`.
 */
int ssh_close(struct ssh *ssh, uint64_t deadline_ns, struct interrupt *interrupt);

/*
 * All in one: runs `command`, the output in `out` (ended by a NUL, the rest dropped). Its exit
 * status, or negative errno with `said` filled all the same.
 */
int ssh_run(const struct ssh_target *target, const char *command, int input_fd, char *out,
	    size_t out_bytes, uint64_t within_ns, struct interrupt *interrupt,
	    char said[SSH_SAID_BYTES]);

#endif
