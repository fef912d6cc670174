/*
 * http1_head: what requests' and responses' heads have in common.
 *
 * Private to http1. A head is walked from left to right and the first byte that makes it
 * impossible decides the status, whether or not the rest is there: so the result cannot depend on
 * how the bytes were split. A walk that ran out of bytes is kept in the caller's scan and goes on
 * from there; one that did not begin at the head's start knows that the head is right, but not
 * all of its fields, and is done a second time as soon as the head is whole.
 *
 * Plane: turn.
 */
#ifndef WEIR_PROTO_HTTP1_HEAD_H
#define WEIR_PROTO_HTTP1_HEAD_H

#include "dataplane/proto/http1.h"

enum http1_seen {
	HTTP1_SEEN_HOST = 1 << 0,
	HTTP1_SEEN_LENGTH = 1 << 1,
	HTTP1_SEEN_CODING = 1 << 2,
	/* These only add to what a head says, and are not kept in a scan. */
	HTTP1_SEEN_CLOSE = 1 << 3,
	HTTP1_SEEN_KEEP_ALIVE = 1 << 4,
	HTTP1_SEEN_CONTINUE = 1 << 5,
};

struct http1_walk {
	const uint8_t *base;
	const uint8_t *end;  /* of what is there and allowed */
	const uint8_t *line; /* begin of the line at hand */
	const uint8_t *from; /* in it: what comes before needs no second look */
	const uint8_t *mark; /* in it: end of its target or name; NULL: not found yet */
	const struct http1_limits *limits;
	struct http1_field *fields;
	unsigned field_count;
	unsigned seen; /* enum http1_seen */
	uint8_t minor;
	bool is_request;
	uint64_t length_bytes; /* Content-Length */
	struct span host;      /* of the Host field */
};

/* Begins a walk, or goes on with the one that `scan` kept. */
void http1_walk_init(struct http1_walk *walk, const uint8_t *bytes, size_t available,
		     const struct http1_limits *limits, const struct http1_scan *scan);

/*
 * The walk ran out of bytes, those before `scanned` are right: HTTP1_MORE, or HTTP1_HEAD_TOO_LARGE
 * if no more may come.
 */
enum http1_status http1_walk_out(struct http1_walk *walk, const uint8_t *scanned);

/* Says that a line ended before `next`. */
static inline void http1_walk_next(struct http1_walk *walk, const uint8_t *next)
{
	walk->line = next;
	walk->from = next;
	walk->mark = NULL;
}

/* Keeps a walk that ran out of bytes. */
void http1_walk_keep(const struct http1_walk *walk, struct http1_scan *scan);

/* Whether a kept walk was past the first line, so that a whole head has to be walked anew. */
static inline bool http1_scan_is_past_line(const struct http1_scan *scan)
{
	return scan->line_offset > 0;
}

/*
 * Reads field lines and the empty line behind them; then walk->line is the head's end. Fields that
 * decide about framing, the host and the connection are judged line by line.
 */
enum http1_status http1_walk_fields(struct http1_walk *walk);

/* What all fields said. */
struct http1_framing http1_walk_framing(const struct http1_walk *walk);

/* The end of a line at `at`: 1 if there, 0 if not, -1 if there are too few bytes to say. */
int http1_line_end(const uint8_t *at, const uint8_t *end);

/* Reads "HTTP/1.x" at `at`. HTTP1_MORE: all of what is there is right. */
enum http1_status http1_read_version(const uint8_t *at, const uint8_t *end, uint8_t *minor_out);

enum { HTTP1_VERSION_BYTES = 8 };

/* Judges one field of a head, its line whole. */
enum http1_status http1_judge_field(struct http1_walk *walk, const struct http1_field *field);

/* Whether it is a host with or without a port, as in Host; `needs_port` as in authority-form. */
bool http1_is_host(struct span host, bool needs_port);

/* Whether it is `word` (lower case letters, digits and '-'), in upper or lower case. */
bool http1_is_word(struct span text, const char *word);

#endif
