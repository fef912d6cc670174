/*
 * clock: nanoseconds that only go forward.
 *
 * Reads the time-stamp counter where the processor promises that it neither stops nor changes its
 * rate (about 10 ns a read), else CLOCK_MONOTONIC. Times from clock_now_ns() compare only within
 * one process. Code that decides never reads a clock: it is given the time.
 *
 * Plane: clock_start is setup, once a process before any other call; clock_now_ns is turn.
 */
#ifndef WEIR_CORE_CLOCK_H
#define WEIR_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_SECOND_NS (1000ull * 1000 * 1000)
#define CLOCK_MS_NS (1000ull * 1000)

/* How ticks become nanoseconds; written by clock_start alone. */
struct clock_rate {
	bool tsc;		  /* the time-stamp counter is used */
	uint64_t base_tick;	  /* counter at base_ns */
	uint64_t base_ns;	  /* CLOCK_MONOTONIC at base_tick */
	uint64_t ns_per_tick_q32; /* 32.32 fixed point */
};

extern struct clock_rate clock_rate;

/* Finds the counter's rate against CLOCK_MONOTONIC (takes 20 ms). Later calls do nothing. */
void clock_start(void);

/* CLOCK_MONOTONIC in nanoseconds, by system call or vDSO. */
uint64_t clock_monotonic_ns(void);

static inline uint64_t clock_now_ns(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(clock_rate.tsc, 1)) {
		uint64_t ticks = __builtin_ia32_rdtsc() - clock_rate.base_tick;

		return clock_rate.base_ns +
		       (uint64_t)(((unsigned __int128)ticks * clock_rate.ns_per_tick_q32) >> 32);
	}
#endif
	return clock_monotonic_ns();
}

#endif
