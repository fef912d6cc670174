#include "stacks/utcp/congestion.h"

#include "stacks/utcp/seq.h"
#include "tests/support/suite.h"

#include <math.h>

enum { MSS = 1000 };

#define SECOND_NS (1000ull * 1000 * 1000)

/* An ACK up to `ack` of `bytes`, of `flight` that were out. */
static void acked(struct congestion *c, uint32_t ack, uint32_t bytes, uint32_t flight)
{
	congestion_acked(c, MSS,
			 &(struct congestion_ack){.ack = ack, .acked = bytes, .flight = flight});
}

static void begins(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	CU_ASSERT(c.cwnd == 10 * MSS);
	congestion_init(&c, &congestion_newreno, 8960, 0, false);
	CU_ASSERT(c.cwnd == 2 * 8960);
	congestion_init(&c, &congestion_newreno, 1460, 0, false);
	CU_ASSERT(c.cwnd == 14600);
	congestion_init(&c, &congestion_newreno, MSS, 0, true);
	CU_ASSERT(c.cwnd == MSS);
}

static void grows(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	acked(&c, 1000, MSS, 10 * MSS);
	CU_ASSERT(c.cwnd == 11 * MSS);
	acked(&c, 6000, 5 * MSS, 9 * MSS); /* one ACK counts as one segment */
	CU_ASSERT(c.cwnd == 12 * MSS);
	acked(&c, 10000, 4 * MSS, 4 * MSS); /* the rest of a flight of ten */
	CU_ASSERT(c.cwnd == 13 * MSS);
	acked(&c, 11000, MSS, MSS); /* not the window's fault */
	CU_ASSERT(c.cwnd == 13 * MSS);
	c.ssthresh = c.cwnd;
	for (uint32_t i = 0; i < 13; i++)
		acked(&c, 12000 + i * MSS, MSS, 13 * MSS);
	CU_ASSERT(c.cwnd == 14 * MSS);
}

static void acks_cannot_be_divided(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	for (uint32_t i = 1; i <= MSS; i++)
		acked(&c, i, 1, c.cwnd);
	CU_ASSERT(c.cwnd == 11 * MSS);
}

static void recovers(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	congestion_recover(&c, MSS, 10 * MSS, 10001);
	CU_ASSERT(c.ssthresh == 5 * MSS && c.recovering && c.recover == 10001);
	congestion_hold(&c, MSS, 4 * MSS, MSS);
	CU_ASSERT(c.cwnd == 5 * MSS);
	acked(&c, 3001, 3 * MSS, 10 * MSS); /* nothing grows meanwhile */
	congestion_hold(&c, MSS, 0, 1);
	CU_ASSERT(c.cwnd == MSS);
	congestion_recovered(&c);
	CU_ASSERT(!c.recovering && c.cwnd == 5 * MSS);
}

/* A burst's ACKs arrive with the news of its loss, before anything could be sent. */
static void cuts_what_was_in_flight(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	acked(&c, 6000, 6 * MSS, 10 * MSS);
	CU_ASSERT(c.cwnd == 11 * MSS);
	congestion_recover(&c, MSS, 4 * MSS, 10001);
	CU_ASSERT(c.ssthresh == 5 * MSS);

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	congestion_recover(&c, MSS, 13 * MSS, 13001); /* with limited transmit */
	CU_ASSERT(c.ssthresh == 5 * MSS);
}

/* What is before snd_una by its number must stay so for any amount, or losses go unheeded for half
 * of the sequence space. */
static void what_is_over_stays_behind(void)
{
	enum { STEP = 1 << 29 };
	struct congestion c;
	uint32_t una = 10001;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	congestion_recover(&c, MSS, 10 * MSS, una);
	acked(&c, una, 10 * MSS, 10 * MSS);
	congestion_recovered(&c);
	CU_ASSERT(c.recover == una); /* which is not more than that (RFC 6582 3.2 step 2) */
	for (unsigned i = 0; i < 16; i++) {
		una += STEP;
		acked(&c, una, STEP, STEP);
		CU_ASSERT(seq_before(c.recover, una) && !c.cut_lately && c.peak == 0);
	}
}

static void a_repaired_loss_cuts_once(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	congestion_repaired(&c, MSS, 10 * MSS, 10001);
	CU_ASSERT(c.ssthresh == 5 * MSS && c.cwnd == 5 * MSS && !c.recovering && c.cwr_due);
}

