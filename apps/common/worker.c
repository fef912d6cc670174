#include "apps/common/worker.h"

#include "apps/common/cpus.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Sleeps between two looks at a worker's answer. */
static void pause_briefly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
}

static void *thread_main(void *argument)
{
	struct worker *worker = argument;
	struct cpus own = {.count = 1, .cpu = {worker->cpu}};

	if (cpus_bind(&own, &worker->error) == 0)
		worker->run(worker);
	atomic_store_explicit(&worker->state, worker->error.text[0] ? WORKER_FAILED : WORKER_ENDED,
			      memory_order_release);
	return NULL;
}

int worker_start(struct worker *worker, void (*run)(struct worker *worker), uint16_t index,
		 uint16_t cpu, struct tp_error *error)
{
	int rc;

	worker->run = run;
	worker->index = index;
	worker->cpu = cpu;
	worker->error.text[0] = '\0';
	rc = pthread_create(&worker->thread, NULL, thread_main, worker);
	if (rc != 0) {
		tp_fail(error, -rc, "cannot start worker %u: %s", index, strerror(rc));
		return -1;
	}
	while (atomic_load_explicit(&worker->state, memory_order_acquire) == WORKER_STARTING)
		pause_briefly();
	if (atomic_load_explicit(&worker->state, memory_order_acquire) != WORKER_FAILED)
		return 0;
	worker_join(worker);
	*error = worker->error;
	return -1;
}

void worker_ready(struct worker *worker)
{
	binding_note_ready(&worker->binding);
	atomic_store_explicit(&worker->state, WORKER_READY, memory_order_release);
}

void worker_ask(struct worker *worker)
{
	atomic_fetch_add_explicit(&worker->asked, 1, memory_order_release);
}

bool worker_await(struct worker *worker, uint64_t timeout_ns)
{
	uint64_t deadline_ns = clock_now_ns() + timeout_ns;

	while (atomic_load_explicit(&worker->answered, memory_order_acquire) !=
	       atomic_load_explicit(&worker->asked, memory_order_relaxed)) {
		if (clock_now_ns() > deadline_ns ||
		    atomic_load_explicit(&worker->state, memory_order_acquire) != WORKER_READY)
			return false;
		pause_briefly();
	}
	return true;
}

void worker_stop(struct worker *worker)
{
	atomic_store_explicit(&worker->stopping, true, memory_order_release);
}

void worker_join(struct worker *worker)
{
	pthread_join(worker->thread, NULL);
}
