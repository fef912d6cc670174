#include "stacks/utcp/time_wait.h"

#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

#include <string.h>

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static struct peer peer;

/* Has utcp close the connection first, to TIME-WAIT, and the application told. */
static void finish(void)
{
	struct peer_segment out;

	utcp_finish(peer.utcp, peer.conn);
	CU_ASSERT_FATAL(peer_take(&peer, &out) && out.flags & FIN);
	peer.ack = out.seq + (uint32_t)out.bytes + 1;
	peer_send(&peer, FIN | ACK, NULL, 0);
	peer_drain(&peer);
	peer_poll(&peer);
	CU_ASSERT(peer.closed > 0 && peer.reason == UTCP_DONE);
	utcp_advance(peer.utcp, peer.now_ns);
	peer.events = 0;
}

static void open_in_time_wait(const struct utcp_config *config, bool times)
{
	peer_open(&peer, config);
	peer.times = times;
	peer.times_value = 0xfffffffe;
	peer_connect(&peer, NULL, 0);
	finish();
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1);
}

/* Whether a SYN at the peer's next number and `more` is answered with an ACK of the old
 * connection, and changes nothing. */
static bool is_refused(int32_t more)
{
	struct peer_segment out;

	peer_send_at(&peer, peer.seq + (uint32_t)more, SYN, NULL, 0);
	return peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq &&
	       out.seq == peer.ack && utcp_conn_count(peer.utcp) == 1 && COUNT(reopened) == 0;
}

/* The peer calls anew, and must be told numbers that begin at `isn`. */
static void call_again(uint32_t isn)
{
	peer.own_isn = isn;
	peer_connect(&peer, NULL, 0);
	CU_ASSERT(COUNT(reopened) == 1 && utcp_conn_count(peer.utcp) == 1);
	peer_send(&peer, ACK, "new", 3);
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_READABLE);
}

static void ignores_resets(void)
{
	struct utcp_config config = peer_config();

	open_in_time_wait(&config, false);
	peer_send_at(&peer, peer.seq, RST, NULL, 0); /* RFC 1337 3 */
	peer_send_at(&peer, peer.seq, RST | ACK, NULL, 0);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1 && peer_drain(&peer) == 0);
	peer_send_at(&peer, peer.seq - 1, FIN | ACK, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1); /* it still answers */
	peer_close(&peer);
}

static void higher_numbers_reopen(void)
{
	struct utcp_config config = peer_config();

	open_in_time_wait(&config, false);
	CU_ASSERT(is_refused(-1) && is_refused(-100));
	peer_send_at(&peer, peer.seq, SYN | ACK, NULL, 0);
	CU_ASSERT(COUNT(reopened) == 0 && peer_drain(&peer) == 1);
	call_again(peer.ack + 1);
	peer_close(&peer);
	open_in_time_wait(&config, false);
	peer.seq += 0x7fff0000; /* as far ahead as numbers go */
	call_again(peer.ack + 1);
	peer_close(&peer);
}

static void newer_times_reopen(void)
{
	struct utcp_config config = peer_config();

	open_in_time_wait(&config, true);
	CU_ASSERT(is_refused(-1)); /* equal, and the number is old */
	peer.times_value--;
	CU_ASSERT(is_refused(-1) && is_refused(0) && is_refused(1000));
	peer.times_value += 2;
	peer.seq -= 5000;
	call_again(peer.ack + 1);
	peer_close(&peer);
	open_in_time_wait(&config, true);
	call_again(peer.ack + 1); /* equal, and the number is new */
	peer_close(&peer);
	open_in_time_wait(&config, true);
	peer.times = false;
	CU_ASSERT(is_refused(-1));
	call_again(peer.ack + 1); /* without them, too */
	peer_close(&peer);
}

static void times_taken_up_reopen(void)
{
	struct utcp_config config = peer_config();

	open_in_time_wait(&config, false);
	peer.times = true;
	peer.seq -= 5000;
	call_again(peer.ack + 1);
	peer_close(&peer);
	config.timestamps_off = true; /* where we have none, theirs prove nothing */
	open_in_time_wait(&config, true);
	CU_ASSERT(is_refused(-5000));
	peer_close(&peer);
}

