#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <string.h>

static struct peer peer;

#define COUNT(name) (utcp_counters(peer.utcp)->name)

enum { CALLS = 16 };

/* MSS 1400, SACK permitted, timestamps 0x01020304, window scale 7. */
static const uint8_t rich[] = {2, 4, 5, 0x78, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7};
static const uint8_t plain[] = {2, 4, 5, 0x78};

static void open_small(void)
{
	struct utcp_config config = peer_config();

	config.syn_max = CALLS;
	config.isn_fixed = false;
	peer_open(&peer, &config);
}

static void put_syn(uint16_t port, const uint8_t *options, size_t bytes)
{
	struct peer_segment syn = {.seq = peer.seq,
				   .window = 60000,
				   .port = port,
				   .own_port = peer.own_port,
				   .flags = SYN,
				   .options = options,
				   .options_bytes = bytes};

	peer_put(&peer, &syn);
}

/* Sends the ACK of a SYN-ACK from `port`, with our timestamp echoed as `echo` if it is not 0. */
static void put_ack(uint16_t port, uint32_t ack, uint32_t echo)
{
	uint8_t times[12] = {1, 1, 8, 10, 1, 2, 3, 5};
	struct peer_segment segment = {.seq = peer.seq + 1,
				       .ack = ack,
				       .window = 60000,
				       .port = port,
				       .own_port = peer.own_port,
				       .flags = ACK,
				       .options = times,
				       .options_bytes = echo ? sizeof(times) : 0};

	for (unsigned i = 0; i < 4; i++)
		times[8 + i] = (uint8_t)(echo >> (24 - 8 * i));
	peer_put(&peer, &segment);
}

static void fill(void)
{
	for (uint16_t i = 0; i < CALLS; i++)
		put_syn((uint16_t)(1000 + i), plain, sizeof(plain));
	peer_drain(&peer);
	CU_ASSERT_FATAL(COUNT(calls_kept) == CALLS && COUNT(cookies_sent) == 0);
}

/* Our timestamp in a SYN-ACK to a rich SYN: 4 of MSS, 2 of SACK, then kind 8, length 10. */
static uint32_t times_value_of(const struct peer_segment *segment)
{
	for (size_t i = 0; i + 10 <= segment->options_bytes; i++)
		if (segment->options[i] == 8 && segment->options[i + 1] == 10)
			return (uint32_t)segment->options[i + 2] << 24 |
			       (uint32_t)segment->options[i + 3] << 16 |
			       (uint32_t)segment->options[i + 4] << 8 | segment->options[i + 5];
	return 0;
}

static bool offers(const struct peer_segment *segment, uint8_t kind)
{
	for (size_t i = 0; i < segment->options_bytes;) {
		if (segment->options[i] == kind)
			return true;
		i += segment->options[i] == 1 ? 1 : segment->options[i + 1];
	}
	return false;
}

static void a_call_is_no_connection(void)
{
	struct peer_segment out;

	open_small();
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0 && COUNT(calls_kept) == 1);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == (SYN | ACK));
	put_ack(PEER_PORT, out.seq + 1, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1 && utcp_conn_count(peer.utcp) == 1);
	peer_close(&peer);
}

/* T9. */
static void syn_acks_are_sent_again_without_data(void)
{
	static const unsigned waits[] = {1, 2, 4, 8, 16};
	struct peer_segment first, out;

	open_small();
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &first));
	for (unsigned i = 0; i < 5; i++) {
		peer_jump(&peer, waits[i] * SECOND - 10 * MS);
		CU_ASSERT(!peer_take(&peer, &out));
		peer_jump(&peer, 20 * MS);
		CU_ASSERT(peer_take(&peer, &out) && out.flags == (SYN | ACK));
		CU_ASSERT(out.seq == first.seq && out.bytes == 0 && !peer_take(&peer, &out));
	}
	CU_ASSERT(COUNT(retransmits) == 5 && COUNT(timeouts) == 5);
	put_ack(PEER_PORT, first.seq + 1, 0); /* the last ACK was lost until now */
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1);
	peer_close(&peer);
	open_small();
	put_syn(PEER_PORT, plain, sizeof(plain));
	peer_wait(&peer, 62 * SECOND);
	CU_ASSERT(COUNT(calls_expired) == 0);
	peer_wait(&peer, 2 * SECOND);
	CU_ASSERT(COUNT(calls_expired) == 1 && utcp_deadline(peer.utcp) == UINT64_MAX);
	peer_close(&peer);
}

