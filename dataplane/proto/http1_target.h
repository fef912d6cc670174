/*
 * http1_target: a request's target in its four forms (RFC 9112 section 3.2).
 *
 * Private to http1. Plane: turn.
 */
#ifndef WEIR_PROTO_HTTP1_TARGET_H
#define WEIR_PROTO_HTTP1_TARGET_H

#include "dataplane/proto/http1.h"

/*
 * Splits request->target, whose bytes are all of http1_set_target, into form, path, query and (of
 * absolute-form and authority-form) host; whether it is right for request->method.
 */
bool http1_split_target(struct http1_request *request);

/* Behind the port at `at` (a colon and at most five digits, 16 bits), or `at` if there is none. */
static inline const uint8_t *http1_skip_port(const uint8_t *at, const uint8_t *end)
{
	enum { PORT_BYTES_MAX = sizeof(":65535") - 1 };
	const uint8_t *digit, *behind = end - at > PORT_BYTES_MAX ? at + PORT_BYTES_MAX : end;
	unsigned port = 0;

	if (at == end || *at != ':')
		return at;
	for (digit = at + 1; digit < behind && *digit >= '0' && *digit <= '9'; digit++)
		port = port * 10 + (*digit - '0');
	return port <= UINT16_MAX ? digit : at;
}

#endif