static void times_out(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	congestion_timeout(&c, MSS, 10 * MSS, 10001, true);
	CU_ASSERT(c.cwnd == MSS && c.ssthresh == 5 * MSS && !c.recovering);
	congestion_timeout(&c, MSS, MSS, 10001, false);
	CU_ASSERT(c.ssthresh == 5 * MSS);
	congestion_timeout(&c, MSS, MSS, 10001, true);
	CU_ASSERT(c.ssthresh == 2 * MSS);
}

/* --- marks --- */

/* The same as `acked`, with ECE. */
static void acked_marked(struct congestion *c, uint32_t ack, uint32_t bytes, uint32_t flight)
{
	congestion_acked(c, MSS,
			 &(struct congestion_ack){
				 .ack = ack, .acked = bytes, .flight = flight, .marked = true});
}

static void a_mark_cuts_once_a_window(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	acked_marked(&c, 1000, MSS, 10 * MSS);
	CU_ASSERT(c.cwnd == 5 * MSS && c.ssthresh == 5 * MSS && c.cwr_due);
	acked_marked(&c, 10000, 9 * MSS, 9 * MSS); /* all of it was sent before the cut */
	CU_ASSERT(c.cwnd == 5 * MSS);
	acked_marked(&c, 11000, MSS, 5 * MSS);
	CU_ASSERT(c.cwnd == 2 * MSS + MSS / 2);
	acked_marked(&c, 40000, 3 * MSS, 3 * MSS); /* never below two segments */
	CU_ASSERT(c.cwnd == 2 * MSS);
}

/* RFC 3168 6.1.2: one cut for marks and drops of one window; what is dropped again is another. */
static void a_window_is_cut_once_for_marks_and_losses(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	acked_marked(&c, 1000, MSS, 10 * MSS);
	congestion_recover(&c, MSS, 9 * MSS, 10000);
	CU_ASSERT(c.recovering && c.ssthresh == 5 * MSS);
	acked_marked(&c, 10000, 9 * MSS, 9 * MSS);
	congestion_recovered(&c);
	CU_ASSERT(!c.recovering && c.ssthresh == 5 * MSS);
	congestion_timeout(&c, MSS, 4 * MSS, 14000, true);
	CU_ASSERT(c.ssthresh == 2 * MSS && c.cwnd == MSS);

	congestion_init(&c, &congestion_newreno, MSS, 0, false);
	congestion_recover(&c, MSS, 10 * MSS, 11000);
	CU_ASSERT(c.ssthresh == 5 * MSS);
	acked_marked(&c, 11000, 10 * MSS, 10 * MSS);
	congestion_recovered(&c);
	CU_ASSERT(c.ssthresh == 5 * MSS);
	acked_marked(&c, 13000, 2 * MSS, 8 * MSS);
	CU_ASSERT(c.ssthresh == 4 * MSS);
}

static void a_mark_cuts_cubic_to_seven_tenths(void)
{
	struct congestion c;

	congestion_init(&c, &congestion_cubic, MSS, 0, false);
	acked_marked(&c, 1000, MSS, 10 * MSS);
	CU_ASSERT(c.cwnd == 7 * MSS && c.cubic.max == 10 * MSS);
}

/* --- DCTCP --- */

/* A window of `marked` in a hundred segments is acknowledged; alpha afterwards. */
static double observe(struct congestion *c, uint32_t *seq, unsigned marked)
{
	for (uint32_t i = 0; i < 100; i++) {
		*seq += MSS;
		c->cwnd = 100 * MSS;
		if (i < marked)
			acked_marked(c, *seq, MSS, 100 * MSS);
		else
			acked(c, *seq, MSS, 100 * MSS);
	}
	return 1 - c->dctcp.unmarked / 65536.0;
}

