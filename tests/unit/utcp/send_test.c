#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <string.h>

static struct peer peer;
static uint8_t data[65536];

static void open_connected(void)
{
	struct utcp_config config = peer_config();

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 13 >> 2);
	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	peer.events = 0;
}

#define COUNT(name) (utcp_counters(peer.utcp)->name)

/* The peer acknowledges all up to `seq`. */
static void acknowledge(uint32_t seq)
{
	peer.ack = seq;
	peer_send(&peer, ACK, NULL, 0);
}

static void cuts_segments(void)
{
	struct peer_segment out;
	uint32_t at = 0;

	open_connected();
	CU_ASSERT(peer_app_write(&peer, data, 4000));
	while (peer_take(&peer, &out)) {
		CU_ASSERT(out.seq == peer.ack + at && memcmp(out.data, data + at, out.bytes) == 0);
		at += (uint32_t)out.bytes;
		CU_ASSERT(out.flags == (at == 4000 ? (ACK | PSH) : ACK));
	}
	CU_ASSERT(at == 4000 && COUNT(out_bytes) == 4000);
	acknowledge(peer.ack + 4000);
	CU_ASSERT(!peer_take(&peer, &out) && utcp_deadline(peer.utcp) != 0);
	peer_close(&peer);
}

static void keeps_to_the_initial_window(void)
{
	struct peer_segment out;
	size_t sent = 0;

	open_connected();
	CU_ASSERT(peer_app_write(&peer, data, 16384));
	while (peer_take(&peer, &out))
		sent += out.bytes;
	CU_ASSERT(sent == 14600);
	acknowledge(peer.ack + 1460); /* slow start: two for one */
	while (peer_take(&peer, &out))
		sent += out.bytes;
	CU_ASSERT(sent == 16384);
	peer_close(&peer);
}

/* Takes all that leaves, then acknowledges it segment by segment; how much that was. */
static uint32_t take_burst(void)
{
	struct peer_segment out;
	uint32_t ends[64], sent = 0;
	unsigned count = 0;

	while (count < 64 && peer_take(&peer, &out)) {
		ends[count++] = out.seq + (uint32_t)out.bytes;
		sent += (uint32_t)out.bytes;
	}
	for (unsigned i = 0; i < count; i++)
		acknowledge(ends[i]);
	return sent;
}

/* RFC 5681 4.1. */
static void idleness_costs_the_window(void)
{
	struct utcp_config config = peer_config();

	config.send_bytes = 65536;
	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	CU_ASSERT(peer_app_write(&peer, data, 60000));
	CU_ASSERT(take_burst() == 14600);
	CU_ASSERT(take_burst() == 29200);
	CU_ASSERT(take_burst() == 60000 - 43800);
	CU_ASSERT(peer_app_write(&peer, data, 40000));
	CU_ASSERT(take_burst() > 29200); /* a pause shorter than the timeout costs nothing */
	while (take_burst() > 0)
		;
	peer_jump(&peer, 2 * SECOND);
	CU_ASSERT(peer_app_write(&peer, data, 40000));
	CU_ASSERT(take_burst() == 14600);
	peer_close(&peer);
}

static void tells_when_writable(void)
{
	open_connected();
	CU_ASSERT(peer_app_write(&peer, data, 16000));
	CU_ASSERT(!peer_app_write(&peer, data, 1000));
	peer_drain(&peer);
	acknowledge(peer.ack + 500);
	peer_poll(&peer);
	CU_ASSERT(!(peer.events & UTCP_WRITABLE));
	acknowledge(peer.ack + 500);
	peer_poll(&peer);
	CU_ASSERT(peer.events & UTCP_WRITABLE);
	peer.events = 0;
	acknowledge(peer.ack + 1000);
	peer_poll(&peer);
	CU_ASSERT(peer.events == 0); /* once */
	CU_ASSERT(peer_app_write(&peer, data, 1000));
	peer_close(&peer);
}

