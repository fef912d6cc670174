/*
 * group: the listeners of several workers on one address, and plain clients that dial them.
 */
#ifndef WEIR_TESTS_GROUP_H
#define WEIR_TESTS_GROUP_H

#include "stacks/socket/socket.h"

enum { GROUP_WORKERS = 4, GROUP_CONNS = 64 };

struct group {
	struct tp_addr addr;
	struct socket_settings settings[GROUP_WORKERS];
	int listeners[GROUP_WORKERS]; /* -1: that worker does not listen */
	unsigned taken[GROUP_WORKERS];
	unsigned misled; /* connections that are not where the client's port leads */
};

/* Whether this host has a feature of kernel sockets. */
bool group_host_has(const char *feature);

/*
 * Makes listeners for workers that start one after the other. False, and skipped, without such
 * addresses.
 */
bool group_open(struct group *group, enum tp_family family, enum socket_steer steer);

/* Lets one worker listen again, on the group's address. */
void group_join(struct group *group, unsigned worker);

/* Ends one worker's listening. */
void group_leave(struct group *group, unsigned worker);

/* Ends that of all who still listen. */
void group_close(struct group *group);

/* Dials GROUP_CONNS connections, and counts anew who accepts how many of them; their sum. */
unsigned group_dial(struct group *group);

#endif