/* RFC 8257 3.3: alpha (1 - g) + g M, once a window, from 1 on. */
static void dctcp_averages_what_was_marked(void)
{
	struct congestion c;
	uint32_t seq = (uint32_t)-250 * MSS; /* over the wrap */
	double alpha = 1 - 1 / 16.0;	     /* the first ACK ends a first window of itself */

	congestion_init(&c, &congestion_dctcp, MSS, seq, false);
	seq += MSS;
	acked(&c, seq, MSS, 100 * MSS);
	CU_ASSERT_DOUBLE_EQUAL(1 - c.dctcp.unmarked / 65536.0, alpha, 0.0001);
	for (unsigned i = 0; i < 200; i++) {
		static const unsigned shares[] = {0, 25, 50, 100};
		unsigned marked = shares[i / 50];
		double seen = observe(&c, &seq, marked);

		alpha = alpha * 15 / 16 + marked / 1600.0;
		CU_ASSERT_DOUBLE_EQUAL(seen, alpha, 0.001);
	}
	for (unsigned i = 0; i < 200; i++)
		observe(&c, &seq, 0);
	CU_ASSERT(c.dctcp.unmarked > 65500); /* it can forget */
}

static void dctcp_cuts_by_half_of_alpha(void)
{
	struct congestion c;

	for (uint32_t unmarked = 0; unmarked <= 65536; unmarked += 8192) {
		double alpha = 1 - unmarked / 65536.0;

		congestion_init(&c, &congestion_dctcp, MSS, 0, false);
		c.cwnd = 100 * MSS;
		c.dctcp = (struct congestion_dctcp){.unmarked = unmarked, .observing = true};
		c.dctcp.end = 500 * MSS;
		acked_marked(&c, 1000, MSS, 80 * MSS);
		CU_ASSERT_DOUBLE_EQUAL(c.cwnd, 100 * MSS * (1 - alpha / 2), 2);
		CU_ASSERT(c.ssthresh == c.cwnd);
		acked(&c, 100000, MSS, 80 * MSS); /* what is not marked grows it */
		CU_ASSERT(c.acked_bytes == MSS);
		congestion_recover(&c, MSS, 80 * MSS, 180000); /* a loss halves (3.5) */
		CU_ASSERT(c.ssthresh == (c.cwnd < 80 * MSS ? c.cwnd : 80 * MSS) / 2);
	}
}

/* --- CUBIC --- */

/* In congestion avoidance after a cut from `segments` in flight. */
static void begin_cubic(struct congestion *c, uint32_t segments)
{
	congestion_init(c, &congestion_cubic, MSS, 0, false);
	c->cwnd = segments * MSS;
	congestion_recover(c, MSS, c->cwnd, 0);
	congestion_recovered(c);
	c->cut_lately = false; /* what was out then is acknowledged */
}

/* For so long all that the window allows is acknowledged once a round trip, a segment an ACK. */
static void fill_window(struct congestion *c, uint64_t *now_ns, uint64_t rtt_ns, uint64_t for_ns)
{
	uint32_t seq = 0;

	for (uint64_t end_ns = *now_ns + for_ns; *now_ns < end_ns; *now_ns += rtt_ns) {
		uint32_t flight = c->cwnd / MSS * MSS;

		for (uint32_t left = flight; left > 0; left -= MSS) {
			seq += MSS;
			congestion_acked(c, MSS,
					 &(struct congestion_ack){.ack = seq,
								  .acked = MSS,
								  .flight = left,
								  .now_ns = *now_ns,
								  .rtt_ns = rtt_ns});
		}
	}
}

/* W_cubic(t) of RFC 9438 figure 1 in floating point, segments, after a cut from `max` to 0.7. */
static double curve(double max, double t_s)
{
	double k_s = cbrt(max * 0.3 / 0.4);

	return 0.4 * pow(t_s - k_s, 3) + max;
}

static void cubic_cuts_to_seven_tenths(void)
{
	struct congestion c;

	begin_cubic(&c, 100);
	CU_ASSERT_EQUAL(c.ssthresh, 70 * MSS);
	begin_cubic(&c, 2);
	CU_ASSERT_EQUAL(c.ssthresh, 2 * MSS);
}

/* Long round trips: what NewReno would have is below the curve up to there. */
static void cubic_follows_its_curve(void)
{
	static const double times_s[] = {1, 2, 4, 5, 8, 10};
	uint64_t now_ns = 7 * SECOND_NS, begin_ns = now_ns;
	struct congestion c;

	begin_cubic(&c, 1000);
	for (unsigned i = 0; i < sizeof(times_s) / sizeof(times_s[0]); i++) {
		uint64_t at_ns = begin_ns + (uint64_t)(times_s[i] * 1e9);
		double expected = curve(1000, times_s[i]);

		fill_window(&c, &now_ns, SECOND_NS / 10, at_ns - now_ns);
		CU_ASSERT_DOUBLE_EQUAL(c.cwnd / (double)MSS, expected, expected * 0.01);
	}
}

