#include "apps/load/lead.h"

#include "apps/common/process.h"
#include "apps/common/signals.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Between two marks. */
#define MARK_NS (CLOCK_SECOND_NS / 2)

/* Between two looks at how far the workers are. */
#define LOOK_NS (1 * CLOCK_MS_NS)

/*
 * The connections stay for a moment when all is answered, so that a server that is asked for its
 * accounts as the window ends still has them, and what the kernel counted on each.
 */
#define LINGER_NS (100 * CLOCK_MS_NS)

/* Longest time that a mark waits for a worker. */
#define ANSWER_NS (2 * CLOCK_SECOND_NS)

struct lead {
	const struct load_options *options;
	struct progress *progress;
	struct load_result *result;
	enum load_phase phase;
	unsigned count; /* workers */
	struct generator *generators;
	struct record **records; /* two a worker: what it writes next, and what it wrote */
	struct record *interval; /* the sum over workers between two marks */
};

static int reserve_memory(struct lead *lead)
{
	lead->generators = calloc(lead->count, sizeof(*lead->generators));
	lead->records = calloc(2 * lead->count, sizeof(*lead->records));
	lead->interval = malloc(sizeof(*lead->interval));
	lead->result->measured = malloc(sizeof(*lead->result->measured));
	if (!lead->generators || !lead->records || !lead->interval || !lead->result->measured)
		return -ENOMEM;
	for (unsigned i = 0; i < 2 * lead->count; i++) {
		lead->records[i] = malloc(sizeof(*lead->records[i]));
		if (!lead->records[i])
			return -ENOMEM;
		record_reset(lead->records[i]);
	}
	record_reset(lead->interval);
	record_reset(lead->result->measured);
	return 0;
}

static void release_memory(struct lead *lead)
{
	for (unsigned i = 0; lead->records && i < 2 * lead->count; i++)
		free(lead->records[i]);
	free(lead->records);
	free(lead->generators);
	free(lead->interval);
}

/* Stops and joins the first `count` workers and sums what they counted. */
static void stop_workers(struct lead *lead, unsigned count)
{
	struct client_counters *sum = &lead->result->counters;

	for (unsigned i = 0; i < count; i++)
		worker_stop(&lead->generators[i].worker);
	for (unsigned i = 0; i < count; i++) {
		const struct client_counters *counters = &lead->generators[i].counters;

		worker_join(&lead->generators[i].worker);
		failures_add(&lead->result->failures, &lead->generators[i].failures);
#define X(name, meaning) sum->name += counters->name;
		CLIENT_COUNTERS(X)
#undef X
	}
}

/* Starts every worker with its share of the connections. */
static int start_workers(struct lead *lead, struct tp_error *error)
{
	uint32_t share = lead->options->connections / lead->count;
	uint32_t rest = lead->options->connections % lead->count;

	for (unsigned i = 0; i < lead->count; i++) {
		struct generator *generator = &lead->generators[i];

		generator->options = lead->options;
		generator->connections = share + (i < rest);
		generator->next = lead->records[2 * i];
		if (worker_start(&generator->worker, generator_run, (uint16_t)i,
				 lead->options->stack.cpus.cpu[i], error) < 0) {
			stop_workers(lead, i);
			return -1;
		}
		generator->next = lead->records[2 * i + 1];
	}
	return 0;
}

static bool all_at(const struct lead *lead, enum generator_stage stage)
{
	for (unsigned i = 0; i < lead->count; i++)
		if (atomic_load_explicit(&lead->generators[i].stage, memory_order_acquire) != stage)
			return false;
	return true;
}

static bool any_failed(const struct lead *lead)
{
	for (unsigned i = 0; i < lead->count; i++)
		if (atomic_load_explicit(&lead->generators[i].stage, memory_order_acquire) ==
		    GENERATOR_FAILED)
			return true;
	return false;
}

/* Sleeps; false when the run is over: something failed, or a signal asks for the end. */
static bool sleep_for(struct lead *lead, uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / CLOCK_SECOND_NS),
				.tv_nsec = (long)(ns % CLOCK_SECOND_NS)};
	sigset_t signals;
	int signal_number;

	signals_of_ending(&signals);
	signal_number = sigtimedwait(&signals, NULL, &time);
	if (signal_number > 0) {
		lead->result->interrupted = true;
		lead->result->signal_number = signal_number;
		return false;
	}
	return !any_failed(lead);
}

/* Waits until every worker is at a stage. */
static bool await_stage(struct lead *lead, enum generator_stage stage)
{
	while (!all_at(lead, stage))
		if (!sleep_for(lead, LOOK_NS))
			return false;
	return true;
}

/* Takes one worker's ended record into the interval and makes it the next one. */
static bool collect(struct lead *lead, unsigned index)
{
	struct generator *generator = &lead->generators[index];

	if (!worker_await(&generator->worker, ANSWER_NS)) {
		failures_note(&lead->result->failures, FAILURE_stalled, 1,
			      "worker %u did not answer within %g s", index,
			      (double)ANSWER_NS / 1e9);
		return false;
	}
	record_add(lead->interval, generator->ended);
	record_reset(generator->ended);
	generator->next = generator->ended;
	return true;
}

