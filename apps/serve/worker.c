#include "apps/serve/turner.h"

#include "dataplane/core/clock.h"

#include <signal.h>
#include <unistd.h>

static void answer_if_asked(struct serve_worker *own, const struct turner *turner)
{
	if (__builtin_expect(worker_asked(&own->worker), 0)) {
		turner->ops->copy(turner, &own->copy);
		worker_answer(&own->worker);
	}
}

static void take_turn(struct serve_worker *own, struct turner *turner)
{
	turner->ops->turn(turner, wait_ns(&own->options->stack.wait, turner->busy, WORKER_WAIT_NS));
	answer_if_asked(own, turner);
}

/*
 * Serves until told to stop, or the device is gone; then until nothing is left or the bound is
 * reached.
 */
static void serve(struct serve_worker *own, struct turner *turner)
{
	const struct turner_ops *ops = turner->ops;
	uint64_t deadline_ns;

	while (!worker_stopping(&own->worker) && !ops->gone_part(turner))
		take_turn(own, turner);
	own->gone_part = ops->gone_part(turner);
	if (own->gone_part)
		kill(getpid(), SIGTERM); /* the main thread waits for a signal */
	deadline_ns = clock_now_ns() + SERVE_DRAIN_NS;
	ops->drain(turner);
	while (!ops->idle(turner) && clock_now_ns() < deadline_ns)
		take_turn(own, turner);
	own->drained = ops->idle(turner);
	ops->copy(turner, &own->copy);
}

void serve_worker_run(struct worker *worker)
{
	struct serve_worker *own = (struct serve_worker *)worker;
	const struct serve_options *options = own->options;
	const struct turner_ops *ops = options->bare ? &bare_turner : &pipeline_turner;
	struct turner *turner;

	if (ops->open(options, worker->index, &turner, &worker->error) < 0)
		return;
	own->capabilities = turner->capabilities;
	worker_ready(worker);
	serve(own, turner);
	ops->close(turner);
}
