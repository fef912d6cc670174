/*
 * http1_feed: heads of HTTP/1.1 fed in every way that must not matter.
 *
 * A text is parsed whole, then a byte at a time, then in two parts cut at every place, with every
 * way to scan that this CPU has; each time its last byte is the last of a page behind which nothing
 * may be read. All must agree with each other, for each beginning of the text as well.
 */
#ifndef WEIR_TESTS_HTTP1_FEED_H
#define WEIR_TESTS_HTTP1_FEED_H

#include "dataplane/proto/http1.h"

/* What parsing came to: the views are checked by their text, for the bytes are moved. */
struct http1_fed {
	enum http1_status status;
	size_t head_bytes;
	struct http1_scan scan;
	union {
		struct http1_request request;
		struct http1_response response;
	};
};

typedef void http1_parse_function(const uint8_t *bytes, size_t available,
				  const struct http1_limits *limits, struct http1_fed *fed);

/* Adapters: parse on from fed->scan. */
http1_parse_function http1_feed_request, http1_feed_response;

extern const struct http1_limits http1_feed_limits; /* the defaults */

/* The names of the ways to scan, ended by NULL. */
extern const char *const http1_feed_ways[];

/*
 * `bytes` of `text`, copied so that they end a page; valid until the next call. At most 64 KiB.
 */
const uint8_t *http1_feed_at_border(const void *text, size_t bytes);

/* Feeds it in all ways and returns what parsing it whole came to. */
const struct http1_fed *http1_feed(http1_parse_function *parse, const void *text, size_t bytes,
				   const struct http1_limits *limits);

#endif
