#include "apps/load/load.h"

#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"

#include <string.h>
#include <time.h>

/* Time that a server may take to end connections that we have finished. */
#define FINISH_NS (1 * CLOCK_SECOND_NS)

/* Time between the end of the last connection and that of the transport. */
#define FAREWELL_NS (50 * CLOCK_MS_NS)

/* Longest sleep of a turn while the main thread's next mark is awaited. */
#define MARK_WAIT_NS (1 * CLOCK_MS_NS)

/* One worker's view while it runs. */
struct run {
	struct generator *own;
	struct client *client;
	enum generator_stage stage; /* the last one published */
	uint64_t connect_deadline_ns;
};

static void publish(struct run *run, enum generator_stage stage)
{
	run->stage = stage;
	atomic_store_explicit(&run->own->stage, stage, memory_order_release);
}

/* Follows a mark: swaps the records and begins the phase if it is a new one. */
static void follow_mark(struct run *run)
{
	struct generator *own = run->own;

	own->ended = client_swap(run->client, own->next);
	if (own->phase == LOAD_WARMUP && run->stage == GENERATOR_CONNECTED) {
		client_begin(run->client);
		publish(run, GENERATOR_RUNNING);
	} else if (own->phase == LOAD_DRAIN && run->stage == GENERATOR_RUNNING) {
		client_hold(run->client);
		publish(run, GENERATOR_DRAINING);
	}
	worker_answer(&own->worker);
}

static void watch_connecting(struct run *run)
{
	if (client_connected(run->client)) {
		publish(run, GENERATOR_CONNECTED);
		return;
	}
	client_connect(run->client);
	if (clock_now_ns() > run->connect_deadline_ns)
		client_fail_connecting(run->client, run->own->options->connect_timeout_ns);
}

/* Whether requests are unanswered and nothing has come for too long. */
static void watch_progress(struct run *run)
{
	uint64_t timeout_ns = run->own->options->stall_timeout_ns;

	if (client_outstanding(run->client) > 0 &&
	    client_busy(run->client)->end_ns > client_progress_ns(run->client) + timeout_ns)
		client_fail_stalled(run->client, timeout_ns);
}

/* Looks after the stage at hand between two turns. */
static void watch(struct run *run)
{
	switch (run->stage) {
	case GENERATOR_CONNECTING:
		watch_connecting(run);
		break;
	case GENERATOR_RUNNING:
		watch_progress(run);
		break;
	case GENERATOR_DRAINING:
		watch_progress(run);
		if (client_outstanding(run->client) == 0)
			publish(run, GENERATOR_DRAINED);
		break;
	case GENERATOR_CONNECTED:
	case GENERATOR_DRAINED:
	case GENERATOR_FAILED:
		break;
	}
	if (client_failed(run->client) && run->stage != GENERATOR_FAILED)
		publish(run, GENERATOR_FAILED);
}

/* After a failure: only answers, until told to stop. */
static void idle(struct run *run)
{
	while (!worker_stopping(&run->own->worker)) {
		if (worker_asked(&run->own->worker))
			follow_mark(run);
		nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
	}
}

/* How long the next turn may sleep: little where a mark, not a response, is awaited. */
static uint64_t wait_of(const struct run *run)
{
	bool responses = run->stage == GENERATOR_RUNNING || run->stage == GENERATOR_DRAINING;

	return wait_ns(&run->own->options->stack.wait, client_busy(run->client),
		       responses ? WORKER_WAIT_NS : MARK_WAIT_NS);
}

static void generate(struct run *run)
{
	struct worker *worker = &run->own->worker;

	client_connect(run->client);
	while (!worker_stopping(worker) && run->stage != GENERATOR_FAILED) {
		client_turn(run->client, wait_of(run));
		watch(run);
		if (__builtin_expect(worker_asked(worker), 0))
			follow_mark(run);
	}
	idle(run);
}

/*
 * Ends the connections in good order where that makes sense; closing the transport resets the
 * rest. The peer gets a moment to take our last acknowledgements: on shared memory they vanish
 * with us.
 */
static void finish(struct run *run)
{
	uint64_t deadline_ns = clock_now_ns() + FINISH_NS;

	if (client_failed(run->client))
		return;
	client_finish(run->client);
	while (!client_idle(run->client) && clock_now_ns() < deadline_ns)
		client_turn(run->client, wait_of(run));
	deadline_ns = clock_now_ns() + FAREWELL_NS;
	while (clock_now_ns() < deadline_ns)
		client_turn(run->client, wait_of(run));
}

static int create_client(struct generator *own, struct tp *tp, struct client **client_out,
			 struct tp_error *error)
{
	const struct load_options *options = own->options;
	struct client_config config = {.server = options->connect,
				       .connections = own->connections,
				       .depth = options->depth,
				       .refill = options->refill,
				       .worker = own->worker.index,
				       .talk = &options->talk};
	int rc = client_create(&config, tp, own->next, client_out);

	return rc < 0 ? tp_fail(error, rc, "no memory for %u connections of depth %u",
				own->connections, options->depth)
		      : 0;
}

void generator_run(struct worker *worker)
{
	struct generator *own = (struct generator *)worker;
	const struct load_options *options = own->options;
	struct tp_limits limits = {.conn_max = own->connections,
				   .recv_bytes = LIMIT_RECV_BYTES,
				   .send_bytes = options->send_bytes};
	struct run run = {.own = own};
	struct tp *tp;

	if (stack_open(&options->stack, worker->index, false, &limits, &tp, &worker->error) < 0)
		return;
	if (create_client(own, tp, &run.client, &worker->error) == 0) {
		run.connect_deadline_ns = clock_now_ns() + options->connect_timeout_ns;
		worker_ready(worker);
		generate(&run);
		finish(&run);
		own->failures = *client_failures(run.client);
		own->counters = *client_counters(run.client);
	}
	client_destroy(run.client);
	tp->ops->close(tp);
}
