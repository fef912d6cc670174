/*
 * timer: many deadlines, of which few ever fire.
 *
 * A hierarchical wheel (Varghese and Lauck 1987): TIMER_LEVELS rings of 64 slots, each level 64
 * times coarser than the one below. Arming and cancelling take constant time; advancing visits only
 * occupied slots, at most 64 a level however far the time jumps.
 *
 * Timers are lazy. timer_arm promises to fire no later than asked (rounded up to a tick) and does
 * nothing if an earlier firing is already set. Who moves a deadline later, or drops it, leaves the
 * timer alone; on firing the owner looks at its real deadlines and arms again. So the common case,
 * a deadline that moves ahead with each packet, costs one comparison.
 *
 * Ownership: the wheel links timers that live inside their owners. Plane: turn.
 */
#ifndef WEIR_CORE_TIMER_H
#define WEIR_CORE_TIMER_H

#include "dataplane/core/list.h"

#include <stdint.h>

enum {
	TIMER_TICK_SHIFT = 16, /* a tick is 2^16 ns, about 66 us */
	TIMER_LEVELS = 5, /* 64^5 ticks: 19 hours; what is further away is looked at again then */
	TIMER_SLOT_BITS = 6,
	TIMER_SLOTS = 1 << TIMER_SLOT_BITS,
};

#define TIMER_NEVER UINT64_MAX

struct timer {
	struct list link;
	uint64_t at_ns; /* when it fires; TIMER_NEVER while it is not armed */
	uint8_t level;	/* where it is linked */
	uint8_t slot;
};

struct timer_wheel {
	uint64_t tick;			 /* all slots up to this one have been visited */
	uint64_t occupied[TIMER_LEVELS]; /* a bit for each slot that has a timer */
	struct list slots[TIMER_LEVELS][TIMER_SLOTS];
};

void timer_wheel_init(struct timer_wheel *wheel, uint64_t now_ns);

static inline void timer_init(struct timer *timer)
{
	list_init(&timer->link);
	timer->at_ns = TIMER_NEVER;
}

/* Moves to `now_ns` and puts the timers that fire on `due`, disarmed and in no particular order. */
void timer_advance(struct timer_wheel *wheel, uint64_t now_ns, struct list *due);

/* When timer_advance next has work; never late, and early at most by a slot of the timer's level.
 * TIMER_NEVER if nothing is armed. */
uint64_t timer_next(const struct timer_wheel *wheel);

/* Disarms; harmless if it is not armed. */
void timer_cancel(struct timer_wheel *wheel, struct timer *timer);

/* Links a timer anew; timer_arm's slow half. */
void timer_relink(struct timer_wheel *wheel, struct timer *timer, uint64_t at_ns);

/* Lets the timer fire by `at_ns` at the latest. */
static inline void timer_arm(struct timer_wheel *wheel, struct timer *timer, uint64_t at_ns)
{
	if (__builtin_expect(at_ns < timer->at_ns, 0))
		timer_relink(wheel, timer, at_ns);
}

#endif