/* Short round trips: the curve is slow, and NewReno would be faster (RFC 9438 4.3). */
static void cubic_is_no_slower_than_newreno(void)
{
	struct congestion c, reno;
	uint64_t now_ns = SECOND_NS, reno_ns = SECOND_NS;

	begin_cubic(&c, 20);
	fill_window(&c, &now_ns, SECOND_NS / 1000, SECOND_NS / 10);
	congestion_init(&reno, &congestion_newreno, MSS, 0, false);
	reno.cwnd = reno.ssthresh = 14 * MSS;
	fill_window(&reno, &reno_ns, SECOND_NS / 1000, SECOND_NS / 10);
	/* 9/17 of its steps up to the window of the cut, then the same */
	CU_ASSERT_TRUE(c.cwnd > 20 * MSS && reno.cwnd - c.cwnd < 8 * MSS);
}

static void cubic_leaves_room_to_others(void)
{
	struct congestion c;

	begin_cubic(&c, 1000);
	CU_ASSERT_EQUAL(c.cubic.max, 1000 * MSS);
	congestion_recover(&c, MSS, c.cwnd, 0); /* again, at 700 */
	CU_ASSERT_EQUAL(c.cubic.max, 595 * MSS);
}

/* RFC 9438 4.8: no plateau at a window that a timeout has shown to be no good guide. */
static void cubic_begins_anew_after_a_timeout(void)
{
	uint64_t now_ns = SECOND_NS;
	struct congestion c;

	congestion_init(&c, &congestion_cubic, MSS, 0, false);
	c.cwnd = 100 * MSS;
	congestion_timeout(&c, MSS, 100 * MSS, 100000, true);
	CU_ASSERT(c.ssthresh == 70 * MSS && c.cwnd == MSS);
	c.cwnd = c.ssthresh; /* slow start is over */
	fill_window(&c, &now_ns, SECOND_NS / 10, 5 * SECOND_NS);
	CU_ASSERT(c.cubic.k_ms == 0 && c.cubic.max == 70 * MSS);
	CU_ASSERT(c.cwnd > 110 * MSS); /* 70 + 0.4 * 5^3 */
}

/* A pause is no time in congestion avoidance: the window goes on from where it stood. */
static void cubic_does_not_count_pauses(void)
{
	uint64_t now_ns = SECOND_NS;
	struct congestion c;
	uint32_t before;

	begin_cubic(&c, 100);
	fill_window(&c, &now_ns, SECOND_NS / 10, SECOND_NS);
	before = c.cwnd;
	congestion_acked(
		&c, MSS,
		&(struct congestion_ack){.ack = 1, .acked = 1, .flight = 1, .now_ns = now_ns});
	now_ns += 100 * SECOND_NS;
	fill_window(&c, &now_ns, SECOND_NS / 10, SECOND_NS / 10);
	CU_ASSERT_TRUE(c.cwnd >= before && c.cwnd < before + 10 * MSS);
}

/*
 * The mean window, segments, where one of `every` segments is marked and nothing else limits: over
 * 40 cuts, after as many that are not looked at.
 */
static double mean_window(const struct congestion_algorithm *algorithm, uint32_t every,
			  uint64_t rtt_ns)
{
	struct congestion c;
	double now_ns = 1e9, begun_ns = 0;

	congestion_init(&c, algorithm, MSS, 0, false);
	for (uint64_t i = 1; i <= 80ull * every; i++) {
		uint32_t flight = c.cwnd / MSS * MSS;

		if (i == 40ull * every)
			begun_ns = now_ns;
		now_ns += (double)rtt_ns * MSS / c.cwnd;
		congestion_acked(&c, MSS,
				 &(struct congestion_ack){.ack = (uint32_t)(i * MSS),
							  .acked = MSS,
							  .flight = flight,
							  .now_ns = (uint64_t)now_ns,
							  .rtt_ns = rtt_ns,
							  .marked = i % every == 0});
	}
	return 40.0 * every * (double)rtt_ns / (now_ns - begun_ns);
}

/* RFC 9438 5.1, for one mark in 1/p segments: CUBIC's 1.054 (RTT / p)^0.75, or NewReno's (1.5 /
 * p)^0.5 where that is more. */
