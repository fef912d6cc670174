#include "tests/unit/utcp/peer.h"

#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

enum { ETH = 14 };

static struct peer peer;

static void open_usual(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
}

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static size_t syn_frame(uint8_t frame[FRAME_ROOM])
{
	struct peer_segment syn = {.seq = 1, .port = PEER_PORT, .own_port = OWN_PORT, .flags = SYN};

	return peer_build(&syn, frame);
}

static void set_ip_checksum(uint8_t *frame)
{
	uint8_t *ip = frame + ETH;
	uint16_t sum;

	ip[10] = ip[11] = 0;
	sum = peer_checksum(0, ip, (ip[0] & 0xf) * 4u);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void refuses_short_frames(void)
{
	uint8_t frame[FRAME_ROOM];

	open_usual();
	syn_frame(frame);
	for (size_t cut = 0; cut < ETH + 20; cut++)
		peer_put_frame(&peer, frame, cut);
	CU_ASSERT(COUNT(drop_short) == ETH + 20);
	CU_ASSERT(peer_take_frame(&peer) == 0);
	peer_close(&peer);
}

static void refuses_lies_about_lengths(void)
{
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	bytes = syn_frame(frame);
	for (unsigned ihl = 0; ihl < 5; ihl++) {
		frame[ETH] = (uint8_t)(0x40 | ihl);
		peer_put_frame(&peer, frame, bytes);
	}
	frame[ETH] = 0x65; /* version 6 */
	peer_put_frame(&peer, frame, bytes);
	frame[ETH] = 0x4f; /* a header longer than the packet */
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_ip_header) == 7);
	for (unsigned total = 0; total < 20; total++) {
		syn_frame(frame);
		frame[ETH + 3] = (uint8_t)total;
		peer_put_frame(&peer, frame, bytes);
	}
	syn_frame(frame);
	frame[ETH + 2] = 0xff;
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_ip_header) == 28);
	syn_frame(frame);
	frame[ETH + 3] = 39; /* a TCP header cut short */
	set_ip_checksum(frame);
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_tcp_header) == 1 && utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void refuses_what_is_not_for_us(void)
{
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	bytes = syn_frame(frame);
	frame[5] = 9;
	peer_put_frame(&peer, frame, bytes);
	memset(frame, 0xff, 6); /* IPv4 to everybody */
	peer_put_frame(&peer, frame, bytes);
	syn_frame(frame);
	frame[6] |= 1; /* from a group */
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_mac) == 3);
	bytes = syn_frame(frame);
	frame[12] = 0x86;
	frame[13] = 0xdd;
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_ethertype) == 1);
	bytes = syn_frame(frame);
	frame[ETH + 9] = 17;
	set_ip_checksum(frame);
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_ip_protocol) == 1);
	bytes = syn_frame(frame);
	frame[ETH + 11] ^= 1;
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_ip_checksum) == 1);
	CU_ASSERT(peer_take_frame(&peer) == 0);
	peer_close(&peer);
}

