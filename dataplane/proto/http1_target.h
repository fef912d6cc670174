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

/* Whether a host is a name up to `name_end`, and behind it nothing or a port. */
static inline bool http1_is_plain_host(struct span host, const uint8_t *name_end)
{
	enum { PORT_BYTES_MAX = sizeof(":65535") - 1 };
	const uint8_t *end = host.base + host.bytes, *at = name_end;
	unsigned port = 0;

	if (name_end == host.base || end - name_end > PORT_BYTES_MAX)
		return false;
	if (at < end && *at++ != ':')
		return false;
	while (at < end && *at >= '0' && *at <= '9')
		port = port * 10 + (*at++ - '0');
	return at == end && port <= UINT16_MAX;
}

#endif