static void the_last_ack_may_bring_data_and_fin(void)
{
	struct peer_segment out, data = {.window = 60000,
					 .port = PEER_PORT,
					 .own_port = OWN_PORT,
					 .flags = ACK | FIN,
					 .data = (const uint8_t *)"hello",
					 .bytes = 5};

	open_small();
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &out));
	data.seq = peer.seq + 1;
	data.ack = out.seq + 1;
	peer_put(&peer, &data);
	peer_poll(&peer);
	CU_ASSERT(peer.events == (UTCP_ACCEPTED | UTCP_READABLE | UTCP_FINISHED));
	CU_ASSERT(COUNT(in_bytes) == 5);
	peer_close(&peer);
}

static void another_syn_gets_the_same_answer(void)
{
	struct peer_segment first, out;

	open_small();
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &first));
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &out) && out.seq == first.seq && out.ack == first.ack);
	peer.seq += 999; /* a forger, or a peer that began anew: its RST makes room */
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &out) && out.seq == first.seq + 1 && out.ack == first.ack);
	CU_ASSERT(out.flags == ACK && COUNT(challenge_acks) == 1);
	peer_send_at(&peer, first.ack, RST, NULL, 0);
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &out) && out.ack == peer.seq + 1 && COUNT(calls_kept) == 2);
	peer_close(&peer);
}

static void resets_need_the_exact_number(void)
{
	struct peer_segment first, out;

	open_small();
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &first));
	peer_send_at(&peer, first.ack + 1, RST, NULL, 0); /* near: a challenge */
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == first.ack);
	peer_send_at(&peer, first.ack - 1, RST, NULL, 0); /* far: nothing */
	peer_send_at(&peer, first.ack + 20000, RST, NULL, 0);
	CU_ASSERT(!peer_take(&peer, &out) && COUNT(old_segments) == 2);
	peer_send_at(&peer, first.ack, RST, NULL, 0);
	put_ack(PEER_PORT, first.seq + 1, 0); /* to nobody now */
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 0);
	peer_close(&peer);
}

/* T8. */
static void forged_acks_complete_nothing(void)
{
	struct peer_segment first, out;

	open_small();
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &first));
	put_ack(PEER_PORT, first.seq + 2, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST && out.seq == first.seq + 2);
	put_ack(PEER_PORT + 1, first.seq + 1, 0); /* from another port */
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST);
	peer.seq += 70000; /* not in the window */
	put_ack(PEER_PORT, first.seq + 1, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == first.ack);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 0 && utcp_conn_count(peer.utcp) == 0);
	CU_ASSERT(COUNT(no_listener) == 2 && COUNT(cookies_refused) == 0);
	peer.seq -= 70000; /* and the call itself is unharmed */
	put_ack(PEER_PORT, first.seq + 1, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1);
	peer_close(&peer);
}

static void negotiated_timestamps_are_asked_for(void)
{
	struct peer_segment first;

	open_small();
	put_syn(PEER_PORT, rich, sizeof(rich));
	CU_ASSERT(peer_take(&peer, &first) && offers(&first, 8) && offers(&first, 3));
	put_ack(PEER_PORT, first.seq + 1, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 0 && COUNT(times_missing) == 1);
	put_ack(PEER_PORT, first.seq + 1, times_value_of(&first));
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1);
	peer_close(&peer);
}

