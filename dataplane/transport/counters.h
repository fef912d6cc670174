/*
 * counters: what every stack may count, under one set of names.
 *
 * A stack says in tp_ops.counters_known which of these it keeps; the others are unknown, which is
 * not zero, and are reported as null. Counters only grow. The worker's thread writes them; others
 * see copies.
 */
#ifndef WEIR_TRANSPORT_COUNTERS_H
#define WEIR_TRANSPORT_COUNTERS_H

#include <stdint.h>

/* X(name, meaning) */
#define TP_COUNTERS(X)                                                                             \
	X(polls, "calls of poll")                                                                  \
	X(empty_polls, "polls in which nothing moved")                                             \
	X(waits, "polls that slept")                                                               \
	X(wait_ns, "time slept in polls")                                                          \
	X(wakeups, "polls that slept and then found something, however it ended")                  \
	X(accepted, "connections accepted")                                                        \
	X(accepts_refused,                                                                         \
	  "connections refused for want of room; each SYN where the stack drops SYNs")             \
	X(connected, "connections we opened")                                                      \
	X(closed, "connections closed, for whatever reason")                                       \
	X(writes, "writes: flushes that had something committed")                                  \
	X(written_bytes, "bytes committed and flushed")                                            \
	X(largest_write_bytes, "the largest write")                                                \
	X(received_bytes, "bytes received in order")                                               \
	X(copied_bytes, "bytes copied inside our process between stack and device or kernel call") \
	X(reserves_refused, "reserves that found too little send memory")                          \
	X(segments_out, "TCP segments sent")                                                       \
	X(segments_in, "TCP segments received")                                                    \
	X(segments_resent, "TCP segments sent again")                                              \
	X(syscalls, "system calls made")                                                           \
	X(bursts_out, "device transmit calls that sent packets")                                   \
	X(bursts_in, "device receive calls that returned packets")                                 \
	X(drops_in, "received packets dropped, for whatever reason")                               \
	X(drops_out, "packets the device would not take and that were given up")

enum tp_counter {
#define X(name, meaning) TP_COUNT_##name,
	TP_COUNTERS(X)
#undef X
		TP_COUNTER_COUNT,
};

_Static_assert(TP_COUNTER_COUNT <= 64, "counters_known is one 64-bit mask");

struct tp_counters {
#define X(name, meaning) uint64_t name;
	TP_COUNTERS(X)
#undef X
};

_Static_assert(sizeof(struct tp_counters) == TP_COUNTER_COUNT * sizeof(uint64_t),
	       "the struct is also an array indexed by enum tp_counter");

/* A counter's bit in a counters_known mask. */
#define TP_KNOWS(name) (1ull << TP_COUNT_##name)

/* The name of a counter, e.g. "segments_out". */
const char *tp_counter_name(enum tp_counter counter);

static inline uint64_t tp_counter_value(const struct tp_counters *counters, enum tp_counter counter)
{
	return ((const uint64_t *)counters)[counter];
}

/* How a detail is to be read over time, and over instances. */
enum tp_detail_kind {
	TP_DETAIL_COUNT, /* only grows: an interval's is the difference, that of several the sum */
	TP_DETAIL_LEVEL, /* the least since open: the later copy holds, of several the smallest */
};

/* A stack's own counter or level, for the report plane. */
struct tp_detail {
	const char *name; /* static */
	uint64_t value;
	enum tp_detail_kind kind;
};

#endif
