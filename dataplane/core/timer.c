#include "dataplane/core/timer.h"

#include "dataplane/core/check.h"

enum { SLOT_MASK = TIMER_SLOTS - 1 };

static unsigned level_shift(unsigned level)
{
	return level * TIMER_SLOT_BITS;
}

void timer_wheel_init(struct timer_wheel *wheel, uint64_t now_ns)
{
	wheel->tick = now_ns >> TIMER_TICK_SHIFT;
	for (unsigned level = 0; level < TIMER_LEVELS; level++) {
		wheel->occupied[level] = 0;
		for (unsigned slot = 0; slot < TIMER_SLOTS; slot++)
			list_init(&wheel->slots[level][slot]);
	}
}

/* The tick at which a timer fires: rounded up, and never one that has been visited. */
static uint64_t tick_of(const struct timer_wheel *wheel, uint64_t at_ns)
{
	uint64_t tick = at_ns >> TIMER_TICK_SHIFT;

	if (at_ns & ((1u << TIMER_TICK_SHIFT) - 1))
		tick++;
	return tick > wheel->tick ? tick : wheel->tick + 1;
}

/*
 * The finest level on which the tick is less than a turn away. There it never shares the slot of
 * the present, since two ticks with equal upper parts are less than a turn apart on the level
 * below.
 */
static unsigned level_of(const struct timer_wheel *wheel, uint64_t tick)
{
	unsigned level = 0;

	while (level < TIMER_LEVELS - 1 &&
	       (tick >> level_shift(level)) - (wheel->tick >> level_shift(level)) >= TIMER_SLOTS)
		level++;
	return level;
}

static void link_timer(struct timer_wheel *wheel, struct timer *timer)
{
	uint64_t tick = tick_of(wheel, timer->at_ns);
	unsigned level = level_of(wheel, tick);
	uint64_t here = wheel->tick >> level_shift(level), there = tick >> level_shift(level);

	if (there - here >= TIMER_SLOTS)
		there = here + TIMER_SLOTS -
			1; /* beyond the wheel: placed again when that slot comes */
	timer->level = (uint8_t)level;
	timer->slot = there & SLOT_MASK;
	wheel->occupied[level] |= 1ull << timer->slot;
	list_push(&wheel->slots[level][timer->slot], &timer->link);
}

void timer_cancel(struct timer_wheel *wheel, struct timer *timer)
{
	list_remove(&timer->link); /* also from a list of due ones */
	if (timer->at_ns == TIMER_NEVER)
		return;
	if (list_empty(&wheel->slots[timer->level][timer->slot]))
		wheel->occupied[timer->level] &= ~(1ull << timer->slot);
	timer->at_ns = TIMER_NEVER;
}

void timer_relink(struct timer_wheel *wheel, struct timer *timer, uint64_t at_ns)
{
	timer_cancel(wheel, timer);
	timer->at_ns = at_ns;
	link_timer(wheel, timer);
}

/* A bit for each slot of a level that lies in (from, to]. */
static uint64_t slots_passed(uint64_t from, uint64_t to)
{
	uint64_t run;
	unsigned first = (from + 1) & SLOT_MASK;

	if (to - from >= TIMER_SLOTS)
		return ~0ull;
	run = (1ull << (to - from)) - 1;
	return first == 0 ? run : run << first | run >> (TIMER_SLOTS - first);
}

static void collect(struct timer_wheel *wheel, unsigned level, uint64_t to, struct list *found)
{
	uint64_t passed =
		slots_passed(wheel->tick >> level_shift(level), to >> level_shift(level)) &
		wheel->occupied[level];

	wheel->occupied[level] &= ~passed;
	while (passed) {
		list_splice(found, &wheel->slots[level][__builtin_ctzll(passed)]);
		passed &= passed - 1;
	}
}

void timer_advance(struct timer_wheel *wheel, uint64_t now_ns, struct list *due)
{
	uint64_t to = now_ns >> TIMER_TICK_SHIFT;
	struct list found, *link;

	if (to <= wheel->tick)
		return;
	list_init(&found);
	for (unsigned level = 0; level < TIMER_LEVELS; level++)
		collect(wheel, level, to, &found);
	wheel->tick = to;
	while ((link = list_pop(&found))) {
		struct timer *timer = list_member(link, struct timer, link);

		if (timer->at_ns <= to << TIMER_TICK_SHIFT) {
			timer->at_ns = TIMER_NEVER;
			list_push(due, link);
		} else {
			link_timer(wheel, timer);
		}
	}
}

uint64_t timer_next(const struct timer_wheel *wheel)
{
	uint64_t next = TIMER_NEVER;

	for (unsigned level = 0; level < TIMER_LEVELS; level++) {
		uint64_t here = wheel->tick >> level_shift(level), bits = wheel->occupied[level],
			 at;
		unsigned first = (here + 1) & SLOT_MASK;

		if (!bits)
			continue;
		if (first > 0)
			bits = bits >> first | bits << (TIMER_SLOTS - first);
		at = (here + 1 + (unsigned)__builtin_ctzll(bits))
		     << level_shift(level) << TIMER_TICK_SHIFT;
		if (at < next)
			next = at;
	}
	return next;
}