/* RFC 1122 4.2.2.13 */
static void own_numbers_grow(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	for (unsigned i = 0; i < 20; i++) {
		uint8_t data[1000] = {0};

		CU_ASSERT_FATAL(peer_app_write(&peer, data, sizeof(data)));
		CU_ASSERT(peer_drain(&peer) == 1);
		peer.ack += sizeof(data);
		peer_send(&peer, ACK, NULL, 0);
	}
	finish();
	call_again((uint32_t)OWN_ISN + 1 + 20 * 1000 + 1 + 1);
	peer_close(&peer);
}

/* A cookie cannot promise a number above the old ones. */
static void waits_for_a_place(void)
{
	struct utcp_config config = peer_config();

	config.syn_max = 1;
	open_in_time_wait(&config, false);
	peer.port++;
	peer_send_at(&peer, 1, SYN, NULL, 0);
	peer_drain(&peer);
	peer.port--;
	peer_send_at(&peer, peer.seq, SYN, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(drop_tcp_full) == 1 && COUNT(cookies_sent) == 0);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1 && COUNT(reopened) == 0);
	peer.port++;
	peer_send_at(&peer, 2, RST, NULL, 0);
	peer.port--;
	call_again(peer.ack + 1);
	peer_close(&peer);
}

/* Where nobody listens there is nothing to reopen: no RST undoes the wait. */
static void our_calls_are_not_reopened(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_accept(&peer);
	finish();
	CU_ASSERT(is_refused(0) && is_refused(1000));
	peer_close(&peer);
}

/* The peer's FIN again: our ACK of it was lost. */
static void fins_are_acknowledged_again(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;
	uint32_t value, echo, before;

	open_in_time_wait(&config, true);
	before = peer.times_echo;
	for (unsigned i = 0; i < 5; i++) {
		peer_jump(&peer, 900 * MS);
		peer.times_value += 900;
		peer_send_at(&peer, peer.seq - 1, FIN | ACK, NULL, 0);
		CU_ASSERT_FATAL(peer_take(&peer, &out) && out.flags == ACK && out.bytes == 0);
		CU_ASSERT(out.ack == peer.seq && out.seq == peer.ack && out.window > 0);
		CU_ASSERT(peer_times(&out, &value, &echo) && echo == 0xfffffffe);
		CU_ASSERT((int32_t)(value - before) > 0);
		before = value;
	}
	peer_jump(&peer, 999 * MS);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1); /* each time the wait began anew */
	peer_jump(&peer, 2 * MS);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void old_duplicates_are_answered(void)
{
	struct utcp_config config = peer_config();

	open_in_time_wait(&config, true);
	peer_send_at(&peer, peer.seq - 5, ACK, "abcd", 4);
	CU_ASSERT(peer_drain(&peer) == 1 && COUNT(old_segments) == 1);
	peer.times_value--;
	peer_send_at(&peer, peer.seq, ACK, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1 && COUNT(times_old) == 1);
	peer.times = false;
	peer_send_at(&peer, peer.seq - 1, FIN | ACK, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(times_missing) == 1);
	peer.times = true;
	peer.times_value++;
	peer.ack += 5; /* what was never sent */
	peer_send_at(&peer, peer.seq, ACK, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1 && COUNT(challenge_acks) == 1);
	peer.ack -= 5;
	peer_send_at(&peer, peer.seq, ACK, NULL, 0);
	peer_send_at(&peer, peer.seq, 0, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 0 && utcp_conn_count(peer.utcp) == 1);
	for (unsigned i = 0; i < 20; i++) /* who sends much gets no more of us than others */
		peer_send_at(&peer, peer.seq, SYN | ACK, NULL, 0), peer_drain(&peer);
	CU_ASSERT(COUNT(challenges_withheld) > 0 && COUNT(challenge_acks) <= 10);
	peer_jump(&peer, 1001 * MS); /* none of that prolonged it */
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

/* More than the queue of answers holds. */
static void all_who_finish_at_once_are_answered(void)
{
	struct utcp_config config = peer_config();
	struct utcp_conn *conns[100];
	struct peer_segment out;

	config.conn_max = 100;
	peer_open(&peer, &config);
	for (unsigned i = 0; i < 100; i++) {
		peer.port = (uint16_t)(PEER_PORT + i);
		peer.seq = (uint32_t)PEER_ISN;
		peer_connect(&peer, NULL, 0);
		conns[i] = peer.conn;
	}
	for (unsigned i = 0; i < 100; i++)
		utcp_finish(peer.utcp, conns[i]);
	CU_ASSERT(peer_drain(&peer) == 100);
	peer.ack = (uint32_t)OWN_ISN + 2;
	for (unsigned i = 0; i < 100; i++) {
		peer.port = (uint16_t)(PEER_PORT + i);
		peer_send_at(&peer, (uint32_t)PEER_ISN + 1, FIN | ACK, NULL, 0);
	}
	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK &&
			  out.ack == (uint32_t)PEER_ISN + 2);
	CU_ASSERT(!peer_take(&peer, &out) && COUNT(out_lost) == 0);
	peer_close(&peer);
}