/* T36: a full table refuses SYNs at once; what came in between waits for a place. */
static void a_full_table_refuses(void)
{
	struct peer_segment ninth, out;

	open_small();
	put_syn(999, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &ninth));
	for (uint16_t i = 0; i < 8; i++) {
		put_syn((uint16_t)(PEER_PORT + i), plain, sizeof(plain));
		CU_ASSERT(peer_take(&peer, &out));
		put_ack((uint16_t)(PEER_PORT + i), out.seq + 1, 0);
	}
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 8 && COUNT(drop_tcp_full) == 0);
	put_syn(PEER_PORT + 8, plain, sizeof(plain));
	put_ack(999, ninth.seq + 1, 0);
	CU_ASSERT(COUNT(drop_tcp_full) == 2 && peer_drain(&peer) == 0);
	utcp_abort(peer.utcp, peer.conn);
	peer_drain(&peer);
	peer_poll(&peer);
	peer_jump(&peer, 1100 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == (SYN | ACK) && out.port == 999);
	put_ack(999, ninth.seq + 1, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 9);
	peer_close(&peer);
}

/* T7. */
static void a_flood_spares_everybody(void)
{
	struct peer_segment out, data = {.window = 60000,
					 .port = PEER_PORT,
					 .own_port = OWN_PORT,
					 .flags = ACK,
					 .data = (const uint8_t *)"still here",
					 .bytes = 10};

	open_small();
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &out));
	put_ack(PEER_PORT, out.seq + 1, 0);
	peer_poll(&peer);
	CU_ASSERT_FATAL(peer.accepted == 1);
	data.seq = peer.seq + 1;
	data.ack = out.seq + 1;
	for (unsigned i = 0; i < 100000; i++) {
		if ((uint16_t)i == PEER_PORT || i % 65536 == 0)
			continue;
		put_syn((uint16_t)i, plain, sizeof(plain));
		if (i % 1000 == 0)
			peer_jump(&peer, 100 * MS);
		peer_drain(&peer);
		if (i % 10000 == 5) { /* somebody real */
			unsigned before = peer.accepted;

			peer.seq += 7;
			put_syn((uint16_t)(i + 500), plain, sizeof(plain));
			CU_ASSERT_FATAL(peer_take(&peer, &out) && out.flags == (SYN | ACK));
			put_ack((uint16_t)(i + 500), out.seq + 1, 0);
			peer_poll(&peer);
			CU_ASSERT(peer.accepted == before + 1);
			utcp_abort(peer.utcp, peer.conn);
			peer_drain(&peer);
			peer_poll(&peer);
			peer.seq -= 7;
		}
	}
	CU_ASSERT(COUNT(cookies_accepted) == 9 && COUNT(drop_tcp_full) == 0); /* one had a place */
	CU_ASSERT(COUNT(cookies_sent) > 99000 && COUNT(calls_kept) < 100);
	utcp_advance(peer.utcp, peer.now_ns);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1);
	peer_put(&peer, &data);
	CU_ASSERT(COUNT(in_bytes) == 10);
	peer_wait(&peer, 100 * SECOND);
	CU_ASSERT(COUNT(calls_expired) == COUNT(calls_kept) - 2);
	peer_close(&peer);
}

static void cookies_carry_options_in_timestamps(void)
{
	static const uint8_t data[16384];
	struct peer_segment first, out;

	open_small();
	fill();
	put_syn(PEER_PORT, rich, sizeof(rich));
	CU_ASSERT(peer_take(&peer, &first) && COUNT(cookies_sent) == 1);
	CU_ASSERT(offers(&first, 3) && offers(&first, 4) && offers(&first, 8));
	put_ack(PEER_PORT, first.seq + 1, times_value_of(&first));
	peer_poll(&peer);
	CU_ASSERT_FATAL(peer.accepted == 1 && COUNT(cookies_accepted) == 1);
	CU_ASSERT(peer_app_write(&peer, data, sizeof(data)));
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1400 - 12 && offers(&out, 8));
	CU_ASSERT((int32_t)(times_value_of(&out) - times_value_of(&first)) >= 0);
	peer_drain(&peer);
	peer_close(&peer);
}

