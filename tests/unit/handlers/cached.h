/*
 * cached: a cache, the client before it and the upstream behind it.
 */
#ifndef WEIR_TESTS_HANDLERS_CACHED_H
#define WEIR_TESTS_HANDLERS_CACHED_H

#include "tests/unit/handlers/hand.h"

#include <stdbool.h>

enum { PORT = 80, UPSTREAM_PORT = 8001 };

extern struct hand hand;
extern struct hand_end *client, *upstream;

/* A request, and an answer to it. */
extern const char cached_plain[], cached_ok[];

void cached_turn(unsigned times);

/* Opens the net with a client, the cache, and a server behind it. */
void cached_open(const char *options, const char *upstream_handler);

/* The same with an upstream in the test's hand, and the cache as `spec` says. */
void cached_open_spec(const char *spec);

/* What names no lifetime is kept for a minute, unless the options say another time. */
void cached_open_by_hand(const char *options);

/* Whether a request has come to the upstream, whose latest connection is `upstream`. */
bool cached_asked(void);

/* Sends a request as the client and, should it be asked, answers it as the upstream. */
bool cached_asked_for(const char *request, const char *answer);

/* The cache's. */
const struct server_counters *cached_counters(void);

#endif
