/*
 * gate: keeps DPDK's interrupt thread out while the worker moves packets.
 *
 * The memif driver learns on the EAL's interrupt thread that its peer is gone and unmaps the shared
 * memory there and then; a worker that stands within a burst at that moment dies of SIGSEGV. So the
 * interrupt thread is held inside a callback of ours for as long as memif ports move packets, and
 * let go only when it has something to do: when one of the driver's sockets is readable, and during
 * every setup call. There is one gate a process, as there is one interrupt thread.
 *
 * Setup needs the opposite, too. The interrupt thread fetches what is ready in batches, by file
 * descriptor; a device that is closed and another that is opened at once share descriptors, and an
 * event of the old one would meet the new one half made. So a pass stands between them.
 *
 * It is the one place where two threads meet, by numbering each asking: a late or merged signal is
 * then never taken for a newer one.
 *
 * Planes: start is setup; shut, lift and is_shut are turn, and neither blocks.
 */
#ifndef WEIR_DPDK_GATE_H
#define WEIR_DPDK_GATE_H

#include <stdatomic.h>
#include <stdbool.h>

/* Read inline by gate_is_shut; written by gate.c alone. */
struct gate {
	bool asked;	    /* the owner wants it shut */
	atomic_uint wanted; /* how often that was asked */
	atomic_uint lifted; /* the last asking that is over */
	atomic_uint held;   /* the last asking that the interrupt thread has obeyed */
};

extern struct gate gate;

/* Registers the callback, once a process, after the EAL started. 0 or negative errno. */
int gate_start(void);

/* Asks the interrupt thread in; nothing if that is asked already. */
void gate_shut(void);

/* Lets it go. */
void gate_lift(void);

/*
 * Setup plane: lets it go, and waits (at most a second) until it has looked at everything that was
 * ready before the call. Whether that came about.
 */
bool gate_pass(void);

/* Whether it is held now, so that no driver changes anything behind our back. */
static inline bool gate_is_shut(void)
{
	return gate.asked && atomic_load_explicit(&gate.held, memory_order_acquire) ==
				     atomic_load_explicit(&gate.wanted, memory_order_relaxed);
}

#endif
