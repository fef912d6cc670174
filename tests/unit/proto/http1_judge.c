#include "tests/unit/proto/http1_judge.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

const struct http1_fed *http1_feed_text(const char *text)
{
	return http1_feed(http1_feed_request, text, strlen(text), &http1_feed_limits);
}

void http1_judge(const char *text, size_t bytes, enum http1_status wanted)
{
	enum http1_status got =
		http1_feed(http1_feed_request, text, bytes, &http1_feed_limits)->status;

	CU_ASSERT_EQUAL(got, wanted);
	if (got != wanted)
		printf("# %.*s: %s\n", (int)strcspn(text, "\r"), text, http1_status_text(got));
}

void http1_judge_all(const struct http1_verdict *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		http1_judge(cases[i].text, strlen(cases[i].text), cases[i].status);
}

void http1_judge_values(const char *name, const struct http1_verdict *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char text[512];
		int bytes = snprintf(text, sizeof(text), LINE HOST "%s:%s\r\n\r\n", name,
				     cases[i].text);

		http1_judge(text, (size_t)bytes, cases[i].status);
	}
}

bool http1_is_text(struct span span, const char *text)
{
	return span.bytes == strlen(text) &&
	       (span.bytes == 0 || memcmp(span.base, text, span.bytes) == 0);
}
