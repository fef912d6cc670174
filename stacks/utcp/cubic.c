/*
 * cubic: congestion avoidance along a cubic of time, and cuts to seven tenths (RFC 9438).
 *
 * The window follows W(t) = C (t - K)^3 + W_max, fast up to where the last cut was, slowly around
 * it, and fast again beyond; or what NewReno would have, where that is more. t is the time in
 * congestion avoidance since the last cut while the window was what limited us. In whole numbers:
 * windows in bytes, times in milliseconds.
 */
#include "stacks/utcp/congestion.h"

#include "stacks/utcp/least.h"

/* Beyond so many milliseconds from K the cubic exceeds any window; its cube still fits 64 bits. */
enum { DISTANCE_MAX_MS = 1000 * 1000 };

#define MS_NS (1000ull * 1000)

/* The largest number whose cube is no more than `value`, which is less than 2^63. */
static uint32_t cube_root(uint64_t value)
{
	uint64_t root = 0;

	for (unsigned bit = 21; bit-- > 0;) {
		uint64_t next = root | 1ull << bit;

		if (next * next * next <= value)
			root = next;
	}
	return (uint32_t)root;
}

/* RFC 9438 4.2: K is the cube root of (W_max - cwnd_epoch) / C, in segments and seconds, C 0.4. */
static void begin_epoch(struct congestion *congestion, uint16_t mss, uint64_t now_ns)
{
	struct congestion_cubic *cubic = &congestion->cubic;
	uint32_t cwnd = congestion->cwnd;

	cubic->epoch_ns = now_ns;
	cubic->estimate = cwnd;
	cubic->k_ms = 0;
	congestion->acked_bytes = 0;
	if (cwnd < cubic->max)
		cubic->k_ms = cube_root((uint64_t)(cubic->max - cwnd) * 2500000000u / mss);
	else
		cubic->max = cwnd;
}

/* RFC 9438 4.2: W_cubic(t), bytes. */
static uint32_t window_at(const struct congestion_cubic *cubic, uint16_t mss, uint64_t t_ms)
{
	int64_t from_k_ms =
		t_ms < 2u * DISTANCE_MAX_MS ? (int64_t)t_ms - cubic->k_ms : DISTANCE_MAX_MS;
	int64_t window;

	if (from_k_ms > DISTANCE_MAX_MS)
		from_k_ms = DISTANCE_MAX_MS;
	if (from_k_ms < -DISTANCE_MAX_MS)
		from_k_ms = -DISTANCE_MAX_MS;
	/* C in segments a second cubed is 4 bytes a segment's byte and 10^10 cubic milliseconds. */
	window = from_k_ms * from_k_ms * from_k_ms * 4 / 1000000 * mss / 10000 + cubic->max;
	if (window < mss)
		return mss;
	return window < CONGESTION_CWND_MAX ? (uint32_t)window : CONGESTION_CWND_MAX;
}

/*
 * A part of the bytes acknowledged: what one window of them adds, of `whole`. Rounded up: around
 * W_max the curve rises by less than a byte an ACK, and a window that waits there for whole ones
 * stays behind it at each cut.
 */
static uint32_t part_of(uint32_t whole, const struct congestion_ack *ack, uint32_t cwnd)
{
	return (uint32_t)(((uint64_t)whole * least(ack->acked, cwnd) + cwnd - 1) / cwnd);
}

/*
 * RFC 9438 4.3: for each window that was acknowledged alpha = 3 (1 - 0.7) / (1 + 0.7) = 9 / 17 of a
 * segment, until the window of the last cut is reached again, and a whole one from then on.
 */
static void estimate_newreno(struct congestion *congestion, uint16_t mss, uint32_t acked)
{
	struct congestion_cubic *cubic = &congestion->cubic;

	congestion->acked_bytes += acked;
	if (congestion->acked_bytes < congestion->cwnd)
		return;
	congestion->acked_bytes -= congestion->cwnd;
	cubic->estimate += cubic->estimate < cubic->prior ? mss * 9u / 17 : mss;
	cubic->estimate = least(cubic->estimate, CONGESTION_CWND_MAX);
}

/* RFC 9438 4.3 to 4.5. */
static void avoid(struct congestion *congestion, uint16_t mss, const struct congestion_ack *ack)
{
	struct congestion_cubic *cubic = &congestion->cubic;
	uint32_t cwnd = congestion->cwnd, target;
	uint64_t t_ns;

	if (cubic->epoch_ns == 0)
		begin_epoch(congestion, mss, ack->now_ns);
	t_ns = ack->now_ns - cubic->epoch_ns;
	estimate_newreno(congestion, mss, ack->acked);
	if (window_at(cubic, mss, t_ns / MS_NS) < cubic->estimate) {
		congestion->cwnd = most(cwnd, cubic->estimate);
		return;
	}
	target = window_at(cubic, mss, (t_ns + ack->rtt_ns) / MS_NS);
	target = least(target, cwnd + cwnd / 2);
	if (target > cwnd)
		congestion->cwnd += part_of(target - cwnd, ack, cwnd);
}

/* RFC 9438 4.6, and fast convergence (4.7): who has less than before leaves room to others. */
static uint32_t reduce(struct congestion *congestion, uint16_t mss, uint32_t flight)
{
	struct congestion_cubic *cubic = &congestion->cubic;
	uint32_t cwnd = congestion->cwnd;

	cubic->max = cwnd < cubic->max ? (uint32_t)((uint64_t)cwnd * 17 / 20) : cwnd;
	cubic->prior = cwnd;
	cubic->epoch_ns = 0;
	return most((uint32_t)((uint64_t)flight * 7 / 10), 2u * mss);
}

/* RFC 9438 4.8: the next stage has its W_max where it begins, so that K is 0. */
static void timeout(struct congestion *congestion)
{
	congestion->cubic.max = 0;
}

/* The next stage begins where the window then stands. */
static void rest(struct congestion *congestion)
{
	congestion->cubic.epoch_ns = 0;
}

const struct congestion_algorithm congestion_cubic = {
	.avoid = avoid, .reduce = reduce, .timeout = timeout, .rest = rest};