/* LAND (CVE-1999-0016), and sources that no host has. */
static void refuses_impossible_sources(void)
{
	static const uint32_t sources[] = {OWN_IP,     0x0a0000ff, 0x0a000000, 0x7f000001,
					   0xe0000001, 0xffffffff, 0,	       0x0b000001};
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	for (unsigned i = 0; i < sizeof(sources) / 4; i++) {
		bytes = syn_frame(frame);
		for (unsigned j = 0; j < 4; j++)
			frame[ETH + 12 + j] = (uint8_t)(sources[i] >> (24 - 8 * j));
		set_ip_checksum(frame);
		peer_put_frame(&peer, frame, bytes);
	}
	CU_ASSERT(COUNT(drop_ip_address) == sizeof(sources) / 4);
	CU_ASSERT(peer_take_frame(&peer) == 0 && utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void drops_fragments(void)
{
	static const uint8_t bits[][2] = {{0x20, 0}, {0, 1}, {0x1f, 0xff}, {0x3f, 0xff}};
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	for (unsigned i = 0; i < 4; i++) {
		bytes = syn_frame(frame);
		frame[ETH + 6] = bits[i][0];
		frame[ETH + 7] = bits[i][1];
		set_ip_checksum(frame);
		peer_put_frame(&peer, frame, bytes);
	}
	CU_ASSERT(COUNT(drop_ip_fragment) == 4 && utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void trims_padding(void)
{
	uint8_t frame[FRAME_ROOM], data[64];
	struct peer_segment s;
	size_t bytes;

	open_usual();
	peer_connect(&peer, NULL, 0);
	s = (struct peer_segment){.seq = peer.seq,
				  .ack = peer.ack,
				  .window = 1000,
				  .port = PEER_PORT,
				  .own_port = OWN_PORT,
				  .flags = ACK,
				  .data = (const uint8_t *)"abc",
				  .bytes = 3};
	bytes = peer_build(&s, frame);
	memset(frame + bytes, 0xee, 60 - bytes);
	peer_put_frame(&peer, frame, 60);
	CU_ASSERT(peer_app_read(&peer, data, sizeof(data)) == 3 && memcmp(data, "abc", 3) == 0);
	peer_close(&peer);
}

static size_t ip_options_frame(uint8_t *frame)
{
	uint8_t plain[FRAME_ROOM];
	size_t bytes = syn_frame(plain);

	memcpy(frame, plain, ETH + 20);
	memset(frame + ETH + 20, 1, 4);
	memcpy(frame + ETH + 24, plain + ETH + 20, bytes - ETH - 20);
	frame[ETH] = 0x46;
	frame[ETH + 3] = (uint8_t)(frame[ETH + 3] + 4);
	set_ip_checksum(frame);
	return bytes + 4;
}

static void passes_over_ip_options(void)
{
	uint8_t frame[FRAME_ROOM];
	struct peer_segment answer;

	open_usual();
	peer_put_frame(&peer, frame, ip_options_frame(frame));
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == (SYN | ACK));
	peer_close(&peer);
}

/* --- ICMP ------------------------------------------------------------------------------------ */

static size_t echo_frame(uint8_t *frame, size_t payload, uint8_t type)
{
	uint8_t *ip = frame + ETH, *icmp = ip + 20;
	uint16_t sum;

	syn_frame(frame);
	ip[2] = (uint8_t)((28 + payload) >> 8);
	ip[3] = (uint8_t)(28 + payload);
	ip[9] = 1;
	set_ip_checksum(frame);
	memset(icmp, 0, 8);
	icmp[0] = type;
	icmp[5] = 7;
	for (size_t i = 0; i < payload; i++)
		icmp[8 + i] = (uint8_t)i;
	sum = peer_checksum(0, icmp, 8 + payload);
	icmp[2] = (uint8_t)(sum >> 8);
	icmp[3] = (uint8_t)sum;
	return ETH + 28 + payload;
}

static void echoes(void)
{
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	for (size_t payload = 0; payload <= 1472; payload += 23) {
		bytes = echo_frame(frame, payload, 8);
		peer_put_frame(&peer, frame, bytes);
		CU_ASSERT_FATAL(peer_take_frame(&peer) == bytes);
		CU_ASSERT(peer.frame[ETH + 20] == 0 && peer_checksum(0, peer.frame + ETH, 20) == 0);
		CU_ASSERT(peer_checksum(0, peer.frame + ETH + 20, bytes - ETH - 20) == 0);
		CU_ASSERT(memcmp(peer.frame + ETH + 24, frame + ETH + 24, bytes - ETH - 24) == 0);
	}
	peer_close(&peer);
}

static void bounds_echoes(void)
{
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	peer_put_frame(&peer, frame,
		       echo_frame(frame, 1473, 8)); /* the answer would not fit our link */
	peer_put_frame(&peer, frame, echo_frame(frame, 8, 13));
	bytes = echo_frame(frame, 8, 8);
	frame[bytes - 1] ^= 1;
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_icmp) == 3);
	for (unsigned i = 0; i < 1000; i++)
		peer_put_frame(&peer, frame, echo_frame(frame, 8, 8));
	CU_ASSERT(COUNT(in_icmp) == 1000);
	CU_ASSERT(peer_drain(&peer) + COUNT(out_lost) == 1000 && COUNT(out_lost) > 900);
	peer_close(&peer);
}

/* --- ARP ------------------------------------------------------------------------------------- */

struct arp_packet {
	uint16_t operation;
	uint32_t sender_ip;
	uint8_t sender_mac;
	uint32_t target_ip;
};

static size_t arp_frame(uint8_t *frame, const struct arp_packet *packet)
{
	static const uint8_t fixed[] = {0, 1, 8, 0, 6, 4};
	uint8_t *arp = frame + ETH;

	memset(frame, 0xff, 6);
	memset(frame + 6, 0, 6);
	frame[6] = 2;
	frame[11] = packet->sender_mac;
	frame[12] = 8;
	frame[13] = 6;
	memset(arp, 0, 28);
	memcpy(arp, fixed, sizeof(fixed));
	arp[7] = (uint8_t)packet->operation;
	memcpy(arp + 8, frame + 6, 6);
	for (unsigned i = 0; i < 4; i++) {
		arp[14 + i] = (uint8_t)(packet->sender_ip >> (24 - 8 * i));
		arp[24 + i] = (uint8_t)(packet->target_ip >> (24 - 8 * i));
	}
	return ETH + 28;
}

static void put_arp(uint16_t operation, uint32_t sender_ip, uint8_t sender_mac, uint32_t target_ip)
{
	struct arp_packet packet = {operation, sender_ip, sender_mac, target_ip};
	uint8_t frame[64];

	peer_put_frame(&peer, frame, arp_frame(frame, &packet));
}

static void answers_arp(void)
{
	open_usual();
	put_arp(1, PEER_IP, 2, OWN_IP);
	CU_ASSERT_FATAL(peer_take_frame(&peer) == ETH + 28);
	CU_ASSERT(peer.frame[ETH + 7] == 2 && peer.frame[5] == 2 && peer.frame[ETH + 13] == 1);
	put_arp(1, 0, 2, OWN_IP); /* is this address free? */
	CU_ASSERT(peer_take_frame(&peer) == ETH + 28 && COUNT(in_arp) == 2);
	put_arp(2, 0, 2, OWN_IP);
	put_arp(1, 0x0b000001, 2, OWN_IP);
	put_arp(1, OWN_IP, 2, OWN_IP); /* somebody else has our address */
	CU_ASSERT(COUNT(drop_arp) == 3);
	put_arp(1, PEER_IP, 2, OWN_IP + 5);
	put_arp(3, PEER_IP, 2, OWN_IP);
	CU_ASSERT(peer_take_frame(&peer) == 0 && COUNT(drop_arp) == 5);
	peer_close(&peer);
}

static void refuses_malformed_arp(void)
{
	struct arp_packet packet = {1, PEER_IP, 2, OWN_IP};
	uint8_t frame[64];

	open_usual();
	for (unsigned at = 0; at < 6; at++) {
		arp_frame(frame, &packet);
		frame[ETH + at] ^= 0x40;
		peer_put_frame(&peer, frame, ETH + 28);
	}
	arp_frame(frame, &packet);
	peer_put_frame(&peer, frame, ETH + 27);
	frame[ETH + 8] |= 1; /* a group address as its own */
	peer_put_frame(&peer, frame, ETH + 28);
	CU_ASSERT(COUNT(drop_arp) == 8 && peer_take_frame(&peer) == 0);
	peer_close(&peer);
}

static void unasked_replies_teach_nothing(void)
{
	open_usual();
	put_arp(2, PEER_IP, 9, OWN_IP);
	CU_ASSERT(COUNT(drop_arp) == 1);
	peer_be_called(
		&peer); /* asks, so it had learned nothing; and is called at the right address */
	put_arp(2, PEER_IP, 9, OWN_IP);
	CU_ASSERT(COUNT(drop_arp) == 2);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip4(PEER_IP), PEER_PORT, peer.now_ns,
			       &peer.conn) == 0);
	CU_ASSERT(peer_take_frame(&peer) > 0 && peer.frame[5] == 2);
	peer_close(&peer);
}