static void cookies_without_timestamps_offer_little(void)
{
	static const uint8_t data[16384];
	static const uint8_t scaled[] = {2, 4, 5, 0x78, 4, 2, 1, 1, 1, 3, 3, 7};
	struct peer_segment first, out;

	open_small();
	fill();
	put_syn(PEER_PORT, scaled, sizeof(scaled));
	CU_ASSERT(peer_take(&peer, &first));
	CU_ASSERT(!offers(&first, 3) && !offers(&first, 4) && !offers(&first, 8));
	put_ack(PEER_PORT, first.seq + 1, 0);
	peer_poll(&peer);
	CU_ASSERT_FATAL(peer.accepted == 1);
	peer_app_write(&peer, data, sizeof(data));
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1400);
	peer_close(&peer);
}

static void cookies_round_the_mss_down(void)
{
	static const uint8_t data[16384];
	static const uint16_t named[][2] = {{0, 64},	  {300, 256},	{536, 536},
					    {1300, 1220}, {1459, 1440}, {65535, 1460}};

	for (unsigned i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		uint8_t options[] = {2, 4, (uint8_t)(named[i][0] >> 8), (uint8_t)named[i][0]};
		struct peer_segment out;

		open_small();
		fill();
		put_syn(PEER_PORT, options, sizeof(options));
		CU_ASSERT(peer_take(&peer, &out));
		put_ack(PEER_PORT, out.seq + 1, 0);
		peer_poll(&peer);
		CU_ASSERT_FATAL(peer.accepted == 1);
		peer_app_write(&peer, data, sizeof(data));
		CU_ASSERT(peer_take(&peer, &out) && out.bytes == named[i][1]);
		peer_close(&peer);
	}
}

/* T8: forged, changed, stale. */
static void wrong_cookies_are_refused(void)
{
	struct peer_segment first, out;
	unsigned refused = 0;

	open_small();
	fill();
	put_syn(PEER_PORT, rich, sizeof(rich));
	CU_ASSERT(peer_take(&peer, &first));
	peer_wait(&peer, 3 * SECOND);
	for (unsigned bit = 0; bit < 32; bit++) {
		put_ack(PEER_PORT, (first.seq ^ 1u << bit) + 1, times_value_of(&first));
		CU_ASSERT(peer_take(&peer, &out) && out.flags == RST);
		refused++;
	}
	for (unsigned bit = 0; bit < 6; bit++) { /* another scale, or SACK */
		put_ack(PEER_PORT, first.seq + 1, times_value_of(&first) ^ 1u << bit);
		CU_ASSERT(peer_take(&peer, &out) && out.flags == RST);
		refused++;
	}
	put_ack(PEER_PORT, first.seq + 1, 0); /* no timestamps any more */
	put_ack(PEER_PORT + 1, first.seq + 1, times_value_of(&first));
	peer.seq++;
	put_ack(PEER_PORT, first.seq + 1, times_value_of(&first));
	peer.seq--;
	CU_ASSERT(peer_drain(&peer) == 3 && COUNT(cookies_refused) == refused + 3);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 0 && utcp_conn_count(peer.utcp) == 0);
	peer_jump(&peer, 65 * SECOND); /* still good in the period after its own, */
	peer_drain(&peer);
	put_ack(PEER_PORT, first.seq + 1, times_value_of(&first));
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1);
	peer_close(&peer);
	open_small();
	fill();
	put_syn(PEER_PORT, rich, sizeof(rich));
	CU_ASSERT(peer_take(&peer, &first));
	peer_jump(&peer, 69 * SECOND);
	peer_drain(&peer);
	put_syn(PEER_PORT + 1, rich, sizeof(rich)); /* so that cookies are still looked at */
	peer_drain(&peer);
	peer_jump(&peer, 69 * SECOND); /* and stale in the next */
	peer_drain(&peer);
	put_ack(PEER_PORT, first.seq + 1, times_value_of(&first));
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 0);
	peer_close(&peer);
}