static void short_connections_hold_little(void)
{
	struct utcp_config config = peer_config();

	config.conn_max = 2;
	peer_open(&peer, &config);
	for (unsigned i = 0; i < 20000; i++) {
		peer.port = (uint16_t)(1024 + i);
		peer.seq = (uint32_t)PEER_ISN;
		peer_connect(&peer, NULL, 0);
		finish();
		CU_ASSERT_FATAL(utcp_conn_count(peer.utcp) <= 2);
	}
	CU_ASSERT(COUNT(closed) == 20000 && COUNT(drop_tcp_full) == 0);
	CU_ASSERT(COUNT(time_waits_cut) == 20000 - 2);
	peer_send_at(&peer, peer.seq - 1, FIN | ACK, NULL, 0); /* the youngest stayed */
	CU_ASSERT(peer_drain(&peer) == 1 && COUNT(no_listener) == 0);
	peer_close(&peer);
}

static void many_ends_take_many_turns(void)
{
	struct utcp_config config = peer_config();

	config.conn_max = 300;
	peer_open(&peer, &config);
	for (unsigned i = 0; i < 300; i++) {
		peer.port = (uint16_t)(PEER_PORT + i);
		peer.seq = (uint32_t)PEER_ISN;
		peer_connect(&peer, NULL, 0);
		finish();
	}
	peer.now_ns += 1001 * MS;
	utcp_advance(peer.utcp, peer.now_ns);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 300 - TIME_WAITS_ENDED_A_TURN);
	CU_ASSERT(utcp_deadline(peer.utcp) <= peer.now_ns);
	utcp_advance(peer.utcp, peer.now_ns);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0 && utcp_deadline(peer.utcp) == UINT64_MAX);
	peer_close(&peer);
}

/* Once round all ports, and the one in TIME-WAIT is passed over. */
static void ports_rest(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;
	uint16_t port;

	config.time_wait_ns = 1000 * SECOND;
	peer_open(&peer, &config);
	peer_accept(&peer);
	port = peer.own_port;
	finish();
	for (unsigned i = 0; i < 32767; i++) {
		struct utcp_event event;
		struct utcp_conn *conn;

		CU_ASSERT_FATAL(
			utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &conn) == 0);
		utcp_abort(peer.utcp, conn);
		CU_ASSERT(utcp_events(peer.utcp, &event, 1) == 1);
		utcp_advance(peer.utcp, peer.now_ns);
	}
	CU_ASSERT_FATAL(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &peer.conn) ==
			0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags & SYN && out.own_port != port);
	CU_ASSERT(out.own_port == port + 1 || port == 65535);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"a RST does not end TIME-WAIT", ignores_resets},
	{"a SYN with a higher number reopens, others are answered", higher_numbers_reopen},
	{"with timestamps a newer one reopens, and an older one never does", newer_times_reopen},
	{"a peer that has taken up timestamps reopens", times_taken_up_reopen},
	{"our numbers begin above all that the old connection sent", own_numbers_grow},
	{"a SYN that finds no place leaves TIME-WAIT as it was, and gets no cookie",
	 waits_for_a_place},
	{"a call of ours is not reopened", our_calls_are_not_reopened},
	{"the peer's FIN is acknowledged again, and the wait begins anew",
	 fins_are_acknowledged_again},
	{"old duplicates are answered as on a connection, and prolong nothing",
	 old_duplicates_are_answered},
	{"all who finish in one turn get their ACK", all_who_finish_at_once_are_answered},
	{"20,000 short connections hold two places, the oldest gives way",
	 short_connections_hold_little},
	{"many ends at once take many turns", many_ends_take_many_turns},
	{"a port of ours rests while it is in TIME-WAIT", ports_rest},
};

SUITE_MAIN("time_wait", tests)
