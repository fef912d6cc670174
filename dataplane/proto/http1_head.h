/*
 * http1_head: what requests' and responses' heads have in common, but for how bytes are scanned.
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

#include "dataplane/core/bytes.h"
#include "dataplane/proto/http1.h"

enum http1_seen {
	HTTP1_SEEN_HOST = 1 << 0,
	HTTP1_SEEN_LENGTH = 1 << 1,
	HTTP1_SEEN_CODING = 1 << 2,
	HTTP1_SEEN_EXPECT = 1 << 3,
	/* These only add to what a head says. */
	HTTP1_SEEN_CLOSE = 1 << 4,
	HTTP1_SEEN_KEEP_ALIVE = 1 << 5,
	HTTP1_SEEN_CONTINUE = 1 << 6,
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
	bool is_resumed;       /* it did not begin at the head's start */
	uint64_t length_bytes; /* Content-Length */
	const struct http1_field *host;
};

/* Begins a walk, or goes on with the one that `scan` kept. */
static inline void http1_walk_init(struct http1_walk *walk, const uint8_t *bytes, size_t available,
				   const struct http1_limits *limits, const struct http1_scan *scan)
{
	ASSERT(limits->fields <= HTTP1_FIELDS_MAX);
	walk->base = bytes;
	walk->end = bytes + (available < limits->head_bytes ? available : limits->head_bytes);
	walk->line = bytes + scan->line_offset;
	walk->from = bytes + scan->scanned;
	walk->mark = scan->mark ? bytes + scan->mark : NULL;
	walk->limits = limits;
	walk->field_count = scan->field_count;
	walk->seen = scan->seen;
	walk->minor = scan->minor;
	walk->is_resumed = scan->line_offset > 0;
	walk->length_bytes = 0;
	walk->host = NULL;
}

/* Says that a line ended before `next`. */
static inline void http1_walk_next(struct http1_walk *walk, const uint8_t *next)
{
	walk->line = next;
	walk->from = next;
	walk->mark = NULL;
}

/*
 * The walk ran out of bytes, those before `scanned` are right: HTTP1_MORE, or HTTP1_HEAD_TOO_LARGE
 * if no more may come.
 */
enum http1_status http1_walk_out(struct http1_walk *walk, const uint8_t *scanned);

/* Keeps a walk that ran out of bytes. */
void http1_walk_keep(const struct http1_walk *walk, struct http1_scan *scan);

/* What all fields said. */
static inline struct http1_framing http1_walk_framing(const struct http1_walk *walk)
{
	bool keep_alive = walk->minor == 1 || (walk->seen & HTTP1_SEEN_KEEP_ALIVE);

	return (struct http1_framing){
		.chunked = walk->seen & HTTP1_SEEN_CODING,
		.has_length = walk->seen & HTTP1_SEEN_LENGTH,
		.length_bytes = walk->length_bytes,
		.keep_alive = keep_alive && !(walk->seen & HTTP1_SEEN_CLOSE),
	};
}

/* The end of a line at `at`: 1 if there, 0 if not, -1 if there are too few bytes to say. */
static inline int http1_line_end(const uint8_t *at, const uint8_t *end)
{
	if (end - at >= 2)
		return memcmp(at, "\r\n", 2) == 0;
	return at < end && at[0] != '\r' ? 0 : -1;
}

enum { HTTP1_VERSION_BYTES = 8 };

/* Reads "HTTP/1.x" at `at`. HTTP1_MORE: all of what is there is right. */
enum http1_status http1_read_version(const uint8_t *at, const uint8_t *end, uint8_t *minor_out);

/* Whether a field whose name has this length can be one that heads are judged by. */
static inline bool http1_may_matter(size_t name_bytes)
{
	const uint32_t lengths = 1 << (sizeof("host") - 1) | 1 << (sizeof("expect") - 1) |
				 1 << (sizeof("connection") - 1) |
				 1 << (sizeof("content-length") - 1) |
				 1 << (sizeof("transfer-encoding") - 1);

	return name_bytes < 32 && (lengths >> name_bytes & 1);
}

/* Whether a name of four bytes is that of Host. */
static inline bool http1_is_host_name(const uint8_t *name)
{
	return (bytes_get_le32(name) | 0x20202020) == bytes_get_le32((const uint8_t *)"host");
}

/*
 * Judges what one field says about framing, host and connection. Only spaces have been taken
 * from around its value: a tab, which is a part of the value to some readers, makes what frames a
 * message malformed.
 */
enum http1_status http1_judge_field(struct http1_walk *walk, const struct http1_field *field);

/* Whether it is a host with or without a port, as in Host; `needs_port` as in authority-form. */
bool http1_is_host(struct span host, bool needs_port);

/* Whether it is `word` (lower case letters, digits and '-'), in upper or lower case. */
bool http1_is_word(struct span text, const char *word);

/* Without the spaces around it. */
static inline struct span http1_trim_spaces(const uint8_t *begin, const uint8_t *end)
{
	while (begin < end && *begin == ' ')
		begin++;
	while (end > begin && end[-1] == ' ')
		end--;
	return (struct span){begin, (size_t)(end - begin)};
}

/* Whether there is a tab at either end. */
static inline bool http1_has_tab_at_end(struct span text)
{
	return text.bytes > 0 && (*text.base == '\t' || text.base[text.bytes - 1] == '\t');
}

/* Without the spaces and tabs around it. */
static inline struct span http1_trim(struct span text)
{
	while (text.bytes > 0 && (*text.base == ' ' || *text.base == '\t')) {
		text.base++;
		text.bytes--;
	}
	while (text.bytes > 0 &&
	       (text.base[text.bytes - 1] == ' ' || text.base[text.bytes - 1] == '\t'))
		text.bytes--;
	return text;
}

#endif
