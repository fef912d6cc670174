#include "dataplane/handlers/handlers.h"
#include "dataplane/pipeline/filler.h"

#include "dataplane/core/clock.h"
#include "dataplane/core/units.h"

#include <errno.h>
#include <stdlib.h>

enum { SPIN_US_MAX = 1000000 };

struct spin {
	struct handler base; /* first */
	uint64_t spin_ns;
};

static int spin_judge(const char *argument, struct tp_error *error)
{
	uint64_t us;

	if (units_parse_count(argument, SPIN_US_MAX, &us) == 0 && us > 0)
		return 0;
	return tp_fail(error, -EINVAL, "'spin:%s': US are whole microseconds, 1 to %d", argument,
		       SPIN_US_MAX);
}

static int spin_create(const char *argument, const struct handler_config *config,
		       struct handler **handler_out, struct tp_error *error)
{
	struct spin *spin = calloc(1, sizeof(*spin));
	uint64_t us = 0;

	if (!spin)
		return tp_fail(error, -ENOMEM, "no memory for the handler spin");
	spin->base = (struct handler){.ops = &spin_ops, .response_bytes = config->response_bytes};
	units_parse_count(argument, SPIN_US_MAX, &us);
	spin->spin_ns = us * 1000;
	*handler_out = &spin->base;
	return 0;
}

static void spin_destroy(struct handler *handler)
{
	free(handler);
}

/* Burns the time. It reads the clock on its own: that is the work it stands for. */
static void burn(const struct handler *handler)
{
	const struct spin *spin = (const struct spin *)handler;
	uint64_t end_ns = clock_now_ns() + spin->spin_ns;

	while (clock_now_ns() < end_ns)
		;
}

static void spin_advance(struct handler *handler, struct exchange *exchange)
{
	if (!exchange_drop(exchange))
		return;
	if (!exchange_state(exchange)) {
		burn(handler);
		exchange_set_state(exchange, handler); /* it has been burned */
	}
	filler_answer(exchange, handler->response_bytes);
}

static void spin_begin(struct handler *handler, struct exchange *exchange,
		       const struct request *request)
{
	spin_advance(handler, exchange);
}

const struct handler_ops spin_ops = {
	.name = "spin",
	.argument = "US",
	.answers = HANDLER_ANSWERS_FILL,
	.argument_needed = true,
	.judge = spin_judge,
	.create = spin_create,
	.destroy = spin_destroy,
	.begin = spin_begin,
	.advance = spin_advance,
};
