/*
 * worker: a thread that owns one CPU, and how the main thread talks to it.
 *
 * The worker's turn takes no lock and makes no call for the main thread's sake: it looks at two
 * flags. To stop it, the main thread raises one. To learn something, the main thread asks
 * (worker_ask) and waits; the worker, between two turns, sees worker_asked, fills the memory
 * that both agreed on with a copy, and answers (worker_answer). Whatever the main thread wrote
 * before asking, the worker may read before it answers, and the other way about.
 *
 * Legal order on the main thread: start, { ask, await }*, stop, join. On the worker: ready or
 * failed once, then { turn, asked -> answer }* until worker_stopping, then return.
 */
#ifndef WEIR_APPS_WORKER_H
#define WEIR_APPS_WORKER_H

#include "apps/common/binding.h"
#include "dataplane/transport/transport.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Longest sleep of a blocking worker, so that it sees the flags. */
#define WORKER_WAIT_NS (100ull * 1000 * 1000)

enum worker_state {
	WORKER_STARTING,
	WORKER_READY,
	WORKER_FAILED, /* error says why; it has ended */
	WORKER_ENDED,
};

struct worker {
	void (*run)(struct worker *worker); /* the body; embed this struct first and cast */
	pthread_t thread;
	uint16_t index;
	uint16_t cpu;
	atomic_uint state; /* enum worker_state, written by the worker */
	atomic_bool stopping;
	atomic_uint asked;    /* questions posed so far */
	atomic_uint answered; /* and answered; the worker's */
	struct tp_error error;
	/* The worker's until it is ready or has answered, then the main thread's until it asks. */
	struct binding binding;
};

/*
 * Starts the thread, bound to `cpu` (verified), and returns once it is ready. 0; or -1 with
 * `error` filled when it failed, the thread already joined.
 */
int worker_start(struct worker *worker, void (*run)(struct worker *worker), uint16_t index,
		 uint16_t cpu, struct tp_error *error);

/* Asks; does not wait. */
void worker_ask(struct worker *worker);

/* Waits for the answer. False if none came within `timeout_ns`. */
bool worker_await(struct worker *worker, uint64_t timeout_ns);

/* Tells it to end; what was written or read before is behind it for the worker. */
void worker_stop(struct worker *worker);

/* Waits until it has ended. */
void worker_join(struct worker *worker);

/* --- called on the worker's own thread -------------------------------------------------------- */

void worker_ready(struct worker *worker);

static inline bool worker_stopping(struct worker *worker)
{
	return atomic_load_explicit(&worker->stopping, memory_order_acquire);
}

static inline bool worker_asked(struct worker *worker)
{
	return atomic_load_explicit(&worker->asked, memory_order_acquire) !=
	       atomic_load_explicit(&worker->answered, memory_order_relaxed);
}

static inline void worker_answer(struct worker *worker)
{
	binding_note_cpu(&worker->binding);
	atomic_store_explicit(&worker->answered,
			      atomic_load_explicit(&worker->asked, memory_order_relaxed),
			      memory_order_release);
}

#endif