/* Where our next call to the peer would go. */
static uint8_t called_at(void)
{
	peer_drain(&peer);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip4(PEER_IP), PEER_PORT, peer.now_ns,
			       &peer.conn) == 0);
	CU_ASSERT(peer_take_frame(&peer) > 0);
	return peer.frame[5];
}

static void requests_move_a_peer_once_a_second(void)
{
	open_usual();
	peer_be_called(&peer);
	put_arp(1, PEER_IP, 9, OWN_IP);
	CU_ASSERT(called_at() == 2);
	peer_jump(&peer, SECOND);
	put_arp(1, PEER_IP, 9, OWN_IP);
	CU_ASSERT(called_at() == 9);
	put_arp(1, PEER_IP, 2, OWN_IP);
	CU_ASSERT(called_at() == 9);
	peer_close(&peer);
}

static void unanswered_arp_is_unreachable(void)
{
	open_usual();
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip4(OWN_IP + 7), 80, peer.now_ns, &peer.conn) ==
		  0);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT(peer_drain(&peer) == 1);
		CU_ASSERT(utcp_deadline(peer.utcp) == peer.now_ns + SECOND);
		peer_jump(&peer, SECOND);
	}
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_UNREACHABLE);
	CU_ASSERT(peer_drain(&peer) == 0);
	utcp_advance(peer.utcp, peer.now_ns);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static struct utcp_conn *call_host(uint32_t host)
{
	struct utcp_conn *conn;

	CU_ASSERT_FATAL(
		utcp_connect(peer.utcp, addr_of_ip4(OWN_IP + host), 80, peer.now_ns, &conn) == 0);
	return conn;
}

