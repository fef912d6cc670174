/*
 * script: a scripted run of one stack against itself, and what must hold of it whatever fails.
 *
 * A client and a server instance, both in the test's thread, open several connections at once: with
 * data both ways in several sizes, more than the socket buffers hold, half-closes, aborts on each
 * side, a refused one, one that stays open until the server closes. In every run, whatever failed:
 * all ends within a deadline, each end has at most one CLOSED, no byte differs from what was sent,
 * an end in good order has moved all its bytes, and the counters balance.
 */
#ifndef WEIR_TESTS_SCRIPT_H
#define WEIR_TESTS_SCRIPT_H

#include "dataplane/transport/transport.h"
#include "tests/faults/inject.h"

#include <stdbool.h>
#include <stdint.h>

enum { SCRIPT_PAIRS = 11, SCRIPT_ENDS = 2 * SCRIPT_PAIRS };

struct script_config {
	const char *spec; /* the stack with its options */
	struct inject_fault fault;
	uint32_t shrink; /* divides the large amounts, for runs that move single bytes; 1: whole */
	bool is_traced;	 /* print what every end did */
};

/* One end of a connection and what it saw. */
struct script_end {
	struct tp_conn *conn; /* NULL: not begun, or over */
	unsigned pair;	      /* SCRIPT_PAIRS: not known yet */
	unsigned side;	      /* 0: client, 1: server */
	uint32_t sent;
	uint32_t received;
	unsigned bits;	 /* all that came */
	unsigned closed; /* how often CLOSED came */
	enum tp_reason reason;
	bool readable; /* told so, and not read to the end since */
	bool refused;  /* reserve refused, WRITABLE not seen since */
	bool ending;   /* finish or abort was called */
};

struct script_result {
	uint64_t struck; /* calls that were made to fail */
	bool is_absent;	 /* the stack is, on this host; `trouble` says why */
	bool is_unready; /* an instance could not be opened or cannot listen; `trouble` says why */
	char trouble[640]; /* the rule that was broken; "": none */
	/* Pairs that did not go as scripted, though by the rules; and the reasons seen there, as
	 * bits (1 << enum tp_reason). */
	unsigned strayed;
	unsigned strayed_reasons;
};

/* Runs the script once. */
void script_run(const struct script_config *config, struct script_result *result_out);

#endif
