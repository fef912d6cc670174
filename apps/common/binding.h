/*
 * binding: whether a worker is where it was put, as the kernel has it and as the worker saw it.
 *
 * A worker notes on its own thread which CPU it finds itself on, once as it becomes ready and again
 * each time that it answers; the main thread asks the kernel for the rest. So a mask that somebody
 * changed from outside, and a move from one CPU to another, are known from inside the process, on
 * whichever host it runs.
 *
 * Planes: noting is setup and at an answer, never in a turn; JSON is report, on the main thread
 * while the worker lives.
 */
#ifndef WEIR_APPS_BINDING_H
#define WEIR_APPS_BINDING_H

#include <jansson.h>
#include <sched.h>
#include <sys/types.h>

enum {
	BINDING_NODE_BITS = 1024, /* nodes that a memory policy may name */
	BINDING_NODE_WORDS = BINDING_NODE_BITS / (8 * sizeof(unsigned long)),
};

/* What one worker knows of itself. */
struct binding {
	pid_t thread;	       /* its id; 0 until it was ready */
	cpu_set_t seen;	       /* CPUs that it found itself on */
	long migrations_ready; /* moves before it was ready; -1 if the kernel does not say */
	int policy;	       /* of its memory, MPOL_*; or a negative errno */
	unsigned long nodes[BINDING_NODE_WORDS]; /* bits of that policy */
};

/* On the worker's thread, once, as it becomes ready. */
void binding_note_ready(struct binding *binding);

/* On the worker's thread, later: where it is now. */
static inline void binding_note_cpu(struct binding *binding)
{
	int cpu = sched_getcpu();

	if (cpu >= 0 && cpu < CPU_SETSIZE)
		CPU_SET(cpu, &binding->seen);
}

/*
 * {"thread", "affinity": [CPU], "seen_on": [CPU], "migrations" (since it was ready),
 * "memory_policy": "bind", "memory_nodes": [NODE]}; what the kernel does not say is null with the
 * reason. A new reference.
 */
json_t *binding_to_json(const struct binding *binding);

#endif
