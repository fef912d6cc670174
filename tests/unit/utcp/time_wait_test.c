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

static const struct suite_test tests[] = {
	{"a RST does not end TIME-WAIT", ignores_resets},
	{"a SYN with a higher number reopens, others are answered", higher_numbers_reopen},
	{"with timestamps a newer one reopens, and an older one never does", newer_times_reopen},
	{"a peer that has taken up timestamps reopens", times_taken_up_reopen},
	{"our numbers begin above all that the old connection sent", own_numbers_grow},
	{"a SYN that finds no place leaves TIME-WAIT as it was, and gets no cookie",
	 waits_for_a_place},
	{"a call of ours is not reopened", our_calls_are_not_reopened},
};

SUITE_MAIN("time_wait", tests)