static void backs_off_and_gives_up(void)
{
	struct peer_segment out;
	uint64_t last, gap = 0, began;
	unsigned times = 0;

	open_connected();
	peer_app_write(&peer, data, 100);
	CU_ASSERT(peer_take(&peer, &out));
	began = last = peer.now_ns;
	while (peer.closed == 0 && times < 50) {
		peer_jump(&peer, utcp_deadline(peer.utcp) - peer.now_ns);
		while (peer_take(&peer, &out)) {
			CU_ASSERT(out.seq == peer.ack && out.bytes == 100);
			CU_ASSERT(peer.now_ns - last >= 200 * MS && peer.now_ns - last >= gap);
			CU_ASSERT(peer.now_ns - last <= 61 * SECOND);
			gap = peer.now_ns - last;
			last = peer.now_ns;
			times++;
		}
		peer_poll(&peer);
	}
	CU_ASSERT(times == 10 && peer.closed == 1 && peer.reason == UTCP_TIMEOUT);
	CU_ASSERT(peer.now_ns - began >= 100 * SECOND); /* R2, RFC 9293 3.8.3 */
	CU_ASSERT(COUNT(retransmits) == 10 && COUNT(timeouts) == 11);
	peer_close(&peer);
}

static void resends_after_timeout_from_the_first(void)
{
	struct peer_segment out;

	open_connected();
	peer_app_write(&peer, data, 5000);
	CU_ASSERT(peer_drain(&peer) == 4);
	peer_jump(&peer, 1100 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.seq == peer.ack && out.bytes == 1460);
	CU_ASSERT(!peer_take(&peer, &out)); /* the loss window is one segment */
	acknowledge(peer.ack + 1460);
	CU_ASSERT(peer_take(&peer, &out) && out.seq == peer.ack);
	acknowledge(peer.ack + 3540); /* it had the others */
	CU_ASSERT(!peer_take(&peer, &out));
	CU_ASSERT(COUNT(out_bytes) == 5000);
	peer_close(&peer);
}

static void resends_fast(void)
{
	struct peer_segment out;
	unsigned sent;

	open_connected();
	peer_app_write(&peer, data, 16384);
	sent = peer_drain(&peer);
	CU_ASSERT(sent == 10);
	for (unsigned i = 0; i < 3; i++)
		peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.seq == peer.ack && out.bytes == 1460);
	CU_ASSERT(COUNT(fast_retransmits) == 1 && COUNT(dup_acks) == 3);
	peer_drain(&peer);
	acknowledge(peer.ack + 1460); /* partial: the next hole at once (RFC 6582) */
	CU_ASSERT(peer_take(&peer, &out) && out.seq == peer.ack && out.bytes == 1460);
	CU_ASSERT(COUNT(fast_retransmits) == 1 && COUNT(timeouts) == 0);
	peer_close(&peer);
}

static void resends_the_last_with_its_fin(void)
{
	struct peer_segment out;

	open_connected();
	peer_app_write(&peer, data, 6000);
	utcp_finish(peer.utcp, peer.conn);
	CU_ASSERT(peer_drain(&peer) == 5);
	for (unsigned i = 0; i < 3; i++)
		peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.seq == peer.ack && !(out.flags & FIN));
	acknowledge(peer.ack + 4 * 1460);
	CU_ASSERT(peer_take(&peer, &out) && out.seq == peer.ack && out.bytes == 160);
	CU_ASSERT(out.flags == (FIN | PSH | ACK) && !peer_take(&peer, &out));
	acknowledge(peer.ack + 161);
	CU_ASSERT(!peer_take(&peer, &out));
	peer_close(&peer);
}

/* Karn: the ACK might be of either, and would stretch the timeout. */
static void what_was_resent_is_not_timed(void)
{
	struct peer_segment out;

	open_connected();
	peer_app_write(&peer, data, 1460);
	CU_ASSERT(peer_take(&peer, &out));
	peer_jump(&peer, 100 * MS);
	for (unsigned i = 0; i < 3; i++)
		peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && COUNT(fast_retransmits) == 1);
	peer_jump(&peer, 90 * MS);
	acknowledge(peer.ack + 1460);
	peer_app_write(&peer, data, 100);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 100);
	peer_jump(&peer, 201 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 100);
	peer_close(&peer);
}

