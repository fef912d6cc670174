/*
 * http1_judge: requests' heads held to what they have to come to, each fed in every way
 * (http1_feed.h).
 */
#ifndef WEIR_TESTS_HTTP1_JUDGE_H
#define WEIR_TESTS_HTTP1_JUDGE_H

#include "tests/unit/proto/http1_feed.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define END "\r\n"

struct http1_verdict {
	const char *text;
	enum http1_status status;
};

/* What a text comes to, with the default limits. */
const struct http1_fed *http1_feed_text(const char *text);

/* Says which text failed: an assertion of a loop does not. */
void http1_judge(const char *text, size_t bytes, enum http1_status wanted);
void http1_judge_all(const struct http1_verdict *cases, size_t count);

/* Each text as the value of field `name`, once, in a request that is right without it. */
void http1_judge_values(const char *name, const struct http1_verdict *cases, size_t count);

bool http1_is_text(struct span span, const char *text);

#endif
