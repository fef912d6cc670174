#include "apps/serve/serve.h"

#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void copy_out(struct serve_worker *own, const struct server *server, const struct tp *tp)
{
	stack_copy_take(&own->copy.transport, tp);
	own->copy.server = *server_counters(server);
}

static void answer_if_asked(struct serve_worker *own, const struct server *server,
			    const struct tp *tp)
{
	if (__builtin_expect(worker_asked(&own->worker), 0)) {
		copy_out(own, server, tp);
		worker_answer(&own->worker);
	}
}

static void take_turn(const struct serve_worker *own, struct server *server)
{
	server_turn(server, wait_ns(&own->options->stack.wait, &server_counters(server)->busy,
				    WORKER_WAIT_NS));
}

/*
 * Serves until told to stop, or the device is gone; then until nothing is left or the bound is
 * reached.
 */
static void serve(struct serve_worker *own, struct server *server, struct tp *tp)
{
	uint64_t deadline_ns;

	while (!worker_stopping(&own->worker) && !tp->device_gone) {
		take_turn(own, server);
		answer_if_asked(own, server, tp);
	}
	own->gone_part = tp->device_gone ? tp->gone_part : NULL;
	if (own->gone_part)
		kill(getpid(), SIGTERM); /* the main thread waits for a signal */
	deadline_ns = clock_now_ns() + SERVE_DRAIN_NS;
	server_drain(server);
	while (!server_idle(server) && clock_now_ns() < deadline_ns) {
		take_turn(own, server);
		answer_if_asked(own, server, tp);
	}
	own->drained = server_idle(server);
	copy_out(own, server, tp);
}

static int create_server(const struct serve_options *options, struct tp *tp,
			 struct server **server_out, struct tp_error *error)
{
	struct server_config config = {
		.delivery = options->delivery,
		.handler = {.kind = options->handler, .response_bytes = options->response_bytes},
		.conn_max = options->conn_max,
	};
	int rc = server_create(&config, tp, server_out);

	return rc < 0 ? tp_fail(error, rc, "cannot make the server: %s", strerror(-rc)) : 0;
}

void serve_worker_run(struct worker *worker)
{
	struct serve_worker *own = (struct serve_worker *)worker;
	const struct serve_options *options = own->options;
	struct tp_limits limits = {.conn_max = options->conn_max,
				   .recv_bytes = LIMIT_RECV_BYTES,
				   .send_bytes = LIMIT_SEND_BYTES};
	struct server *server = NULL;
	struct tp *tp;

	if (stack_open(&options->stack, worker->index, true, &limits, &tp, &worker->error) < 0)
		return;
	if (tp->ops->listen(tp, &options->listen, &worker->error) == 0 &&
	    create_server(options, tp, &server, &worker->error) == 0) {
		worker_ready(worker);
		serve(own, server, tp);
	}
	server_destroy(server);
	tp->ops->close(tp);
}
