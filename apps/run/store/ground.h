/*
 * ground: what a run takes from the host and gives back: an id, a private folder, two ports.
 *
 * The folder holds the socket files of stacks that need one, and a claim by which others see that
 * the runner lives. What runs before left when they were killed is known by its run id, and removed
 * by whoever takes ground next (leftover.h).
 *
 * Plane: setup, main thread.
 */
#ifndef WEIR_RUN_GROUND_H
#define WEIR_RUN_GROUND_H

#include "apps/run/store/leftover.h"
#include "dataplane/transport/transport.h"

enum { GROUND_FOLDER_BYTES = 64 }; /* short: a socket's path has at most 107 bytes */

struct ground {
	char folder[GROUND_FOLDER_BYTES];
	char run_id[RUN_ID_BYTES]; /* random: no other run on this host has it */
	uint16_t port;		   /* nobody on the loopback had it when it was chosen */
	uint16_t upstream_port;	   /* likewise, and another */
	int claim;		   /* on the folder, as long as the run lives */
};

/* What a run must have, as one that is gone on with; NULL and 0: any. */
struct ground_wish {
	const char *run_id;
	uint16_t port;
	uint16_t upstream_port;
};

/*
 * Makes the folder and finds the ports. 0; -EADDRINUSE naming the holder if the port is another's,
 * or another negative errno; with `error` filled.
 */
int ground_take(struct ground *ground, const struct ground_wish *wish, struct tp_error *error);

/* Names what ground_take might, and takes nothing. */
void ground_pretend(struct ground *ground, const struct ground_wish *wish);

/* Removes the folder and everything in it. */
void ground_give_back(const struct ground *ground);

#endif
