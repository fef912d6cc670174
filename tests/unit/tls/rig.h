/*
 * rig: TLS over the memory stack for the tests of this folder, in the way of the conformance suite.
 *
 * A test says what each side is to be before world_open; a plain side is the bare memory stack, at
 * whose end a foreign peer or raw bytes may stand.
 */
#ifndef WEIR_TESTS_TLS_RIG_H
#define WEIR_TESTS_TLS_RIG_H

#include "dataplane/tls/tls.h"
#include "tests/conformance/world.h"

#include <stdbool.h>

struct rig_side {
	struct tls_config config;
	bool plain;
	bool in_crumbs;	     /* the lower transport lends what was received in small spans */
	uint32_t conns_more; /* the lower transport has more connections than TLS, by so many */
};

extern struct rig_side rig_server, rig_client;

/* Both sides as they usually are: any version, tickets, the client takes any certificate. */
void rig_reset(void);

/* Opens another server where the pair's was closed, and lets it listen; 0 or a negative errno. */
int rig_reopen_server(struct rig_pair *pair, const struct tp_limits *limits);

/* Opens another client beside the pair's, which stays open and is the caller's now. */
int rig_reopen_client(struct rig_pair *pair, const struct tp_limits *limits);

/* What was consumed of lower transports that lend in crumbs. */
extern uint64_t rig_consumed_bytes;

/* One of a TLS instance's details, by its name without "tls_". */
uint64_t rig_detail(const struct tp *tp, const char *name);

/* Turns the world until a TLS instance's detail is at least `value`; whether it came in time. */
bool rig_until(struct world *world, const struct tp *tp, const char *name, uint64_t value);

#endif