static void window_changes_are_no_duplicates(void)
{
	struct peer_segment out;

	open_connected();
	peer_app_write(&peer, data, 3000);
	peer_drain(&peer);
	for (unsigned i = 0; i < 5; i++) {
		peer.window++;
		peer_send(&peer, ACK, NULL, 0);
	}
	for (unsigned i = 0; i < 5; i++)
		peer_send(&peer, ACK, "x", 1);
	for (unsigned i = 0; i < 5; i++)
		peer_send_at(&peer, peer.seq + 10, ACK, "ahead", 5);
	CU_ASSERT(COUNT(dup_acks) == 0);
	while (peer_take(&peer, &out))
		CU_ASSERT(out.bytes == 0);
	peer_close(&peer);
}

static void probes_a_closed_window(void)
{
	struct peer_segment out;
	uint64_t last, gap = 0;

	open_connected();
	peer.window = 0;
	peer_send(&peer, ACK, NULL, 0);
	peer_app_write(&peer, data, 100);
	CU_ASSERT(!peer_take(&peer, &out));
	last = peer.now_ns;
	for (unsigned i = 0; i < 1000 && COUNT(probes) < 20;
	     i++) { /* for as long as the peer answers */
		peer_jump(&peer, utcp_deadline(peer.utcp) - peer.now_ns);
		if (!peer_take(&peer, &out))
			continue;
		CU_ASSERT(out.bytes == 0 && out.seq == peer.ack - 1);
		CU_ASSERT(peer.now_ns - last >= gap && peer.now_ns - last < 61 * SECOND);
		gap = peer.now_ns - last;
		last = peer.now_ns;
		peer_send(&peer, ACK, NULL, 0);
	}
	peer_poll(&peer);
	CU_ASSERT(COUNT(probes) == 20 && peer.closed == 0 && last - peer.now_ns < SECOND);
	peer.window = 100;
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 100);
	peer_jump(&peer, 201 * MS); /* the probes' back-off was theirs alone */
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 100);
	peer_close(&peer);
}

static void lost_window_update_is_found(void)
{
	struct peer_segment out;

	open_connected();
	peer.window = 0;
	peer_send(&peer, ACK, NULL, 0);
	peer_app_write(&peer, data, 100);
	peer.window = 5000; /* opened, and the update lost */
	peer_drain(&peer);
	do
		peer_jump(&peer, utcp_deadline(peer.utcp) - peer.now_ns);
	while (!peer_take(&peer, &out));
	CU_ASSERT(out.bytes == 0 && out.seq == peer.ack - 1);
	peer_send(&peer, ACK, NULL, 0); /* the answer to the probe */
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 100 && out.seq == peer.ack);
	peer_close(&peer);
}

static void unanswered_probes_give_up(void)
{
	open_connected();
	peer.window = 0;
	peer_send(&peer, ACK, NULL, 0);
	peer_app_write(&peer, data, 100);
	peer_wait(&peer, 1000 * SECOND);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT && COUNT(probes) == 10);
	peer_close(&peer);
}

/* RFC 9293 3.10.7.4: of two segments that cross, the newer one's window stands. */
static void old_segments_do_not_set_the_window(void)
{
	struct peer_segment out;

	open_connected();
	peer.window = 0;
	peer_send_at(&peer, peer.seq + 5, ACK, "later", 5);
	peer.window = 60000;
	peer_send_at(&peer, peer.seq, ACK, "first", 5);
	peer_drain(&peer);
	peer_app_write(&peer, data, 100);
	CU_ASSERT(!peer_take(&peer, &out));
	peer_close(&peer);
}

/* The same section: nor one that acknowledges less than was (SND.UNA =< SEG.ACK). */
static void old_acks_do_not_set_the_window(void)
{
	struct peer_segment out;

	open_connected();
	peer_app_write(&peer, data, 100);
	peer_drain(&peer);
	acknowledge(peer.ack + 100);
	peer.ack -= 100;
	peer.window = 0;
	peer_send_at(&peer, peer.seq + 5, ACK, "later", 5);
	peer_drain(&peer);
	peer_app_write(&peer, data, 100);
	CU_ASSERT(peer_take(&peer, &out));
	peer_close(&peer);
}

