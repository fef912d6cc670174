/*
 * date: the time of day as HTTP's Date says it (RFC 9110 section 5.6.7), made once a second.
 *
 * It is reckoned from the turn's time and how far the wall clock was ahead of it at the start, so
 * no clock is read for it; a wall clock set later is not followed.
 *
 * Plane: init is setup, the rest is turn.
 */
#ifndef WEIR_PIPELINE_DATE_H
#define WEIR_PIPELINE_DATE_H

#include "dataplane/core/clock.h"
#include "dataplane/proto/http1_date.h"

#include <stdint.h>

struct date {
	uint64_t ahead_ns; /* the wall clock before ours */
	uint64_t until_ns; /* the text holds until then, by our clock */
	char text[HTTP1_DATE_BYTES];
};

/* Reads both clocks. */
void date_init(struct date *date);

/* Writes the text anew for a time. */
void date_renew(struct date *date, uint64_t now_ns);

/* The wall clock's seconds since 1970 at a time of ours. */
static inline int64_t date_seconds(const struct date *date, uint64_t now_ns)
{
	return (int64_t)((now_ns + date->ahead_ns) / CLOCK_SECOND_NS);
}

/* HTTP1_DATE_BYTES, lent until the next call. */
static inline const char *date_text(struct date *date, uint64_t now_ns)
{
	if (__builtin_expect(now_ns >= date->until_ns, 0))
		date_renew(date, now_ns);
	return date->text;
}

#endif