/* T38: only this call waits, and nothing else tells of the stall. */
static void a_stall_spoils_no_handshake(void)
{
	struct peer_segment out;

	for (unsigned advanced = 0; advanced < 2; advanced++) {
		open_small();
		put_syn(PEER_PORT, plain, sizeof(plain));
		CU_ASSERT(peer_take(&peer, &out));
		peer.now_ns += 5 * SECOND;
		if (advanced)
			utcp_advance(peer.utcp, peer.now_ns);
		put_ack(PEER_PORT, out.seq + 1, 0);
		peer_poll(&peer);
		CU_ASSERT_FATAL(peer.accepted == 1);
		peer_drain(&peer);
		CU_ASSERT(peer_app_write(&peer, "x", 1) && peer_drain(&peer) == 1);
		peer_jump(&peer, 3100 * MS); /* not 15 s, three times the five that it took */
		CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1);
		peer_close(&peer);
	}
}

/* Data behind the first, or the answer to a SYN-ACK that came twice. */
static void who_overtakes_a_cookie_is_spared(void)
{
	struct peer_segment first;

	open_small();
	fill();
	put_syn(PEER_PORT, plain, sizeof(plain));
	CU_ASSERT(peer_take(&peer, &first));
	peer.seq += 100;
	put_ack(PEER_PORT, first.seq + 1, 0);
	peer.seq -= 100;
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(cookies_refused) == 1);
	put_ack(PEER_PORT, first.seq + 1, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1 && COUNT(cookies_accepted) == 1);
	peer_close(&peer);
}

static void no_cookies_no_guesses(void)
{
	struct peer_segment out;

	open_small();
	put_ack(PEER_PORT, 4711, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST && COUNT(cookies_refused) == 0);
	fill();
	put_syn(PEER_PORT, plain, sizeof(plain));
	peer_drain(&peer);
	peer_wait(&peer, 3 * SECOND);
	put_ack(PEER_PORT, 4711, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST && COUNT(cookies_refused) == 1);
	peer_wait(&peer, 140 * SECOND);
	put_ack(PEER_PORT, 4711, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST && COUNT(cookies_refused) == 1);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"a call is no connection before its handshake is complete", a_call_is_no_connection},
	{"a SYN-ACK is sent again for a minute, never with data",
	 syn_acks_are_sent_again_without_data},
	{"the last ACK of a handshake may bring data and FIN", the_last_ack_may_bring_data_and_fin},
	{"the same SYN again gets the same answer, another is challenged",
	 another_syn_gets_the_same_answer},
	{"a RST of a call needs the exact number", resets_need_the_exact_number},
	{"a forged ACK completes no handshake and harms none", forged_acks_complete_nothing},
	{"timestamps agreed on are asked for in the last ACK", negotiated_timestamps_are_asked_for},
	{"a full table refuses SYNs, and last ACKs until there is a place", a_full_table_refuses},
	{"100,000 SYNs spare the established and those who come", a_flood_spares_everybody},
	{"a cookie carries scale and SACK in the timestamp", cookies_carry_options_in_timestamps},
	{"a cookie without timestamps offers neither", cookies_without_timestamps_offer_little},
	{"a cookie rounds the MSS down", cookies_round_the_mss_down},
	{"cookies that are forged, changed or stale are answered with RST",
	 wrong_cookies_are_refused},
	{"a handshake that a stall stretched does not count", a_stall_spoils_no_handshake},
	{"who overtakes a cookie gets no RST", who_overtakes_a_cookie_is_spared},
	{"while no cookies are out no ACK is taken for one", no_cookies_no_guesses},
};

SUITE_MAIN("calls", tests)
