#include "dataplane/core/clock.h"

#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct clock_rate clock_rate;

uint64_t clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * CLOCK_SECOND_NS + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)

enum {
	CPUID_POWER_LEAF = 0x80000007,
	CPUID_INVARIANT_TSC = 1 << 8, /* in EDX */
};

static bool tsc_is_invariant(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(CPUID_POWER_LEAF, &eax, &ebx, &ecx, &edx) && (edx & CPUID_INVARIANT_TSC);
}

/* One moment on both clocks: of several tries the one that took the fewest ticks. */
static void read_pair(uint64_t *tick_out, uint64_t *ns_out)
{
	uint64_t best = UINT64_MAX;

	*tick_out = *ns_out = 0;
	for (int i = 0; i < 16; i++) {
		uint64_t before = __builtin_ia32_rdtsc();
		uint64_t ns = clock_monotonic_ns();
		uint64_t after = __builtin_ia32_rdtsc();

		if (after - before < best) {
			best = after - before;
			*tick_out = before + (after - before) / 2;
			*ns_out = ns;
		}
	}
}

void clock_start(void)
{
	struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
	uint64_t tick0, ns0, tick1, ns1;

	if (clock_rate.tsc || !tsc_is_invariant())
		return;
	read_pair(&tick0, &ns0);
	nanosleep(&pause, NULL);
	read_pair(&tick1, &ns1);
	clock_rate.base_tick = tick0;
	clock_rate.base_ns = ns0;
	clock_rate.ns_per_tick_q32 =
		(uint64_t)(((unsigned __int128)(ns1 - ns0) << 32) / (tick1 - tick0));
	clock_rate.tsc = true;
}

#else

void clock_start(void)
{
}

#endif
