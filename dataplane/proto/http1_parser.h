/*
 * http1_parser: two ways to hand a request's head on, behind one interface.
 *
 * `views` leaves everything where it was received (http1.h). `owned` is the experiment's control:
 * it copies the target and every field's name and value into memory of its own, one allocation
 * each, as a parser does whose result outlives its buffer. Both accept and reject the same bytes.
 *
 * Plane: turn; `owned` allocates there, which is what it is for.
 */
#ifndef WEIR_PROTO_HTTP1_PARSER_H
#define WEIR_PROTO_HTTP1_PARSER_H

#include "dataplane/proto/http1.h"

struct http1_parser {
	const char *name;
	bool copies; /* each head is to be paid for, also one that is known */
	/* As http1_parse_request; adds to `allocations` each one it made. */
	enum http1_status (*parse)(const uint8_t *bytes, size_t available,
				   const struct http1_limits *limits, struct http1_scan *scan,
				   struct http1_request *request_out, size_t *head_bytes_out,
				   uint64_t *allocations);
	/* Gives back what parse took; once for each HTTP1_OK. */
	void (*release)(struct http1_request *request);
};

extern const struct http1_parser http1_parser_views;
extern const struct http1_parser http1_parser_owned;

/* "views" or "owned"; NULL for any other name. */
const struct http1_parser *http1_parser_find(const char *name);

#endif
