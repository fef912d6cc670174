#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static struct peer peer;

static void open_usual(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
}

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static void put_syn(uint16_t port)
{
	struct peer_segment syn = {.seq = peer.seq,
				   .window = 1000,
				   .port = port,
				   .own_port = peer.own_port,
				   .flags = SYN};

	peer_put(&peer, &syn);
}

static void rejects_bad_configurations(void)
{
	struct utcp_config good = peer_config(), bad;
	struct utcp *utcp = NULL;

#define REJECTS(field, value) \
	bad = good;           \
	bad.field = (value);  \
	CU_ASSERT(utcp_create(&bad, 0, &utcp) == -EINVAL && utcp == NULL)
	REJECTS(mtu, peer_is_ip6() ? 1279 : 575);
	REJECTS(mtu, 9001);
	REJECTS(conn_max, 0);
	REJECTS(recv_bytes, 3000);
	REJECTS(send_bytes, 0);
	REJECTS(prefix_bits, 33);
	REJECTS(mac[0], 1);
	good.ip6 = (struct utcp_addr){0};
	REJECTS(ip, 0); /* no address at all */
	utcp_destroy(NULL);
}

static void listens(void)
{
	open_usual();
	CU_ASSERT(utcp_listen(peer.utcp, OWN_PORT) == -EADDRINUSE);
	for (uint16_t port = 1; port < 16; port++)
		CU_ASSERT(utcp_listen(peer.utcp, port) == 0);
	CU_ASSERT(utcp_listen(peer.utcp, 99) == -ENOSPC);
	peer_close(&peer);
}

static void accepts(void)
{
	open_usual();
	peer_connect(&peer, NULL, 0);
	CU_ASSERT(peer.accepted == 1 && COUNT(opened_passive) == 1);
	CU_ASSERT(utcp_conn_index(peer.utcp, peer.conn) < 8 && utcp_conn_count(peer.utcp) == 1);
	peer_close(&peer);
}

static void calls(void)
{
	struct peer_segment answer;

	open_usual();
	peer_be_called(&peer);
	CU_ASSERT(peer.own_port >= 32768);
	peer_send(&peer, SYN | ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == ACK && answer.ack == peer.seq);
	CU_ASSERT(answer.seq == peer.ack && !peer_take(&peer, &answer));
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_CONNECTED);
	peer_close(&peer);
}

/* Takes the size of the first segment of a long write after a handshake with these options. */
static size_t first_segment(const uint8_t *options, size_t bytes, uint16_t link_mss)
{
	static const uint8_t data[12000];
	struct utcp_config config = peer_config();
	struct peer_segment out = {0};

	config.mtu = (uint16_t)(config.mtu - 1460 + link_mss);
	peer_open(&peer, &config);
	peer_connect(&peer, options, bytes);
	peer_app_write(&peer, data, sizeof(data));
	CU_ASSERT(peer_take(&peer, &out));
	peer_close(&peer);
	return out.bytes;
}

static void negotiates_mss(void)
{
	uint16_t least = peer_is_ip6() ? 1220 : 536; /* of the least MTU */

	CU_ASSERT(first_segment((const uint8_t *)"\1\1\1\1", 4, 1460) == 536);
	CU_ASSERT(first_segment((const uint8_t *)"\2\4\0\0", 4, 1460) == 64);
	CU_ASSERT(first_segment((const uint8_t *)"\2\4\0\1", 4, 1460) == 64);
	CU_ASSERT(first_segment((const uint8_t *)"\2\4\1\0", 4, 1460) == 256);
	CU_ASSERT(first_segment((const uint8_t *)"\2\4\xff\xff", 4, 1460) == 1460);
	CU_ASSERT(first_segment((const uint8_t *)"\2\4\xff\xff", 4, 8940) == 8940);
	CU_ASSERT(first_segment((const uint8_t *)"\2\4\x05\xb4", 4, least) == least);
}

static void offers_all_options(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment syn;

	config.recv_bytes = 1 << 20;
	peer_open(&peer, &config);
	peer_be_called(&peer);
	CU_ASSERT(peer.frame_bytes == peer_tcp_at() + 20 + 20);
	CU_ASSERT(memcmp(peer.frame + peer_tcp_at() + 20, "\2\4\x05\xb4\4\2\10\12", 8) == 0);
	CU_ASSERT(memcmp(peer.frame + peer_tcp_at() + 32, "\0\0\0\0\1\3\3\5", 8) ==
		  0); /* no echo yet */
	CU_ASSERT(peer.frame[peer_tcp_at() + 14] == 0xff &&
		  peer.frame[peer_tcp_at() + 15] == 0xff); /* a SYN's window is not scaled */
	peer_send(&peer, SYN | ACK, NULL, 0);		   /* without scale: none either way */
	CU_ASSERT(peer_take(&peer, &syn) && syn.window == 65535);
	peer_close(&peer);
}