static void an_answer_is_for_who_waits(void)
{
	open_usual();
	call_host(7);
	peer.conn = call_host(7);
	call_host(8);
	call_host(7);
	CU_ASSERT(peer_drain(&peer) == 2); /* a question each */
	utcp_abort(peer.utcp, peer.conn);
	put_arp(2, OWN_IP + 7, 9, OWN_IP);
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT(peer_take_frame(&peer) > 0 && peer.frame[5] == 9);
	CU_ASSERT(peer_drain(&peer) == 0);
	put_arp(2, OWN_IP + 8, 9, OWN_IP);
	CU_ASSERT(peer_drain(&peer) == 1);
	peer_close(&peer);
}

static void an_arp_flood_is_bounded(void)
{
	open_usual();
	for (unsigned i = 0; i < 65536; i++)
		put_arp(i & 1 ? 1 : 2, 0x0a000002 + i % 250, (uint8_t)i, OWN_IP);
	CU_ASSERT(peer_drain(&peer) + COUNT(out_lost) == 32768);
	peer_accept(&peer); /* and calls still work */
	peer_close(&peer);
}

static void too_many_questions_are_refused(void)
{
	struct utcp_config config = peer_config();
	struct utcp_conn *conn;
	unsigned refused = 0;

	config.conn_max = 200;
	peer_open(&peer, &config);
	for (unsigned i = 0; i < 100; i++) {
		int error = utcp_connect(peer.utcp, addr_of_ip4(OWN_IP + 10 + i), 80, peer.now_ns,
					 &conn);

		CU_ASSERT(error == 0 || error == -ENOBUFS);
		refused += error != 0;
	}
	CU_ASSERT(refused == 100 - 64);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip4(OWN_IP), 80, peer.now_ns, &conn) ==
		  -ENETUNREACH);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip4(0x0b000001), 80, peer.now_ns, &conn) ==
		  -ENETUNREACH);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip4(0x0a0000ff), 80, peer.now_ns, &conn) ==
		  -ENETUNREACH);
	peer_wait(&peer, 10 * SECOND);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 64);
	utcp_advance(peer.utcp, peer.now_ns);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void survives_noise(void)
{
	struct random random = {11};
	uint8_t frame[FRAME_ROOM];

	open_usual();
	peer_connect(&peer, NULL, 0);
	for (unsigned round = 0; round < 30000; round++) {
		size_t bytes = round & 1 ? syn_frame(frame) : echo_frame(frame, 20, 8);
		unsigned changes = 1 + (unsigned)random_below(&random, 6);

		for (unsigned i = 0; i < changes; i++)
			frame[random_below(&random, bytes)] = (uint8_t)random_next(&random);
		peer_put_frame(&peer, frame, random_below(&random, bytes) + 1);
		peer_drain(&peer);
	}
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"frames cut anywhere in their headers are counted and dropped", refuses_short_frames},
	{"IPv4 headers that lie about lengths are dropped", refuses_lies_about_lengths},
	{"other hosts' frames, other protocols and bad header checksums are dropped",
	 refuses_what_is_not_for_us},
	{"a packet from ourselves or from no host is dropped", refuses_impossible_sources},
	{"every kind of fragment is dropped", drops_fragments},
	{"Ethernet padding never reaches TCP", trims_padding},
	{"IPv4 options are passed over", passes_over_ip_options},
	{"echo requests of every size are echoed", echoes},
	{"echoes that would not fit, other ICMP and floods are bounded", bounds_echoes},
	{"an ARP request for us is answered, others are not", answers_arp},
	{"malformed ARP is dropped", refuses_malformed_arp},
	{"an unasked ARP reply teaches nothing", unasked_replies_teach_nothing},
	{"a request moves a known host, once a second at most", requests_move_a_peer_once_a_second},
	{"a call to nobody is unreachable after three questions", unanswered_arp_is_unreachable},
	{"an ARP flood stays bounded and calls still work", an_arp_flood_is_bounded},
	{"more unanswered questions than the table holds are refused",
	 too_many_questions_are_refused},
	{"an answer of ARP lets just those calls leave that wait for it",
	 an_answer_is_for_who_waits},
	{"damaged frames of every length do no harm", survives_noise},
};

SUITE_MAIN("link", tests)
