/*
 * http1: message heads of HTTP/1.1 (RFC 9110, 9112), read in place.
 *
 * A head is parsed where it stands: names and values are views into the caller's bytes and live as
 * long as those. Nothing is lenient: what two readers could understand in two ways is an error, and
 * the connection ends behind the answer (RFC 9112 sections 2.2, 5, 6.1, 6.3, 11.2).
 *
 * Incremental: a head that is not there whole is HTTP1_MORE, and the scan remembers how far it has
 * been looked at: a head fed a byte at a time is looked at twice, whatever its length. What is
 * wrong is said as soon as the bytes that are there make the head impossible, without waiting for
 * the rest. The result does not depend on how the bytes were split.
 *
 * Plane: turn, except http1_choose, which is setup.
 */
#ifndef WEIR_PROTO_HTTP1_H
#define WEIR_PROTO_HTTP1_H

#include "dataplane/core/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTP1_FIELDS_MAX = 100,		/* most fields that any limits may allow */
	HTTP1_LINE_BYTES = 8 * 1024,	/* default: request line, its end not counted */
	HTTP1_HEAD_BYTES = 16 * 1024,	/* default: whole head, request line and ends included */
	HTTP1_SIZE_DIGITS = 16,		/* most digits of a chunk's size, leading zeros counted */
	HTTP1_EXTENSION_BYTES = 256,	/* most bytes of one chunk's extensions */
	HTTP1_TRAILER_BYTES = 8 * 1024, /* most bytes of all trailer lines, ends included */
};

struct http1_limits {
	uint32_t line_bytes;
	uint32_t head_bytes; /* at most LIMIT_HEAD_BYTES */
	uint32_t fields;     /* at most HTTP1_FIELDS_MAX */
};

enum http1_method {
	HTTP1_GET,
	HTTP1_HEAD,
	HTTP1_POST,
	HTTP1_PUT,
	HTTP1_DELETE,
	HTTP1_PATCH,
	HTTP1_OPTIONS,
	HTTP1_TRACE,
	HTTP1_CONNECT,
	HTTP1_METHOD_COUNT,
};

/* RFC 9112 section 3.2; authority-form belongs to CONNECT. */
enum http1_form { HTTP1_ORIGIN, HTTP1_ABSOLUTE, HTTP1_ASTERISK, HTTP1_AUTHORITY };

/* What came of reading a head or a piece of framing. */
enum http1_status {
	HTTP1_OK,
	HTTP1_MORE,	      /* nothing was consumed */
	HTTP1_BAD_LINE,	      /* 400: the request line or status line */
	HTTP1_BAD_FIELD,      /* 400: a field line */
	HTTP1_BAD_FRAMING,    /* 400: Content-Length and Transfer-Encoding */
	HTTP1_BAD_HOST,	      /* 400: none, two, or no host */
	HTTP1_BAD_CHUNK,      /* 400: a chunk's size, extension, end, or trailer */
	HTTP1_LINE_TOO_LONG,  /* 414 */
	HTTP1_HEAD_TOO_LARGE, /* 431: bytes or number of fields */
	HTTP1_METHOD_UNKNOWN, /* 501 */
	HTTP1_CODING_UNKNOWN, /* 501: a transfer coding other than chunked */
	HTTP1_VERSION,	      /* 505: HTTP, but not 1.0 or 1.1 */
	HTTP1_EXPECTATION,    /* 417: another than 100-continue, in HTTP/1.1 */
	HTTP1_STATUS_COUNT,
};

struct http1_field {
	struct span name;  /* as it was written */
	struct span value; /* without the space around it */
};

/* What the fields of any head say about its message. */
struct http1_framing {
	bool chunked;
	bool has_length;       /* Content-Length was given */
	uint64_t length_bytes; /* then: its value; else 0 */
	bool keep_alive;       /* the version's default, changed by Connection */
};

struct http1_request {
	enum http1_method method;
	enum http1_form form;
	uint8_t minor; /* of the version: 0 or 1 */
	bool expects_continue;
	struct http1_framing framing;
	struct span target; /* as it was written */
	struct span path;   /* of origin-form and absolute-form, "/" if empty; without the query */
	struct span query;  /* behind '?', without it; empty if none; its '%' are not judged */
	struct span host;   /* of absolute-form's authority, else of the Host field */
	unsigned field_count;
	struct http1_field fields[HTTP1_FIELDS_MAX];
};