/* RFC 7323 2.2: a SYN-ACK offers scale only to who offered it. */
static void answers_scale_with_scale(void)
{
	struct peer_segment syn = {.seq = 1, .port = PEER_PORT, .own_port = OWN_PORT, .flags = SYN};

	open_usual();
	peer_put(&peer, &syn);
	CU_ASSERT(peer_take_frame(&peer) > 0);
	CU_ASSERT(peer.frame_bytes == peer_tcp_at() + 24 &&
		  memcmp(peer.frame + peer_tcp_at() + 20, "\2\4\x05\xb4", 4) == 0);
	syn.port++;
	syn.options = (const uint8_t *)"\1\3\3\7";
	syn.options_bytes = 4;
	peer_put(&peer, &syn);
	CU_ASSERT(peer_take_frame(&peer) > 0);
	CU_ASSERT(memcmp(peer.frame + peer_tcp_at() + 20, "\2\4\x05\xb4\1\3\3\0", 8) == 0);
	peer_close(&peer);
}

static void scales_windows(void)
{
	static const uint8_t data[16384];
	struct utcp_config config = peer_config();
	struct peer_segment out;
	size_t sent = 0;

	config.recv_bytes = 1 << 18;
	peer_open(&peer, &config);
	peer.window = 100; /* times 2^7 */
	peer_connect(&peer, (const uint8_t *)"\1\3\3\7\2\4\5\xb4", 8);
	peer_app_write(&peer, data, sizeof(data));
	while (peer_take(&peer, &out)) {
		sent += out.bytes;
		CU_ASSERT(out.window == (1 << 18) >> 3 || out.window == 65535 >> 3);
	}
	CU_ASSERT(sent == 12800 || sent == 12800 - 12800 % 1460);
	peer_close(&peer);
}

/* RFC 7323 2.3. */
static void cuts_steep_scales(void)
{
	static const uint8_t data[60000];
	struct utcp_config config = peer_config();
	struct peer_segment out;
	size_t sent = 0;

	config.send_bytes = 65536;
	peer_open(&peer, &config);
	peer.window = 1; /* times 2^14, not 2^15 or more */
	peer_connect(&peer, (const uint8_t *)"\1\3\3\377\2\4\5\xb4", 8);
	CU_ASSERT(utcp_counters(peer.utcp)->scales_cut == 1);
	peer_app_write(&peer, data, sizeof(data));
	peer.ack += 1460 * peer_drain(&peer); /* the congestion window doubles to 29200 */
	peer_send(&peer, ACK, NULL, 0);
	while (peer_take(&peer, &out))
		sent += out.bytes;
	CU_ASSERT(sent == 16384 - 16384 % 1460);
	peer_close(&peer);
}

/* RFC 7323 2.2: the window of a SYN-ACK is not. */
static void a_syn_ack_is_not_scaled(void)
{
	static const uint8_t data[4000];
	struct peer_segment answer = {.window = 1000,
				      .port = PEER_PORT,
				      .flags = SYN | ACK,
				      .options = (const uint8_t *)"\1\3\3\7\2\4\5\xb4",
				      .options_bytes = 8};
	struct peer_segment out;

	open_usual();
	peer_be_called(&peer);
	answer.seq = peer.seq++;
	answer.ack = peer.ack;
	answer.own_port = peer.own_port;
	peer_put(&peer, &answer);
	peer_app_write(&peer, data, sizeof(data));
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1000 && !peer_take(&peer, &out));
	peer_close(&peer);
}

static void ignores_data_on_syn(void)
{
	struct peer_segment syn = {.seq = peer.seq,
				   .window = 1000,
				   .port = PEER_PORT,
				   .own_port = OWN_PORT,
				   .flags = SYN,
				   .data = (const uint8_t *)"early",
				   .bytes = 5};
	struct peer_segment answer;

	open_usual();
	syn.seq = peer.seq;
	peer_put(&peer, &syn);
	CU_ASSERT(peer_take(&peer, &answer) && answer.ack == peer.seq + 1);
	peer_close(&peer);
}

