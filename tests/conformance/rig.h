/*
 * rig: how the conformance suite gets at a stack.
 *
 * One program a stack: the suite's sources plus one file that defines rig_open and rig_close. A
 * pair is a server and a client instance that can reach each other, both used from the test's
 * thread.
 */
#ifndef WEIR_TESTS_RIG_H
#define WEIR_TESTS_RIG_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>

struct rig_pair {
	struct tp *server;
	struct tp *client;
	struct tp_addr addr;   /* a free one that the server side may listen on */
	struct tp_addr nobody; /* one on the server side where nobody listens */
	void *shared;	       /* the rig's own */
};

/* The stack's name, for the suite's title. */
extern const char rig_name[];

/*
 * Whether an abort reaches the peer as a reset. Unix sockets know none: the peer sees an end, and a
 * reset only if it had sent what was never read.
 */
extern const bool rig_resets;

/*
 * Whether what is committed is sealed on its way. Then the wire carries more bytes than were
 * committed, and a connection's beginning and its end are writes too.
 */
extern const bool rig_seals;

/*
 * Opens a pair, each side with its limits. 0; 1 if the host lacks something, with the reason in
 * `error`; negative errno if it failed.
 */
int rig_open(const struct tp_limits *server, const struct tp_limits *client,
	     struct rig_pair *pair_out, struct tp_error *error);

/* Closes what is open of the pair (NULL instances are closed already) and frees the rest. */
void rig_close(struct rig_pair *pair);

#endif