/*
 * Ends an interval for all workers at once and begins the next, in `next_phase`. False if a
 * worker does not answer.
 */
static bool mark(struct lead *lead, enum load_phase next_phase)
{
	bool answered = true;

	for (unsigned i = 0; i < lead->count; i++) {
		lead->generators[i].phase = next_phase;
		worker_ask(&lead->generators[i].worker);
	}
	record_reset(lead->interval);
	for (unsigned i = 0; i < lead->count; i++)
		answered &= collect(lead, i);
	if (lead->phase == LOAD_MEASURE)
		record_add(lead->result->measured, lead->interval);
	if (lead->phase == LOAD_WARMUP || lead->phase == LOAD_MEASURE)
		progress_show(lead->progress, lead->phase, lead->interval);
	lead->phase = next_phase;
	return answered;
}

static void announce(struct lead *lead, enum load_phase phase)
{
	progress_clear(lead->progress);
	printf("phase %s\n", load_phase_name(phase));
	fflush(stdout);
}

/*
 * Lets a phase last for its time, with marks in between; the mark that ends it is the next
 * phase's.
 */
static bool last(struct lead *lead, uint64_t duration_ns)
{
	uint64_t now_ns = clock_now_ns(), end_ns = now_ns + duration_ns;

	while (end_ns - now_ns > MARK_NS) {
		if (!sleep_for(lead, MARK_NS) || !mark(lead, lead->phase))
			return false;
		now_ns = clock_now_ns();
		if (now_ns >= end_ns)
			return true;
	}
	return sleep_for(lead, end_ns - now_ns);
}

/*
 * With --hold: says that it has connected, and waits for SIGUSR1, by which whoever started several
 * lets them all begin at once. False when the run is over.
 */
static bool await_release(struct lead *lead)
{
	static const struct timespec look = {.tv_nsec = (long)LOOK_NS};
	sigset_t signals;
	int signal_number = 0;

	if (!lead->options->hold)
		return true;
	printf("phase connected\n");
	fflush(stdout);
	signals_of_ending(&signals);
	sigaddset(&signals, SIGUSR1);
	while (signal_number != SIGUSR1) {
		signal_number = sigtimedwait(&signals, NULL, &look);
		if (signal_number > 0 && signal_number != SIGUSR1) {
			lead->result->interrupted = true;
			lead->result->signal_number = signal_number;
			return false;
		}
		if (any_failed(lead))
			return false;
	}
	return true;
}

/* Where the workers were, while they live. */
static json_t *bindings_to_json(const struct lead *lead)
{
	json_t *object = json_object(), *array = json_array();

	for (unsigned i = 0; i < lead->count; i++)
		json_array_append_new(array, binding_to_json(&lead->generators[i].worker.binding));
	json_object_set(object, "memory", lead->options->memory);
	json_object_set_new(object, "workers", array);
	return object;
}

/* Reading the accounts takes a worker's CPU for a moment, which is none of the window's. */
static void begin_window(struct lead *lead)
{
	lead->result->before = load_account(lead->options);
	process_begin_peak();
}

static void end_window(struct lead *lead)
{
	lead->result->after = load_account(lead->options);
	lead->result->binding = bindings_to_json(lead);
}

/* Leads through the phases until the last or the first failure. */
static void lead_phases(struct lead *lead)
{
	lead->phase = LOAD_CONNECT;
	announce(lead, LOAD_CONNECT);
	if (!await_stage(lead, GENERATOR_CONNECTED) || !await_release(lead))
		return;
	lead->progress->begin_ns = clock_now_ns();
	announce(lead, LOAD_WARMUP);
	if (!mark(lead, LOAD_WARMUP) || !last(lead, lead->options->warmup_ns))
		return;
	begin_window(lead);
	if (!mark(lead, LOAD_MEASURE))
		return;
	announce(lead, LOAD_MEASURE);
	if (!last(lead, lead->options->duration_ns))
		return;
	if (!mark(lead, LOAD_DRAIN))
		return;
	announce(lead, LOAD_DRAIN);
	end_window(lead);
	if (await_stage(lead, GENERATOR_DRAINED))
		sleep_for(lead, LINGER_NS);
}

static void judge_clock(struct load_result *result)
{
	if (record_went_backwards(result->measured))
		failures_note(&result->failures, FAILURE_backwards, 1,
			      "a response was complete before its request was sent: the CPUs' "
			      "clocks differ, and no latency of this run is to be believed");
}

int lead_run(const struct load_options *options, struct progress *progress,
	     struct load_result *result_out, struct tp_error *error)
{
	struct lead lead = {.options = options,
			    .progress = progress,
			    .result = result_out,
			    .count = options->stack.workers};
	int rc = reserve_memory(&lead);

	if (rc < 0)
		tp_fail(error, rc, "no memory for %u workers", lead.count);
	else
		rc = start_workers(&lead, error);
	if (rc == 0) {
		lead_phases(&lead);
		stop_workers(&lead, lead.count);
		judge_clock(result_out);
		announce(&lead, LOAD_DONE);
	}
	release_memory(&lead);
	return rc;
}

const char *load_phase_name(enum load_phase phase)
{
	static const char *const names[] = {"connect", "warmup", "measure", "drain", "done"};

	return names[phase];
}
