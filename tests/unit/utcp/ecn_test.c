#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <string.h>

enum { NOT_ECT = 0, ECT_1 = 1, ECT_0 = 2, CE = 3, MSS = 1460 };

static struct peer peer;
static uint8_t data[65536];

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static const uint8_t mss_option[] = {2, 4, MSS >> 8, MSS & 0xff};

static void open_with(bool ecn, enum utcp_congestion congestion)
{
	struct utcp_config config = peer_config();

	config.ecn = ecn;
	config.congestion = congestion;
	config.send_bytes = sizeof(data);
	peer_open(&peer, &config);
}

/* The peer's SYN, or SYN-ACK with `flags` ACK, at its first number. */
static void put_syn(uint8_t flags)
{
	struct peer_segment syn = {.seq = (uint32_t)PEER_ISN,
				   .ack = flags & ACK ? peer.ack : 0,
				   .window = peer.window,
				   .port = peer.port,
				   .own_port = peer.own_port,
				   .flags = flags | SYN,
				   .options = mss_option,
				   .options_bytes = sizeof(mss_option)};

	peer_put(&peer, &syn);
	peer.seq = syn.seq + 1;
}

/* Completes a call of the peer's whose SYN said `flags`; what the SYN-ACK said of ECN. */
static uint8_t be_called(uint8_t flags)
{
	struct peer_segment answer;

	put_syn(flags);
	CU_ASSERT_FATAL(peer_take(&peer, &answer));
	CU_ASSERT(answer.ecn == NOT_ECT);
	peer.ack = answer.seq + 1;
	peer_send(&peer, ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT_FATAL(peer.accepted == 1);
	return answer.flags & (ECE | CWR);
}

/* Both take part, and the peer has called. */
static void open_agreed(enum utcp_congestion congestion)
{
	open_with(true, congestion);
	CU_ASSERT_FATAL(be_called(ECE | CWR) == ECE);
}

/* Data of the peer's, next in order, with an ECN field. */
static void put_data(size_t bytes, uint8_t flags, uint8_t ecn)
{
	struct peer_segment segment = {.seq = peer.seq,
				       .ack = peer.ack,
				       .window = peer.window,
				       .port = peer.port,
				       .own_port = peer.own_port,
				       .flags = ACK | flags,
				       .ecn = ecn,
				       .data = data,
				       .bytes = bytes};

	peer_put(&peer, &segment);
	peer.seq += (uint32_t)bytes;
}

/* The flags of our next ACK, which must acknowledge up to `ack`; waits for it if it is delayed. */
static uint8_t next_ack(uint32_t ack)
{
	struct peer_segment out;

	if (!peer_take(&peer, &out)) {
		peer_jump(&peer, 2 * MS);
		CU_ASSERT_FATAL(peer_take(&peer, &out));
	}
	CU_ASSERT(out.ack == ack && out.bytes == 0 && out.ecn == NOT_ECT);
	return out.flags & (ECE | CWR);
}

/* Takes all data that leaves; how many segments, and their flags together. */
static unsigned take_burst(uint8_t *flags_out)
{
	struct peer_segment out;
	unsigned count = 0;

	*flags_out = 0;
	while (peer_take(&peer, &out)) {
		*flags_out |= out.flags;
		count++;
	}
	return count;
}

/* Acknowledges `segments` more, one by one, each with `flags`. */
static void acknowledge(unsigned segments, uint8_t flags)
{
	for (unsigned i = 0; i < segments; i++) {
		peer.ack += MSS;
		peer_send(&peer, ACK | flags, NULL, 0);
	}
}

/* --- the handshake --- */

static void is_accepted_where_wanted(void)
{
	static const uint8_t partly[] = {0, ECE, CWR};

	open_with(false, UTCP_CUBIC);
	CU_ASSERT(be_called(ECE | CWR) == 0);
	peer_close(&peer);
	for (unsigned i = 0; i < 3; i++) {
		open_with(true, UTCP_CUBIC);
		CU_ASSERT(be_called(partly[i]) == 0 && COUNT(ecn_opened) == 0);
		peer_close(&peer);
	}
	open_with(true, UTCP_CUBIC);
	CU_ASSERT(be_called(ECE | CWR) == ECE && COUNT(ecn_opened) == 1);
	peer_close(&peer);
	open_with(false, UTCP_DCTCP); /* which implies it */
	CU_ASSERT(be_called(ECE | CWR) == ECE && COUNT(ecn_opened) == 1);
	peer_close(&peer);
}

/* The first data segment we send: its ECN field. */
static uint8_t ecn_of_data(void)
{
	struct peer_segment out;

	CU_ASSERT_FATAL(peer_app_write(&peer, data, 100) && peer_take(&peer, &out));
	CU_ASSERT(out.bytes == 100);
	return out.ecn;
}

/* We call; how the peer answers decides. */
static uint8_t ecn_after_answer(bool ecn, uint8_t flags)
{
	uint8_t sent;

	open_with(ecn, UTCP_CUBIC);
	peer_be_called(&peer);
	CU_ASSERT((peer.frame[peer_tcp_at() + 13] & (ECE | CWR)) == (ecn ? (ECE | CWR) : 0));
	CU_ASSERT(peer_ecn(&peer) == NOT_ECT);
	put_syn(ACK | flags);
	peer_poll(&peer);
	CU_ASSERT_FATAL(peer.events & UTCP_CONNECTED);
	peer_drain(&peer);
	sent = ecn_of_data();
	CU_ASSERT(COUNT(ecn_opened) == (sent == ECT_0));
	peer_close(&peer);
	return sent;
}

static void is_offered_where_wanted(void)
{
	CU_ASSERT(ecn_after_answer(false, 0) == NOT_ECT);
	CU_ASSERT(ecn_after_answer(false, ECE) == NOT_ECT);
	CU_ASSERT(ecn_after_answer(true, 0) == NOT_ECT);
	CU_ASSERT(ecn_after_answer(true, ECE) == ECT_0);
	CU_ASSERT(ecn_after_answer(true, CWR) == NOT_ECT);
	CU_ASSERT(ecn_after_answer(true, ECE | CWR) == NOT_ECT); /* a mirror */
}

/* RFC 3168 6.1.1.1. */
static void calls_again_plainly(void)
{
	struct peer_segment syn;

	open_with(true, UTCP_CUBIC);
	peer_be_called(&peer);
	peer_jump(&peer, 2 * SECOND);
	CU_ASSERT_FATAL(peer_take_frame(&peer) > 0);
	peer_answer_question(&peer);
	CU_ASSERT_FATAL(peer_take(&peer, &syn));
	CU_ASSERT(syn.flags == SYN);
	put_syn(ACK | ECE); /* the answer to the first */
	peer_poll(&peer);
	peer_drain(&peer);
	CU_ASSERT(ecn_of_data() == NOT_ECT);
	put_data(100, 0, CE); /* but what was offered holds */
	CU_ASSERT(next_ack(peer.seq) == ECE);
	peer_close(&peer);
}

static void is_called_again_plainly(void)
{
	struct peer_segment answer;

	open_with(true, UTCP_CUBIC);
	put_syn(ECE | CWR);
	CU_ASSERT_FATAL(peer_take(&peer, &answer));
	CU_ASSERT(answer.flags == (SYN | ACK | ECE));
	CU_ASSERT(be_called(0) == 0);
	CU_ASSERT(ecn_of_data() == NOT_ECT && COUNT(ecn_opened) == 0);
	peer_close(&peer);
}

/* Both call at once: the peer's SYN says `syn`, its SYN-ACK `answer`. */
static uint8_t ecn_of_both(uint8_t syn, uint8_t answer)
{
	struct peer_segment out;
	uint8_t sent;

	open_with(true, UTCP_CUBIC);
	peer_be_called(&peer);
	put_syn(syn);
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	CU_ASSERT(out.flags == (SYN | ACK | (syn == (ECE | CWR) ? ECE : 0)));
	put_syn(ACK | answer);
	peer_poll(&peer);
	CU_ASSERT_FATAL(peer.events & UTCP_CONNECTED);
	peer_drain(&peer);
	sent = ecn_of_data();
	peer_close(&peer);
	return sent;
}

static void both_call(void)
{
	CU_ASSERT(ecn_of_both(ECE | CWR, ECE) == ECT_0);
	CU_ASSERT(ecn_of_both(ECE | CWR, 0) == NOT_ECT);
	CU_ASSERT(ecn_of_both(0, ECE) == NOT_ECT);
}

/* --- what may be marked --- */

static void only_new_data_may_be_marked(void)
{
	struct peer_segment out;

	open_agreed(UTCP_CUBIC);
	CU_ASSERT(ecn_of_data() == ECT_0);
	peer_jump(&peer, 2 * SECOND); /* RFC 3168 6.1.5 */
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	CU_ASSERT(out.bytes == 100 && out.ecn == NOT_ECT);
	peer.ack += 100;
	peer.window = 0;
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(peer_app_write(&peer, data, 100));
	CU_ASSERT(!peer_take(&peer, &out));
	peer_jump(&peer, 2 * SECOND);
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	CU_ASSERT(COUNT(probes) == 1 && out.ecn == NOT_ECT); /* 6.1.6 */
	peer.window = 60000;
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	CU_ASSERT(out.bytes == 100 && out.ecn == ECT_0);
	CU_ASSERT(out.flags == (ACK | PSH | CWR)); /* of the timeout before: 6.1.2 */
	utcp_finish(peer.utcp, peer.conn);
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	CU_ASSERT(out.flags == (ACK | FIN) && out.ecn == NOT_ECT);
	utcp_abort(peer.utcp, peer.conn);
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	CU_ASSERT((out.flags & RST) && out.ecn == NOT_ECT);
	peer_close(&peer);
}

/* --- the receiver --- */

static void marks_are_told_until_heard(void)
{
	open_agreed(UTCP_CUBIC);
	put_data(100, 0, ECT_0);
	CU_ASSERT(next_ack(peer.seq) == 0);
	put_data(100, 0, CE);
	CU_ASSERT(next_ack(peer.seq) == ECE);
	put_data(100, 0, ECT_1);
	CU_ASSERT(next_ack(peer.seq) == ECE); /* the ACK before may have been lost */
	CU_ASSERT(ecn_of_data() == ECT_0 && peer.frame[peer_tcp_at() + 13] == (ACK | PSH | ECE));
	put_data(100, CWR, CE);
	CU_ASSERT(next_ack(peer.seq) == ECE); /* marked again */
	put_data(100, CWR, ECT_0);
	CU_ASSERT(next_ack(peer.seq) == 0);
	put_data(100, 0, ECT_0);
	CU_ASSERT(next_ack(peer.seq) == 0 && COUNT(ce_segments) == 2);
	peer_close(&peer);
}

/* One mark of two segments that share an ACK is told. */
static void one_mark_of_two_is_told(void)
{
	open_agreed(UTCP_CUBIC);
	put_data(MSS, 0, CE);
	put_data(MSS, 0, ECT_0);
	CU_ASSERT(next_ack(peer.seq) == ECE);
	peer_close(&peer);
}

static void other_marks_are_not_told(void)
{
	uint32_t next;

	open_with(true, UTCP_CUBIC); /* nothing was agreed */
	be_called(0);
	put_data(100, 0, CE);
	CU_ASSERT(next_ack(peer.seq) == 0);
	peer_close(&peer);
	open_agreed(UTCP_CUBIC);
	put_data(100, 0, ECT_0);
	CU_ASSERT(next_ack(peer.seq) == 0);
	next = peer.seq;
	peer.seq -= 100;
	put_data(100, 0, CE); /* old: RFC 3168 6.1.5 */
	CU_ASSERT(next_ack(next) == 0);
	peer.seq = next + 20000;
	put_data(100, 0, CE); /* beyond the window */
	CU_ASSERT(next_ack(next) == 0);
	peer.seq = next;
	put_data(0, 0, CE); /* an ACK */
	put_data(100, 0, ECT_0);
	CU_ASSERT(next_ack(peer.seq) == 0 && COUNT(ce_segments) == 0);
	peer_close(&peer);
}

static void a_mark_ahead_of_a_gap_is_told(void)
{
	struct peer_segment out;

	open_agreed(UTCP_CUBIC);
	peer.seq += 100;
	put_data(100, 0, CE);
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	CU_ASSERT(out.ack == peer.seq - 200 && out.flags == (ACK | ECE));
	peer_close(&peer);
}

/* --- DCTCP's receiver (RFC 8257 3.2) --- */

static void each_change_is_told_by_itself(void)
{
	open_agreed(UTCP_DCTCP);
	put_data(100, 0, ECT_0);
	put_data(100, 0, CE);
	CU_ASSERT(next_ack(peer.seq - 100) == 0);
	CU_ASSERT(next_ack(peer.seq) == ECE);
	put_data(100, CWR, CE); /* CWR means nothing here */
	CU_ASSERT(next_ack(peer.seq) == ECE);
	put_data(100, 0, CE);
	put_data(100, 0, ECT_0);
	CU_ASSERT(next_ack(peer.seq - 100) == ECE);
	CU_ASSERT(next_ack(peer.seq) == 0);
	put_data(100, 0, ECT_0);
	CU_ASSERT(next_ack(peer.seq) == 0 && peer_drain(&peer) == 0);
	peer_close(&peer);
}

/* A run of marked segments shares ACKs as any other, and an ACK in between changes nothing. */
static void a_run_of_marks_shares_acks(void)
{
	struct peer_segment out;

	open_agreed(UTCP_DCTCP);
	put_data(100, 0, CE);
	CU_ASSERT(next_ack(peer.seq) == ECE);
	put_data(MSS, 0, CE);
	CU_ASSERT(!peer_take(&peer, &out));
	put_data(0, 0, NOT_ECT);
	CU_ASSERT(!peer_take(&peer, &out));
	put_data(MSS, 0, CE);
	CU_ASSERT(next_ack(peer.seq) == ECE);
	peer_close(&peer);
}

/* In one turn, more changes than the answers have room for: what is lost is told with the next. */
static void a_flood_of_changes_is_bounded(void)
{
	struct peer_segment out;
	unsigned acks = 0;

	open_agreed(UTCP_DCTCP);
	for (unsigned i = 0; i < 200; i++)
		put_data(50, 0, i & 1 ? CE : ECT_0);
	CU_ASSERT(COUNT(out_lost) > 0);
	while (peer_take(&peer, &out))
		acks++;
	CU_ASSERT(acks > 1 && acks <= 65 && out.ack == peer.seq);
	CU_ASSERT(out.flags == (ACK | ECE));
	peer_close(&peer);
}

/* --- the sender --- */

/* Twenty segments are out: the first window, acknowledged, and then twice as much. */
static void fill_window(enum utcp_congestion congestion)
{
	uint8_t flags;

	open_agreed(congestion);
	CU_ASSERT_FATAL(peer_app_write(&peer, data, 44 * MSS));
	CU_ASSERT(take_burst(&flags) == 10);
	acknowledge(10, 0);
	CU_ASSERT(take_burst(&flags) == 20 && flags == ACK);
}

static void an_echo_cuts_once_a_window(void)
{
	uint8_t flags;

	fill_window(UTCP_NEWRENO);
	acknowledge(1, ECE);
	CU_ASSERT(take_burst(&flags) == 0);
	acknowledge(9, ECE); /* to 10 in flight, which is the new window */
	CU_ASSERT(take_burst(&flags) == 0);
	acknowledge(1, ECE);
	CU_ASSERT(take_burst(&flags) == 1 && (flags & CWR));
	acknowledge(9, ECE); /* the last of what was in flight */
	CU_ASSERT(take_burst(&flags) == 9 && !(flags & CWR));
	CU_ASSERT(COUNT(cwr_segments) == 1 && COUNT(ece_acks) == 20);
	CU_ASSERT(COUNT(retransmits) == 0);
	acknowledge(1, 0); /* the segment with CWR */
	CU_ASSERT(take_burst(&flags) == 1);
	acknowledge(1, ECE); /* a mark of the next window */
	CU_ASSERT(take_burst(&flags) == 0);
	acknowledge(4, 0);
	CU_ASSERT(take_burst(&flags) == 0); /* 5 in flight */
	acknowledge(1, 0);		    /* a whole window: one more */
	CU_ASSERT(take_burst(&flags) == 2 && (flags & CWR) && COUNT(cwr_segments) == 2);
	peer_close(&peer);
}

static void echoes_without_agreement_do_nothing(void)
{
	uint8_t flags;

	open_with(true, UTCP_NEWRENO);
	be_called(0);
	CU_ASSERT(peer_app_write(&peer, data, 40 * MSS));
	CU_ASSERT(take_burst(&flags) == 10);
	acknowledge(10, ECE);
	CU_ASSERT(take_burst(&flags) == 20 && !(flags & CWR) && COUNT(ece_acks) == 0);
	peer_close(&peer);
}

/* Until new data can say CWR, the peer repeats what the timeout has answered. */
static void an_old_echo_does_not_hold_slow_start_up(void)
{
	uint8_t flags;

	fill_window(UTCP_NEWRENO);
	peer_jump(&peer, 2 * SECOND);
	CU_ASSERT(take_burst(&flags) == 1);
	acknowledge(1, ECE);
	CU_ASSERT(take_burst(&flags) == 2);
	acknowledge(2, ECE);
	CU_ASSERT(take_burst(&flags) == 4 && COUNT(cwr_segments) == 0);
	peer_close(&peer);
}

/* RFC 8257 3.3: the first marks find alpha near 1; windows without marks make it small. */
static void dctcp_cuts_by_what_was_marked(void)
{
	uint8_t flags;
	unsigned left = 20;

	fill_window(UTCP_DCTCP);
	acknowledge(1, ECE);
	for (left--; take_burst(&flags) == 0; left--)
		acknowledge(1, 0);
	CU_ASSERT(left >= 9 && left <= 11 && flags & CWR);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"ECN is accepted only from who asks for it as RFC 3168 says", is_accepted_where_wanted},
	{"ECN is offered where it is wanted, and a mirrored offer is no agreement",
	 is_offered_where_wanted},
	{"a call made again is plain: its data cannot be marked, marks are still told",
	 calls_again_plainly},
	{"a peer that calls again plainly gets a plain answer", is_called_again_plainly},
	{"both may call at once and agree, and a plain answer takes it back", both_call},
	{"only new data may be marked", only_new_data_may_be_marked},
	{"a mark is told with every ACK until the peer says that it heard",
	 marks_are_told_until_heard},
	{"one mark among what an ACK acknowledges is told", one_mark_of_two_is_told},
	{"marks outside the window, on empty segments or without agreement are not told",
	 other_marks_are_not_told},
	{"a mark on data behind a gap is told", a_mark_ahead_of_a_gap_is_told},
	{"with DCTCP each change between marked and not is told by an ACK of its own",
	 each_change_is_told_by_itself},
	{"with DCTCP a run of marked segments shares ACKs", a_run_of_marks_shares_acks},
	{"with DCTCP a flood of changes in one turn is bounded", a_flood_of_changes_is_bounded},
	{"an echo cuts the window once a window, and CWR is said once", an_echo_cuts_once_a_window},
	{"echoes without agreement do nothing", echoes_without_agreement_do_nothing},
	{"an echo of what a timeout answered does not hold slow start up",
	 an_old_echo_does_not_hold_slow_start_up},
	{"DCTCP's first mark cuts by nearly a half", dctcp_cuts_by_what_was_marked},
};

SUITE_MAIN("ecn", tests)