static void sends_nothing_silly(void)
{
	struct peer_segment out;

	open_connected();
	peer.window = 100; /* of 60000 seen before */
	peer_send(&peer, ACK, NULL, 0);
	peer_app_write(&peer, data, 2000);
	CU_ASSERT(!peer_take(&peer, &out)); /* 100 of 2000 are not worth a segment yet */
	do
		peer_jump(&peer, utcp_deadline(peer.utcp) - peer.now_ns);
	while (!peer_take(&peer, &out));
	CU_ASSERT(out.bytes == 100); /* the override */
	acknowledge(peer.ack + 100);
	CU_ASSERT(!peer_take(&peer, &out)); /* which counts once */
	peer_close(&peer);
}

/* The wait for a window must not become the timeout of what the window then lets out. */
static void a_new_window_begins_a_new_timeout(void)
{
	struct peer_segment out;

	open_connected();
	peer.window = 100;
	peer_send(&peer, ACK, NULL, 0);
	peer_app_write(&peer, data, 2000);
	CU_ASSERT(!peer_take(&peer, &out));
	peer_jump(&peer, 150 * MS);
	peer.window = 60000;
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 2);
	peer_jump(&peer, 150 * MS);
	CU_ASSERT(!peer_take(&peer, &out) && COUNT(timeouts) == 0);
	peer_jump(&peer, 60 * MS);
	CU_ASSERT(peer_take(&peer, &out) && COUNT(timeouts) == 1);
	peer_close(&peer);
}

static void small_writes_do_not_wait(void)
{
	struct peer_segment out;

	open_connected();
	for (unsigned i = 0; i < 5; i++) {
		peer_app_write(&peer, data, 10);
		CU_ASSERT(peer_take(&peer, &out) && out.bytes == 10 && out.flags == (ACK | PSH));
	}
	peer_close(&peer);
}

static void survives_a_shrinking_window(void)
{
	struct peer_segment out;
	unsigned turns = 0;

	open_connected();
	peer_app_write(&peer, data, 10000);
	peer_drain(&peer);
	peer.window = 0; /* taken back, with all in flight */
	peer_send(&peer, ACK, NULL, 0);
	peer_send(&peer, ACK, "x", 1);
	peer_jump(&peer, 2 * MS);
	CU_ASSERT(peer_take(&peer, &out) &&
		  out.seq == peer.ack); /* or it would lie beyond the window */
	peer_wait(&peer, 3 * SECOND);
	CU_ASSERT(COUNT(probes) > 0);
	peer.window = 3000;
	peer_send(&peer, ACK, NULL, 0);
	while (peer.ack != (uint32_t)OWN_ISN + 1 + 10000 && turns++ < 100) {
		if (peer_take(&peer, &out)) {
			if (out.seq == peer.ack)
				acknowledge(peer.ack + (uint32_t)out.bytes);
		} else {
			peer_jump(&peer, 100 * MS);
		}
	}
	CU_ASSERT(turns < 100 && peer.closed == 0);
	peer_close(&peer);
}

/* T38: a program that stood still for 5 s. */
static void a_jump_fires_each_timer_once(void)
{
	struct peer_segment out;

	open_connected();
	peer_app_write(&peer, data, 100);
	CU_ASSERT(peer_take(&peer, &out));
	peer_jump(&peer, 5 * SECOND);
	CU_ASSERT(peer_take(&peer, &out) && !peer_take(&peer, &out));
	CU_ASSERT(COUNT(timeouts) == 1 && COUNT(retransmits) == 1);
	peer_close(&peer);
}

/* The answer waited while we stood still, and is taken in before the timers run. */
static void a_jump_spoils_no_round_trip(void)
{
	struct peer_segment out;

	open_connected();
	for (unsigned i = 0; i < 2; i++) {
		peer_app_write(&peer, data, 100);
		CU_ASSERT(peer_take(&peer, &out));
		peer.now_ns += i == 0 ? 1 * MS : 5 * SECOND;
		acknowledge(peer.ack + 100);
		peer_jump(&peer, 0);
		CU_ASSERT(!peer_take(&peer, &out) && COUNT(timeouts) == 0);
	}
	peer_app_write(&peer, data, 100);
	CU_ASSERT(peer_take(&peer, &out));
	peer_jump(&peer, 201 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 100);
	peer_close(&peer);
}

