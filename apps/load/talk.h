/*
 * talk: what every request of a run says, and what every response to it must be.
 *
 * The protocol itself is a dialect's (dialect.h); what differs from request to request is its body
 * (bodies.h).
 *
 * Planes: init and fini are setup. Read-only in between, so workers share it.
 */
#ifndef WEIR_APPS_LOAD_TALK_H
#define WEIR_APPS_LOAD_TALK_H

#include "apps/load/bodies.h"
#include "dataplane/proto/http1.h"
#include "dataplane/transport/transport.h"

#include <stdint.h>

struct dialect;

/* What the body of each response must be. */
enum talk_answer {
	TALK_FILL, /* bytes of FRAME_FILL_BYTE */
	TALK_ECHO, /* its request's body */
	TALK_FILE, /* the same file each time */
};

/* Largest file that responses are held against. */
enum { TALK_FILE_BYTES = 64 * 1024 * 1024 };

/* The method that suits: POST with a body, else GET. */
enum { TALK_METHOD_SUITABLE = HTTP1_METHOD_COUNT };

struct talk_config {
	const struct dialect *dialect;
	uint32_t request_bytes; /* of each body */
	enum talk_answer answer;
	uint32_t response_bytes; /* TALK_FILL: of each body */
	const char *file;	 /* TALK_FILE: its path */
	/* HTTP */
	unsigned method;	      /* enum http1_method, or TALK_METHOD_SUITABLE */
	const char *path;	      /* the request's target */
	const char *host;	      /* NULL: `server` */
	const struct tp_addr *server; /* lent for the call */
	uint16_t status;	      /* that each response must have */
};

struct talk {
	const struct dialect *dialect;
	struct bodies bodies;	/* of the requests */
	uint32_t request_bytes; /* of a whole request, as it is sent */
	enum talk_answer answer;
	uint32_t response_bytes; /* of each response's body */
	const uint8_t *answers;	 /* TALK_FILL: LIMIT_CHUNK_BYTES of it; TALK_FILE: response_bytes */
	/* HTTP */
	char *head; /* of every request; head_bytes */
	uint32_t head_bytes;
	uint16_t status;
	bool bodiless; /* HEAD: responses tell of a body and have none */
	/* owned */
	uint8_t *memory; /* what `answers` lends */
};

/* 0, or negative errno with `error` filled and nothing to be released. */
int talk_init(struct talk *talk, const struct talk_config *config, struct tp_error *error);

/* Harmless on a zeroed one. */
void talk_fini(struct talk *talk);

/* The method that is asked with. */
static inline enum http1_method talk_method(unsigned method, uint32_t request_bytes)
{
	if (method != TALK_METHOD_SUITABLE)
		return (enum http1_method)method;
	return request_bytes > 0 ? HTTP1_POST : HTTP1_GET;
}

/* Bytes of each response's body. */
static inline uint32_t talk_body_bytes(const struct talk *talk)
{
	return talk->bodiless ? 0 : talk->response_bytes;
}

#endif
