/*
 * gateway: a proxy, the client before it and the upstream behind it.
 */
#ifndef WEIR_TESTS_HANDLERS_GATEWAY_H
#define WEIR_TESTS_HANDLERS_GATEWAY_H

#include "tests/unit/handlers/hand.h"

#include <stdbool.h>

enum { PORT = 80, FIRST = 8001, SECOND = 8002 };

extern struct hand hand;
extern struct hand_end *client, *upstream;

/* Opens the net with the proxy, whose upstreams are still to come, and a client. */
void open_proxy(const char *spec);

/* The same with an upstream in the test's hand; `options` stand behind its address. */
void open_by_hand(const char *options);

/* Sends a request, which the upstream then has; its latest connection is `upstream`. */
bool ask(const char *request);

/* Awaits the client's response; its code. */
unsigned status(void);

void turn(unsigned times);

/* Turns until the client's connection is over; whether it was reset. */
bool was_broken(void);

/* The proxy's. */
const struct server_counters *counters(void);

#endif
