/*
 * readiness: whether a ready line is that of the server which the runner started.
 *
 * The server gets a random word in its environment and says it again in its ready line, so that a
 * line from anything else that writes to the same stream, or from an earlier run's log, is never
 * taken for it. Servers of older commits do not know the word; they are known by their process id.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_READINESS_H
#define WEIR_RUN_READINESS_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

enum { READINESS_NONCE_BYTES = 33 };

/* 32 random hexadecimal digits; "" if the host has no random bytes. */
void readiness_make_nonce(char nonce[READINESS_NONCE_BYTES]);

/* The environment with the nonce in it; a new reference. */
json_t *readiness_env(const json_t *env, const char *nonce);

/*
 * Whether the JSON behind `ready` is an object that has the nonce; or has none, as in older
 * commits, and `pid` for its own. A `pid` of 0 is not asked for.
 */
bool readiness_accept(const char *json, const char *nonce, pid_t pid);

#endif