struct http1_response {
	uint8_t minor;
	uint16_t status; /* 100 to 999 */
	struct http1_framing framing;
	struct span reason;
	unsigned field_count;
	struct http1_field fields[HTTP1_FIELDS_MAX];
};

/* How far an incomplete head has been looked at; zeroed for a new one. */
struct http1_scan {
	uint32_t line_offset; /* where the first line that is not there whole begins */
	uint32_t scanned;     /* bytes that need no second look */
	uint32_t mark;	      /* in that line: where its target or name ends; 0: not there */
	uint8_t field_count;  /* of the lines before it */
	uint8_t seen;	      /* fields of them that may come once */
	uint8_t minor;
};

/*
 * Reads the request's head at `bytes`. HTTP1_OK: `head_bytes_out` is its length, and `request_out`
 * is written; else both are undefined and nothing may be used of them. `scan` belongs to the head
 * and is zeroed on HTTP1_OK.
 */
enum http1_status http1_parse_request(const uint8_t *bytes, size_t available,
				      const struct http1_limits *limits, struct http1_scan *scan,
				      struct http1_request *request_out, size_t *head_bytes_out);

/* The same for a response's head; a status line's method-dependent framing is the caller's. */
enum http1_status http1_parse_response(const uint8_t *bytes, size_t available,
				       const struct http1_limits *limits, struct http1_scan *scan,
				       struct http1_response *response_out, size_t *head_bytes_out);

/*
 * Takes the next off a list of tokens parted by commas, such as Connection's, in which a quotation
 * mark parts nothing; without the space around it, and empty where two commas meet or the
 * list is at its end.
 */
struct span http1_take_token(struct span *list);

/* The code that answers what is wrong, e.g. 431; 400 for anything without one of its own. */
unsigned http1_status_code(enum http1_status status);

/* What is wrong, in words for the body of an error. */
const char *http1_status_text(enum http1_status status);

/* The reason phrase of a code, e.g. "Not Found"; "" for one that we never send. */
const char *http1_reason(unsigned code);

/* "GET" */
const char *http1_method_name(enum http1_method method);

/*
 * Chooses the fastest way to scan that this CPU has: "scalar", "sse4.2" or "avx2"; `name` NULL
 * takes the best. Returns the name of what is used, or NULL if the CPU lacks what was asked for.
 * Before any worker starts.
 */
const char *http1_choose(const char *name);

/* --- chunked bodies (RFC 9112 section 7.1) --------------------------------------------------- */

enum http1_chunk_state {
	HTTP1_CHUNK_SIZE,    /* awaits a chunk's size */
	HTTP1_CHUNK_DATA,    /* within a chunk's data */
	HTTP1_CHUNK_CRLF,    /* behind a chunk's data */
	HTTP1_CHUNK_TRAILER, /* behind the last chunk */
	HTTP1_CHUNK_END,
};

struct http1_chunks {
	enum http1_chunk_state state;
	uint32_t line_bytes;	/* SIZE: digits, then bytes of extensions; TRAILER: of the name */
	uint32_t trailer_bytes; /* of all trailers */
	uint64_t left;		/* DATA: bytes of the chunk not yet taken */
	uint64_t size;		/* SIZE: read so far */
	uint8_t within;		/* SIZE, CRLF, TRAILER: the place within the line */
	uint8_t like;		/* TRAILER: forbidden names that this one begins as */
};

/*
 * Passes over framing until data, the body's end, or the end of what is there. HTTP1_OK with state
 * DATA: the next `left` bytes are data; the caller takes some and lowers `left`. HTTP1_OK with
 * state END: the body is over. HTTP1_MORE: all that was there has been taken. Else it is malformed.
 * Extensions and trailers are checked, bounded and dropped; a trailer that would frame or route a
 * message is malformed.
 */
enum http1_status http1_chunks_next(struct http1_chunks *chunks, struct span_reader *reader);

#endif
