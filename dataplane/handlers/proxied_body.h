/*
 * proxied_body: the two bodies of a proxied exchange, passed on piece by piece.
 *
 * Plane: turn.
 */
#ifndef WEIR_HANDLERS_PROXIED_BODY_H
#define WEIR_HANDLERS_PROXIED_BODY_H

#include "dataplane/handlers/proxied.h"

/* Sends what there is of the request, as far as the upstream takes it. */
void proxied_send(struct proxied *proxied);

/* How passing on a response's body went. */
enum proxied_pass {
	PASS_WAIT,   /* for the upstream or the client */
	PASS_WHOLE,  /* all of it is passed on */
	PASS_BROKEN, /* it is malformed, or the upstream ended within it */
};

/*
 * Passes on what there is of the response's body, as far as the client takes it. Where the
 * upstream's connection is closed, this is the last time that anything can be read of it.
 */
enum proxied_pass proxied_pass(struct proxied *proxied);

#endif
