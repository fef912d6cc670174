/*
 * request: the head of an HTTP/1.1 request, which is the same for all requests of a run.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_LOAD_REQUEST_H
#define WEIR_APPS_LOAD_REQUEST_H

#include "dataplane/proto/http1.h"
#include "dataplane/transport/transport.h"

#include <stdint.h>

struct request_config {
	enum http1_method method;
	const char *path; /* "/x?y", or "*" with OPTIONS */
	const char *host; /* NULL: `server` */
	const struct tp_addr *server;
	uint32_t body_bytes;
};

/*
 * Writes the head; owned by the caller (free). 0, or negative errno with `error` filled when no
 * such request can be sent.
 */
int request_head(const struct request_config *config, char **head_out, uint32_t *head_bytes_out,
		 struct tp_error *error);

#endif