static void rto_follows_the_round_trip(void)
{
	struct peer_segment out;

	open_connected();
	for (unsigned i = 0; i < 30; i++) {
		peer_app_write(&peer, data, 10);
		CU_ASSERT(peer_take(&peer, &out));
		peer_jump(&peer, 600 * MS - (i == 0 ? 599 * MS : 0));
		acknowledge(peer.ack + 10);
		peer_drain(&peer);
	}
	peer_app_write(&peer, data, 10);
	CU_ASSERT(peer_take(&peer, &out));
	peer_jump(&peer, 590 * MS);
	CU_ASSERT(!peer_take(&peer, &out)); /* slower than the floor, and yet not sent again */
	peer_close(&peer);
}

/* Has connection `conn`, whose peer has this port, write what fits and takes so many frames; how
 * many were of other connections. All that left of it is acknowledged. */
static unsigned turn_of(struct utcp_conn *conn, uint16_t port, unsigned frames)
{
	struct peer_segment out, answer = {.seq = peer.seq,
					   .window = 60000,
					   .port = port,
					   .own_port = OWN_PORT,
					   .flags = ACK};
	unsigned others = 0;

	peer.conn = conn;
	while (peer_app_write(&peer, data, 4096))
		;
	for (unsigned i = 0; i < frames && peer_take(&peer, &out); i++) {
		others += out.port != port;
		if (out.port == port)
			answer.ack = out.seq + (uint32_t)out.bytes;
	}
	peer_jump(&peer, MS);
	if (answer.ack != 0)
		peer_put(&peer, &answer);
	return others;
}

/* Where frames are fewer than one connection has to send, the others get theirs all the same. */
static void nobody_starves(void)
{
	struct utcp_config config = peer_config();
	struct utcp_conn *greedy, *modest;
	unsigned turns = 0;

	config.send_bytes = 65536;
	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	greedy = peer.conn;
	peer.port++;
	peer.seq = (uint32_t)PEER_ISN;
	peer_connect(&peer, NULL, 0);
	modest = peer.conn;
	for (unsigned i = 0; i < 20; i++) /* its window grows */
		turn_of(greedy, PEER_PORT, 64);
	CU_ASSERT(turn_of(greedy, PEER_PORT, 4) == 0);
	peer.conn = modest;
	CU_ASSERT(peer_app_write(&peer, data, 100));
	while (turns < 100 && turn_of(greedy, PEER_PORT, 4) == 0)
		turns++;
	CU_ASSERT(turns <= 4);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"writes are cut at the MSS and pushed at their end", cuts_segments},
	{"ten segments leave at first, then slow start", keeps_to_the_initial_window},
	{"after a pause the window is the first again", idleness_costs_the_window},
	{"a refused write is told once, when it fits", tells_when_writable},
	{"an unanswered segment is sent again, ever later, until R2", backs_off_and_gives_up},
	{"after a timeout all is sent again from the first, one segment at first",
	 resends_after_timeout_from_the_first},
	{"three duplicate ACKs resend at once, partial ACKs the next", resends_fast},
	{"the last segment is resent with its FIN", resends_the_last_with_its_fin},
	{"what was resent is not timed", what_was_resent_is_not_timed},
	{"window updates and data are no duplicate ACKs", window_changes_are_no_duplicates},
	{"a closed window is probed for as long as the peer answers", probes_a_closed_window},
	{"a lost window update is found by a probe", lost_window_update_is_found},
	{"unanswered probes give up", unanswered_probes_give_up},
	{"the window of an older segment does not count", old_segments_do_not_set_the_window},
	{"the window of a segment that acknowledges less than was does not count",
	 old_acks_do_not_set_the_window},
	{"a sliver of window is not filled until the override", sends_nothing_silly},
	{"a window that opens begins a new timeout", a_new_window_begins_a_new_timeout},
	{"small writes leave at once", small_writes_do_not_wait},
	{"a window taken back stalls nothing", survives_a_shrinking_window},
	{"a jump of 5 s fires each timer once", a_jump_fires_each_timer_once},
	{"a round trip that a jump of 5 s stretched does not count", a_jump_spoils_no_round_trip},
	{"the timeout follows a slow round trip", rto_follows_the_round_trip},
	{"who always has more to send starves nobody", nobody_starves},
};

SUITE_MAIN("send", tests)
