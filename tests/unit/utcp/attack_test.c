#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

static struct peer peer;

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static void put(uint8_t flags, uint32_t seq, uint32_t ack, const void *data, size_t bytes)
{
	struct peer_segment s = {.seq = seq,
				 .ack = ack,
				 .window = peer.window,
				 .port = peer.port,
				 .own_port = peer.own_port,
				 .flags = flags,
				 .data = data,
				 .bytes = bytes};

	peer_put(&peer, &s);
}

/* --- handshakes ------------------------------------------------------------------------------ */

/* What a SYN-ACK lets in is 65535 at most, however much memory there is. */
static void far_ack_makes_no_connection(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;

	config.recv_bytes = 1 << 18;
	peer_open(&peer, &config);
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out) && out.flags == (SYN | ACK));
	put(ACK, peer.seq + 1 + 100000, out.seq + 1, NULL, 0);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_wait(&peer, 200 * SECOND);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

/* The window of a SYN-ACK ends one byte before 64 KiB of memory do. */
static void ack_just_beyond_the_window_makes_none(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;

	config.recv_bytes = 1 << 16;
	peer_open(&peer, &config);
	put(SYN, peer.seq, 0, NULL, 0);
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out) && out.flags == (SYN | ACK) && out.window == 65535);
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1);
	put(ACK, peer.seq + 1 + 65535, out.seq + 1, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1 && COUNT(challenge_acks) == 1);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	put(ACK, peer.seq + 65535, out.seq + 1, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1 && utcp_conn_count(peer.utcp) == 1);
	peer_close(&peer);
}

/* A cookie left, and then the same SYN found a place: either answer may come back. */
static void cookie_is_good_beside_a_call(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment cookie, out;

	config.syn_max = 1;
	config.isn_fixed = false;
	peer_open(&peer, &config);
	peer.port = 1000;
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	peer.port = PEER_PORT;
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &cookie) && COUNT(cookies_sent) == 1);
	peer.port = 1000;
	put(RST, peer.seq + 1, 0, NULL, 0); /* there is a place again */
	peer.port = PEER_PORT;
	peer_jump(&peer, 10 * MS);
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out) && COUNT(calls_kept) == 2);
	put(ACK, peer.seq + 1, cookie.seq + 1, NULL, 0);
	CU_ASSERT(!(peer_take(&peer, &out) && out.flags & RST));
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1);
	peer_wait(&peer, 100 * SECOND);
	peer_close(&peer);
}

/* A peer that calls as we do, again and again, does not keep our call waiting for ever. */
static void repeated_syns_do_not_pin_a_call(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_be_called(&peer);
	for (unsigned i = 0; i < 1000 && peer.closed == 0; i++) {
		put(SYN, peer.seq, 0, NULL, 0);
		peer_drain(&peer);
		peer_wait(&peer, 500 * MS);
		peer_poll(&peer);
	}
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT);
	peer_jump(&peer, 0);
	peer_close(&peer);
}

/* A SYN-ACK for a SYN that has not left: whoever guesses our number gains nothing. */
static void unsent_syn_is_not_acknowledged(void)
{
	struct utcp_config config = peer_config();
	struct peer twin; /* chooses the same port, and tells it */

	peer_open(&twin, &config);
	peer_be_called(&twin);
	peer_close(&twin);
	peer_open(&peer, &config);
	CU_ASSERT_FATAL(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &peer.conn) ==
			0);
	peer.own_port = twin.own_port;
	put(SYN, peer.seq, 0, NULL, 0);
	put(SYN | ACK, peer.seq, (uint32_t)OWN_ISN + 1, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(!(peer.events & UTCP_CONNECTED));
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"an ACK beyond the SYN-ACK's window makes no connection", far_ack_makes_no_connection},
	{"an ACK just beyond it makes none", ack_just_beyond_the_window_makes_none},
	{"a cookie is good though its SYN found a place later", cookie_is_good_beside_a_call},
	{"SYNs sent again do not keep our call for ever", repeated_syns_do_not_pin_a_call},
	{"a SYN that has not left is not acknowledged", unsent_syn_is_not_acknowledged},
};

SUITE_MAIN("attack", tests)