static void cubic_windows_are_those_of_the_rfc(void)
{
	static const uint32_t every[] = {100, 1000, 10000, 100000};
	static const double rtts_s[] = {0.01, 0.1};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 2; k++) {
			double reno = sqrt(1.5 * every[i]);
			double cubic = 1.054 * pow(rtts_s[k] * every[i], 0.75);
			double expected = cubic > reno ? cubic : reno;
			double seen = mean_window(&congestion_cubic, every[i],
						  (uint64_t)(rtts_s[k] * 1e9));

			CU_ASSERT_DOUBLE_EQUAL(seen, expected, expected * 0.08);
		}
}

static void newreno_windows_are_as_known(void)
{
	for (uint32_t every = 100; every <= 10000; every *= 10) {
		double expected = sqrt(1.5 * every);

		CU_ASSERT_DOUBLE_EQUAL(mean_window(&congestion_newreno, every, SECOND_NS / 100),
				       expected, expected * 0.04);
	}
}

/* A clock that stands still, or has run for years, breaks nothing. */
static void cubic_stays_within_bounds(void)
{
	static const uint64_t steps_ns[] = {0, 1, SECOND_NS, 1000 * SECOND_NS,
					    365 * 86400 * SECOND_NS};
	struct congestion c;

	for (unsigned i = 0; i < sizeof(steps_ns) / sizeof(steps_ns[0]); i++) {
		uint64_t now_ns = 1;

		congestion_init(&c, &congestion_cubic, 9000, 0, false);
		c.cwnd = CONGESTION_CWND_MAX;
		congestion_timeout(&c, 9000, c.cwnd, 0, true);
		c.cwnd = c.ssthresh;
		for (unsigned k = 0; k < 2000; k++, now_ns += steps_ns[i]) {
			uint32_t before = c.cwnd;

			congestion_acked(&c, 9000,
					 &(struct congestion_ack){.ack = k * 9000,
								  .acked = c.cwnd,
								  .flight = c.cwnd,
								  .now_ns = now_ns,
								  .rtt_ns = steps_ns[i]});
			CU_ASSERT_TRUE(c.cwnd >= before && c.cwnd <= CONGESTION_CWND_MAX);
			CU_ASSERT_TRUE(c.cwnd - before <= before / 2 + 9000);
		}
	}
}

static const struct suite_test tests[] = {
	{"the initial window is RFC 6928's, one segment after a lost SYN", begins},
	{"slow start and avoidance grow only while the window limits", grows},
	{"dividing an ACK gains nothing", acks_cannot_be_divided},
	{"a recovery cuts once, and the window stands at its end", recovers},
	{"a loss cuts what was in flight before the ACKs that told it, at most the window",
	 cuts_what_was_in_flight},
	{"a recovery that is over stays behind, however much is acknowledged",
	 what_is_over_stays_behind},
	{"a loss that is repaired already cuts the window", a_repaired_loss_cuts_once},
	{"a timeout halves once and restarts from one segment", times_out},
	{"a mark cuts once a window, as a loss does", a_mark_cuts_once_a_window},
	{"marks and losses of one window cut once, a timeout again",
	 a_window_is_cut_once_for_marks_and_losses},
	{"a mark cuts CUBIC to seven tenths", a_mark_cuts_cubic_to_seven_tenths},
	{"DCTCP averages what was marked over windows", dctcp_averages_what_was_marked},
	{"DCTCP cuts by half of what is marked, and to a half for a loss",
	 dctcp_cuts_by_half_of_alpha},
	{"CUBIC cuts to seven tenths", cubic_cuts_to_seven_tenths},
	{"CUBIC follows its curve around the last cut and beyond", cubic_follows_its_curve},
	{"CUBIC is no slower than NewReno would be", cubic_is_no_slower_than_newreno},
	{"after a timeout CUBIC's curve begins where avoidance does",
	 cubic_begins_anew_after_a_timeout},
	{"CUBIC that has less than before leaves room to others", cubic_leaves_room_to_others},
	{"CUBIC's mean windows are those of RFC 9438", cubic_windows_are_those_of_the_rfc},
	{"NewReno's mean windows are the square root of 1.5 / p", newreno_windows_are_as_known},
	{"CUBIC does not count pauses", cubic_does_not_count_pauses},
	{"CUBIC's window moves by no more than a half, whatever the clock does",
	 cubic_stays_within_bounds},
};

SUITE_MAIN("congestion", tests)
