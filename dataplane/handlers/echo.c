#include "dataplane/handlers/handlers.h"

#include "dataplane/core/limits.h"

#include <errno.h>
#include <stdlib.h>

static int echo_create(const char *argument, const struct handler_config *config,
		       struct handler **handler_out, struct tp_error *error)
{
	struct handler *handler = calloc(1, sizeof(*handler));

	if (!handler)
		return tp_fail(error, -ENOMEM, "no memory for the handler echo");
	*handler = (struct handler){.ops = &echo_ops, .answers = ANSWERS_BODIES};
	*handler_out = handler;
	return 0;
}

static void echo_destroy(struct handler *handler)
{
	free(handler);
}

static void echo_advance(struct handler *handler, struct exchange *exchange)
{
	size_t bytes;

	if (exchange_left(exchange) == 0 && !exchange_drop(exchange))
		return; /* HEAD: its body has no answer */
	while ((bytes = exchange_ready(exchange)) > 0) {
		struct room_writer writer;

		if (bytes > LIMIT_CHUNK_BYTES)
			bytes = LIMIT_CHUNK_BYTES;
		if (!exchange_room(exchange, bytes, &writer))
			return;
		exchange_copy(exchange, &writer, bytes);
		exchange_put(exchange, bytes);
		if (exchange_left(exchange) == 0) { /* and so has the request's body */
			exchange_finish(exchange);
			return;
		}
	}
	if (exchange_body_ended(exchange))
		exchange_finish(exchange);
}

static void echo_begin(struct handler *handler, struct exchange *exchange,
		       const struct request *request)
{
	exchange_respond(exchange, &(struct response){.status = 200,
						      .body_bytes = request->body_bytes,
						      .type = "application/octet-stream"});
	echo_advance(handler, exchange);
}

const struct handler_ops echo_ops = {
	.name = "echo",
	.create = echo_create,
	.destroy = echo_destroy,
	.begin = echo_begin,
	.advance = echo_advance,
};