/* Seastar #91: what the application writes at once must not stand at the SYN's number. */
static void lost_syn_ack_then_data(void)
{
	struct peer_segment answer;
	uint32_t first = (uint32_t)OWN_ISN;

	open_usual();
	put_syn(PEER_PORT);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == (SYN | ACK)); /* lost */
	peer_jump(&peer, 1100 * MS);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == (SYN | ACK) && answer.bytes == 0);
	CU_ASSERT(answer.seq == first && !peer_take(&peer, &answer));
	put_syn(PEER_PORT); /* the peer has not seen it and asks again */
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == (SYN | ACK) && answer.seq == first);
	peer.seq++;
	peer.ack = first + 1;
	peer_send(&peer, ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT_FATAL(peer.events & UTCP_ACCEPTED);
	CU_ASSERT(peer_app_write(&peer, "hello", 5));
	CU_ASSERT(peer_take(&peer, &answer) && answer.seq == first + 1 && answer.bytes == 5);
	peer_close(&peer);
}

static void writes_before_connected_wait(void)
{
	struct peer_segment out;

	open_usual();
	peer_be_called(&peer);
	CU_ASSERT(peer_app_write(&peer, "early", 5));
	utcp_finish(peer.utcp, peer.conn);
	CU_ASSERT(!peer_take(&peer, &out));
	peer_jump(&peer, 1100 * MS);
	CU_ASSERT(peer_take_frame(&peer) > 0); /* ARP or SYN again, never data */
	peer_send(&peer, SYN | ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 5 && out.seq == peer.ack);
	CU_ASSERT(out.flags == (ACK | PSH | FIN));
	peer.ack += 6;
	peer_send(&peer, FIN | ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_DONE);
	peer_close(&peer);
}

static void is_refused_at_once(void)
{
	open_usual();
	peer_be_called(&peer);
	peer_send_at(&peer, 0, RST | ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_REFUSED && peer_drain(&peer) == 0);
	peer_close(&peer);
}

static void ignores_forged_answers_to_syn(void)
{
	struct peer_segment answer;

	open_usual();
	peer_be_called(&peer);
	peer.ack += 5;
	peer_send_at(&peer, 0, RST | ACK, NULL, 0); /* a RST for what we never sent */
	CU_ASSERT(!peer_take(&peer, &answer));
	peer_send_at(&peer, 0, SYN | ACK, NULL, 0); /* and a SYN-ACK: it is reset */
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == RST && answer.seq == peer.ack);
	peer_send_at(&peer, 0, RST, NULL, 0);
	peer_send_at(&peer, 0, FIN, NULL, 0);
	peer_send_at(&peer, 0, 0, NULL, 0);
	CU_ASSERT(!peer_take(&peer, &answer));
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0);
	peer.ack -= 5;
	peer_send(&peer, SYN | ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_CONNECTED);
	peer_close(&peer);
}

static void opens_simultaneously(void)
{
	struct peer_segment answer;

	open_usual();
	peer_be_called(&peer);
	peer_send(&peer, SYN, NULL, 0);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == (SYN | ACK));
	CU_ASSERT(answer.seq == (uint32_t)OWN_ISN && answer.ack == peer.seq);
	peer_send_at(&peer, peer.seq - 1, SYN | ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == ACK && answer.seq == peer.ack);
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_CONNECTED && peer.closed == 0);
	peer_send(&peer, ACK, "data", 4);
	peer_poll(&peer);
	CU_ASSERT(peer.events & UTCP_READABLE);
	peer_close(&peer);
}

