/*
 * conditions: what a request asks of the representation that it gets (RFC 9110 sections 13 and 14).
 *
 * Whoever answers a GET or HEAD with something that has a tag and a date asks here whether to
 * answer with it at all, and with which part of it.
 *
 * Plane: turn.
 */
#ifndef WEIR_HANDLERS_CONDITIONS_H
#define WEIR_HANDLERS_CONDITIONS_H

#include "dataplane/core/span.h"
#include "dataplane/proto/http1.h"

#include <stdint.h>

struct validators {
	struct span tag;	  /* strong, with its quotes */
	int64_t modified_seconds; /* since 1970 */
};

/* 0 if it is to be answered, else the code in its place: 304 or 412. */
unsigned conditions_judge(const struct http1_request *request, const struct validators *validators);

enum range_kind {
	RANGE_WHOLE,	     /* none is asked for, or none that is honoured */
	RANGE_PART,	     /* 206 */
	RANGE_UNSATISFIABLE, /* 416 */
};

struct range {
	enum range_kind kind;
	uint64_t first;
	uint64_t bytes; /* RANGE_PART: at least 1 */
};

/*
 * The part of `bytes` that is asked for; several parts, or other units, get the whole.
 * `now_seconds` judges whether a date in If-Range is old enough to be believed.
 */
struct range conditions_range(const struct http1_request *request,
			      const struct validators *validators, uint64_t bytes,
			      int64_t now_seconds);

#endif
