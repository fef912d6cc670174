/*
 * cache_rules: which requests a shared cache may answer, and which answers it may keep (RFC 9111).
 *
 * Simple and on the safe side: whatever says that it may depend on anything but host and target, or
 * is somebody's own, is passed on and not kept.
 *
 * Plane: turn.
 */
#ifndef WEIR_HANDLERS_CACHE_RULES_H
#define WEIR_HANDLERS_CACHE_RULES_H

#include "dataplane/pipeline/exchange.h"
#include "dataplane/handlers/fields.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a kept answer will do for the request: GET or HEAD, without a body, Authorization, a
 * Range or condition, and without Cache-Control or Pragma.
 */
bool cache_may_answer(const struct request *request);

/* Writes what an answer is kept under: the host, in lower case, and the target as it is sent. */
void cache_put_key(const struct request *request, struct fields_text *text);

/*
 * How long an answer to a GET may be kept from now on, ns, and how old it is already, seconds. 0
 * ns: not at all. `ttl_ns` is for answers that name no lifetime. Of what contradicts itself or can
 * not be read, the worst is taken.
 */
uint64_t cache_lifetime_ns(const struct http1_response *response, uint64_t ttl_ns,
			   uint64_t *age_seconds_out);

#endif