static void answers_nobody_with_rst(void)
{
	struct peer_segment answer;

	open_usual();
	peer.own_port = 9;
	put_syn(PEER_PORT);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == (RST | ACK));
	CU_ASSERT(answer.seq == 0 && answer.ack == peer.seq + 1);
	peer.ack = 77;
	peer_send_at(&peer, 5, ACK, "abc", 3);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == RST && answer.seq == 77);
	peer_send_at(&peer, 5, RST, NULL, 0);
	peer_send_at(&peer, 5, RST | ACK, NULL, 0);
	CU_ASSERT(!peer_take(&peer, &answer) && COUNT(no_listener) == 4);
	peer.own_port = OWN_PORT; /* a listener, which a forged ACK cannot open */
	peer_send_at(&peer, 5, ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == RST && answer.seq == 77);
	peer_send_at(&peer, 5, 0, NULL, 0);
	peer_send_at(&peer, 5, FIN, NULL, 0);
	peer_send_at(&peer, 5, FIN | PSH | URG, NULL, 0);
	peer_send_at(&peer, 5, SYN | FIN, NULL, 0);
	CU_ASSERT(!peer_take(&peer, &answer) && utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void gives_up_calling(void)
{
	uint64_t began;

	open_usual();
	peer_be_called(&peer);
	began = peer.now_ns;
	while (peer.closed == 0 && peer.now_ns < began + 1000 * SECOND) {
		/* The host says where it is, but its TCP is silent. */
		if (peer_take_frame(&peer) == 0)
			peer_jump(&peer, utcp_deadline(peer.utcp) - peer.now_ns);
		else if (peer_is_question(&peer))
			peer_answer_question(&peer);
		peer_poll(&peer);
	}
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT);
	CU_ASSERT(peer.now_ns - began >= 180 * SECOND); /* RFC 9293 3.8.3 */
	peer_close(&peer);
}

static void runs_out_of_ports_and_places(void)
{
	struct utcp_config config = peer_config();
	struct utcp_conn *conn;
	unsigned opened = 0;
	int error;

	config.conn_max = 40000;
	config.recv_bytes = config.send_bytes = 256;
	peer_open(&peer, &config);
	while ((error = utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &conn)) == 0)
		opened++;
	CU_ASSERT(opened == 32768 && error == -EADDRNOTAVAIL);
	CU_ASSERT(utcp_connect(peer.utcp, peer_addr(), PEER_PORT + 1, peer.now_ns, &conn) == 0);
	utcp_destroy(peer.utcp);
	open_usual();
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &conn) == 0);
	CU_ASSERT(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &conn) == -ENOBUFS);
	peer_close(&peer);
}

/* RFC 6528: unlike for each pair of ends, and ahead of the last for the same. */
static void numbers_are_keyed(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment one, two, later;

	config.isn_fixed = false;
	peer_open(&peer, &config);
	put_syn(PEER_PORT);
	CU_ASSERT(peer_take(&peer, &one));
	put_syn(PEER_PORT + 1);
	CU_ASSERT(peer_take(&peer, &two));
	CU_ASSERT(one.seq - two.seq > 1000 && two.seq - one.seq > 1000);
	peer.seq++;
	peer_send_at(&peer, peer.seq, RST, NULL, 0);
	peer.seq--;
	peer_jump(&peer, 10 * MS);
	put_syn(PEER_PORT);
	CU_ASSERT(peer_take(&peer, &later) && later.seq - one.seq > 2000 &&
		  later.seq - one.seq < 3000);
	peer_close(&peer);
	config.secret[5] = 99;
	peer_open(&peer, &config);
	put_syn(PEER_PORT);
	CU_ASSERT(peer_take(&peer, &two) && two.seq != one.seq);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"bad configurations are refused", rejects_bad_configurations},
	{"a port is listened at once, and sixteen at most", listens},
	{"a call is accepted", accepts},
	{"our call is answered and acknowledged", calls},
	{"the MSS is 536 if absent, never below 64, never above the link's", negotiates_mss},
	{"a SYN offers MSS, SACK, timestamps and window scale", offers_all_options},
	{"scale is offered to who offers it", answers_scale_with_scale},
	{"windows are scaled both ways", scales_windows},
	{"a scale above 14 is taken for 14 and counted", cuts_steep_scales},
	{"the window of a SYN-ACK is not scaled", a_syn_ack_is_not_scaled},
	{"data on a SYN is not acknowledged", ignores_data_on_syn},
	{"a lost SYN-ACK is sent again, and data never at its number", lost_syn_ack_then_data},
	{"what is written and finished before the handshake follows it",
	 writes_before_connected_wait},
	{"a RST refuses a call at once", is_refused_at_once},
	{"forged answers to a SYN change nothing", ignores_forged_answers_to_syn},
	{"both sides may call at once", opens_simultaneously},
	{"segments to nobody are answered with RST, RSTs are not", answers_nobody_with_rst},
	{"a call that nobody answers ends after three minutes", gives_up_calling},
	{"no port left and no place left are different errors", runs_out_of_ports_and_places},
	{"initial numbers are keyed by the ends and move with time", numbers_are_keyed},
};

SUITE_MAIN("open", tests)
