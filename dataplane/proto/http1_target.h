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

#endif
