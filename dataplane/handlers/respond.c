#include "dataplane/handlers/handlers.h"
#include "dataplane/pipeline/filler.h"

#include "dataplane/core/limits.h"
#include "dataplane/core/units.h"
#include "dataplane/proto/frame.h"

#include <errno.h>
#include <stdlib.h>

/* Longest body that a frame can carry. */
enum { BODY_MAX = LIMIT_FRAME_BYTES - FRAME_LENGTH_MIN };

static int respond_judge(const char *argument, struct tp_error *error)
{
	uint64_t bytes;

	if (argument && units_parse_bytes(argument, BODY_MAX, &bytes) < 0)
		return tp_fail(error, -EINVAL, "'respond:%s': BYTES are 0 to %d, like 512 or 16KiB",
			       argument, BODY_MAX);
	return 0;
}

static int respond_create(const char *argument, const struct handler_config *config,
			  struct handler **handler_out, struct tp_error *error)
{
	struct handler *handler = calloc(1, sizeof(*handler));
	uint64_t bytes = config->response_bytes;

	if (!handler)
		return tp_fail(error, -ENOMEM, "no memory for the handler respond");
	if (argument)
		units_parse_bytes(argument, BODY_MAX, &bytes);
	*handler = (struct handler){
		.ops = &respond_ops, .answers = ANSWERS_ALIKE, .response_bytes = (uint32_t)bytes};
	*handler_out = handler;
	return 0;
}

static void respond_destroy(struct handler *handler)
{
	free(handler);
}

static void respond_advance(struct handler *handler, struct exchange *exchange)
{
	filler_answer(exchange, handler->response_bytes);
}

static void respond_begin(struct handler *handler, struct exchange *exchange,
			  const struct request *request)
{
	respond_advance(handler, exchange);
}

const struct handler_ops respond_ops = {
	.name = "respond",
	.argument = "BYTES",
	.argument_is = HANDLER_BYTES,
	.answers = HANDLER_ANSWERS_FILL,
	.judge = respond_judge,
	.create = respond_create,
	.destroy = respond_destroy,
	.begin = respond_begin,
	.advance = respond_advance,
};
