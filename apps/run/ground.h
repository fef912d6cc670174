/*
 * ground: what a run takes from the host for itself and gives back: a private folder and a port.
 *
 * The folder holds the socket files of stacks that need one. It carries the runner's process id, so
 * that folders which a killed runner left behind are known for what they are and removed by the
 * next. So are veth pairs, which servers make and a killed one leaves.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_GROUND_H
#define WEIR_RUN_GROUND_H

#include "dataplane/transport/transport.h"

enum { GROUND_FOLDER_BYTES = 64 }; /* short: a socket's path has at most 107 bytes */

struct ground {
	char folder[GROUND_FOLDER_BYTES];
	char run_id[16]; /* no other run on this host has it */
	uint16_t port;	 /* nobody on the loopback had it when it was chosen */
};

/*
 * Removes what dead runners and servers left, makes the folder, chooses the port. 0, or negative
 * errno with `error` filled.
 */
int ground_take(struct ground *ground, struct tp_error *error);

/* Names what ground_take would, and takes nothing. */
void ground_pretend(struct ground *ground);

/* Removes the folder and everything in it. */
void ground_give_back(const struct ground *ground);

#endif
