/*
 * upstream: the server behind the measured one, to which its handlers `proxy` and `cache` pass
 * requests on.
 *
 * It is a second `weir serve` of each sample, which speaks HTTP/1.1 without TLS over the loopback
 * and waits by sleeping; always the runner's own program, whatever serves, so that it is the same
 * for every cell.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_UPSTREAM_H
#define WEIR_RUN_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

struct judge;

struct upstream {
	bool wanted;	     /* else the experiment has none */
	const char *handler; /* lent by the experiment's JSON, or static */
	uint32_t response_bytes;
	unsigned workers;
};

/* Judges "upstream", and fills that of the experiment. */
void upstream_judge(const struct judge *judge);

#endif
