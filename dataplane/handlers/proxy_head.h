/*
 * proxy_head: heads as a proxy passes them on (RFC 9110 section 7.6).
 *
 * What concerns one connection alone stays there: Connection and whatever it names, Keep-Alive, TE,
 * Trailer, Transfer-Encoding, Upgrade, Expect and Proxy-*. How the body is framed is said anew by
 * whoever sends it. Via is added, Date is the origin's. Each field is compared with each member of
 * Connection, so those may have PROXY_CONNECTION_BYTES together; for more there is no room.
 *
 * Plane: turn.
 */
#ifndef WEIR_HANDLERS_PROXY_HEAD_H
#define WEIR_HANDLERS_PROXY_HEAD_H

#include "dataplane/pipeline/exchange.h"
#include "dataplane/handlers/fields.h"

#include <stdbool.h>

enum { PROXY_CONNECTION_BYTES = 512 };

/* Writes the target as an upstream gets it. */
void proxy_head_target(const struct request *request, struct fields_text *text);

/* Writes a request's whole head; text.full says that there was no room. */
void proxy_head_request(const struct request *request, struct fields_text *text);

/*
 * Writes a response's fields but for those of its framing, and those named in `but`, ended by NULL.
 */
void proxy_head_fields(const struct http1_response *response, const char *const *but,
		       struct fields_text *text);

/*
 * The response's own Date, lent as its field is, where it has one of HTTP1_DATE_BYTES; else `ours`
 * (RFC 9110 section 6.6.1).
 */
const char *proxy_head_date(const struct http1_response *response, const char *ours);

#endif
