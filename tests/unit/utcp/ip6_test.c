/*
 * ip6_test: what link_test says of IPv4, of IPv6.
 */
#include "tests/unit/utcp/peer.h"

#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

enum { ETH = 14, IP = 40, UPPER = ETH + IP };

static struct peer peer;

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
static const uint8_t own_local[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, [15] = 1};
static const uint8_t peer_local[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, [15] = 2};

static void open_usual(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
}

static size_t syn_frame(uint8_t frame[FRAME_ROOM])
{
	struct peer_segment syn = {.seq = 1, .port = PEER_PORT, .own_port = OWN_PORT, .flags = SYN};

	return peer_build(&syn, frame);
}

/* A SYN from and to these addresses. */
static size_t syn_between(uint8_t *frame, const uint8_t *from, const uint8_t *to)
{
	size_t bytes = syn_frame(frame);
	uint8_t *tcp = frame + ETH + IP;
	uint16_t sum;

	peer_set_ip6(frame, from, to);
	tcp[16] = tcp[17] = 0;
	sum = peer_checksum6(frame + ETH, 6, tcp, bytes - UPPER);
	tcp[16] = (uint8_t)(sum >> 8);
	tcp[17] = (uint8_t)sum;
	return bytes;
}

static bool is_silent(void)
{
	return peer_take_frame(&peer) == 0 && utcp_conn_count(peer.utcp) == 0;
}

/* --- the header ------------------------------------------------------------------------------ */

static void refuses_short_frames(void)
{
	uint8_t frame[FRAME_ROOM];

	open_usual();
	syn_frame(frame);
	for (size_t cut = 0; cut < ETH + IP; cut++)
		peer_put_frame(&peer, frame, cut);
	CU_ASSERT(COUNT(drop_short) == ETH + IP && is_silent());
	peer_close(&peer);
}

static void refuses_lies_about_lengths(void)
{
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	bytes = syn_frame(frame);
	frame[ETH] = 0x40;
	peer_put_frame(&peer, frame, bytes);
	frame[ETH] = 0x60;
	frame[ETH + 5]++;
	peer_put_frame(&peer, frame, bytes);
	frame[ETH + 4] = 0xff;
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_ip_header) == 3);
	for (unsigned payload = 0; payload < 20; payload++) {
		syn_frame(frame);
		frame[ETH + 5] = (uint8_t)payload;
		peer_put_frame(&peer, frame, bytes);
	}
	CU_ASSERT(COUNT(drop_tcp_header) == 20 && is_silent());
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
	memset(frame + bytes, 0xee, 30);
	peer_put_frame(&peer, frame, bytes + 30);
	CU_ASSERT(peer_app_read(&peer, data, sizeof(data)) == 3 && memcmp(data, "abc", 3) == 0);
	peer_close(&peer);
}

/* LAND, groups, nobody, this host's own loopback, IPv4 in disguise (RFC 4291 2.5.5.2), another
 * subnet, and the routers' anycast address. */
static void refuses_impossible_sources(void)
{
	static const uint8_t sources[][16] = {{PEER_PREFIX6, [15] = OWN_IP & 0xff},
					      {0xfe, 0x80, [11] = 0xff, 0xfe, [15] = 1},
					      {0xff, 2, [15] = 1},
					      {0},
					      {[15] = 1},
					      {[10] = 0xff, 0xff, 10, 0, 0, 2},
					      {0xfd, 0x77, [7] = 1, [15] = 2},
					      {PEER_PREFIX6},
					      {0xfe, 0x80}};
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	for (unsigned i = 0; i < sizeof(sources) / 16; i++) {
		bytes = syn_between(frame, sources[i], peer_own_ip6);
		peer_put_frame(&peer, frame, bytes);
	}
	CU_ASSERT(COUNT(drop_ip_address) == sizeof(sources) / 16 && is_silent());
	peer_close(&peer);
}

static void refuses_what_is_not_for_us(void)
{
	static const uint8_t other_group[16] = {0xff, 2, [11] = 1, 0xff, [15] = 9};
	static const uint8_t other_host[16] = {PEER_PREFIX6, [15] = 9};
	uint8_t frame[FRAME_ROOM];

	open_usual();
	peer_put_frame(&peer, frame, syn_between(frame, peer_ip6, other_group));
	memset(frame, 0xff, 6); /* IPv6 has no broadcast */
	peer_put_frame(&peer, frame, ETH + IP + 20);
	CU_ASSERT(COUNT(drop_mac) == 2);
	peer_put_frame(&peer, frame, syn_between(frame, peer_ip6, other_host));
	syn_frame(frame);
	memcpy(frame, (const uint8_t[]){0x33, 0x33, 0, 0, 0, 1}, 6); /* to us alone, before all */
	peer_put_frame(&peer, frame, ETH + IP + 20);
	CU_ASSERT(COUNT(drop_ip_address) == 2);
	peer_put_frame(&peer, frame, syn_between(frame, peer_ip6, all_nodes)); /* TCP to a group */
	CU_ASSERT(COUNT(drop_ip_protocol) == 1 && is_silent());
	peer_close(&peer);
}

/* Each of our addresses answers as itself, and they do not mix. */
static void answers_from_the_address_called(void)
{
	uint8_t frame[FRAME_ROOM];

	open_usual();
	peer_put_frame(&peer, frame, syn_between(frame, peer_local, own_local));
	CU_ASSERT_FATAL(peer_take_frame(&peer) > 0);
	CU_ASSERT(memcmp(peer.frame + ETH + 8, own_local, 16) == 0);
	CU_ASSERT(memcmp(peer.frame + ETH + 24, peer_local, 16) == 0);
	peer_put_frame(&peer, frame, syn_between(frame, peer_local, peer_own_ip6));
	CU_ASSERT_FATAL(peer_take_frame(&peer) > 0);
	CU_ASSERT(memcmp(peer.frame + ETH + 8, peer_own_ip6, 16) == 0);
	peer_put_frame(&peer, frame, syn_between(frame, peer_ip6, peer_own_ip6));
	CU_ASSERT(peer_take_frame(&peer) > 0 && COUNT(calls_kept) == 3);
	peer_put_frame(&peer, frame, syn_between(frame, peer_ip6, peer_own_ip6));
	CU_ASSERT(peer_take_frame(&peer) > 0 && COUNT(calls_kept) == 3); /* again */
	peer_close(&peer);
}

static void families_live_side_by_side(void)
{
	struct utcp_conn *conn;

	open_usual();
	peer_connect(&peer, NULL, 0);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip4(PEER_IP), 80, peer.now_ns, &conn) == 0);
	CU_ASSERT(peer_take_frame(&peer) == ETH + 28 && peer.frame[13] == 6); /* ARP */
	CU_ASSERT(utcp_conn_count(peer.utcp) == 2);
	peer_close(&peer);
}

static void one_family_alone(void)
{
	struct utcp_config config = peer_config();
	uint8_t frame[FRAME_ROOM];
	struct utcp_conn *conn;

	config.ip = 0;
	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip4(PEER_IP), 80, peer.now_ns, &conn) ==
		  -ENETUNREACH);
	peer_close(&peer);
	config = peer_config();
	config.ip6 = (struct utcp_addr){0};
	peer_open(&peer, &config);
	peer_put_frame(&peer, frame, syn_frame(frame));
	CU_ASSERT(COUNT(drop_ethertype) == 1 && is_silent());
	CU_ASSERT(utcp_connect(peer.utcp, peer_addr(), 80, peer.now_ns, &conn) == -ENETUNREACH);
	peer_close(&peer);
}

/* --- extension headers ----------------------------------------------------------------------- */

/* A SYN behind these headers, the first of which is of kind `next`. */
static size_t extended(uint8_t *frame, uint8_t next, const uint8_t *headers, size_t bytes)
{
	uint8_t plain[FRAME_ROOM];
	size_t total = syn_frame(plain);

	memcpy(frame, plain, UPPER);
	memcpy(frame + UPPER, headers, bytes);
	memcpy(frame + UPPER + bytes, plain + UPPER, total - UPPER);
	frame[ETH + 4] = (uint8_t)((total - UPPER + bytes) >> 8);
	frame[ETH + 5] = (uint8_t)(total - UPPER + bytes);
	frame[ETH + 6] = next;
	return total + bytes;
}

static void put_extended(uint8_t next, const uint8_t *headers, size_t bytes)
{
	uint8_t frame[FRAME_ROOM];

	peer_put_frame(&peer, frame, extended(frame, next, headers, bytes));
}

/* The last answer is a parameter problem about what stands at `pointer`. */
static bool complains(uint8_t code, unsigned pointer)
{
	const uint8_t *message = peer.frame + UPPER;
	size_t bytes = peer_take_frame(&peer);

	return bytes > UPPER + 8 && bytes <= ETH + 1280 && peer.frame[ETH + 6] == 58 &&
	       message[0] == 4 && message[1] == code && message[7] == pointer && message[6] == 0 &&
	       memcmp(peer.frame + ETH + 24, peer_ip6, 16) == 0 &&
	       peer_checksum6(peer.frame + ETH, 58, message, bytes - UPPER) == 0;
}

static void passes_over_extensions(void)
{
	static const uint8_t chain[] = {
		43, 0, 5,    2, 0, 0, 1, 0, /* hop by hop: router alert */
		60, 0, 99,   0, 0, 0, 0, 0, /* routing, at its end */
		44, 1, 1,    4, 0, 0, 0, 0,
		0,  0, 0x1e, 4, 1, 2, 3, 4, /* options: pads, one unknown */
		6,  0, 0,    0, 7, 7, 7, 7, /* a packet in one fragment */
	};
	struct peer_segment answer;

	open_usual();
	put_extended(0, chain, sizeof(chain));
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == (SYN | ACK));
	peer_close(&peer);
}

static void bounds_extensions(void)
{
	uint8_t chain[9 * 8] = {0};

	open_usual();
	for (unsigned i = 0; i < 9; i++) {
		chain[8 * i] = i < 8 ? 60 : 6;
		chain[8 * i + 2] = 1;
		chain[8 * i + 3] = 4;
	}
	put_extended(60, chain, sizeof(chain)); /* one too many */
	CU_ASSERT(COUNT(drop_ip6_extension) == 1 && is_silent());
	put_extended(60, chain + 8, sizeof(chain) - 8);
	CU_ASSERT(COUNT(calls_kept) == 1);
	peer_close(&peer);
}

static void refuses_cut_extensions(void)
{
	static const uint8_t kinds[] = {0, 43, 60};
	uint8_t frame[FRAME_ROOM], header[8] = {6, 0, 1, 4};
	unsigned dropped = 0;

	open_usual();
	for (unsigned i = 0; i < sizeof(kinds); i++) {
		extended(frame, kinds[i], header, sizeof(header));
		for (uint8_t left = 0; left < 8; left++) {
			frame[ETH + 5] = left;
			peer_put_frame(&peer, frame, UPPER + left);
			CU_ASSERT(COUNT(drop_ip6_extension) == ++dropped);
		}
		header[1] = 4; /* longer than the packet */
		put_extended(kinds[i], header, sizeof(header));
		CU_ASSERT(COUNT(drop_ip6_extension) == ++dropped);
		header[1] = 0;
	}
	header[3] = 5; /* an option longer than its header */
	put_extended(60, header, sizeof(header));
	header[3] = 3; /* the last has no length */
	header[7] = 9;
	put_extended(60, header, sizeof(header));
	CU_ASSERT(COUNT(drop_ip6_extension) == dropped + 2 && is_silent());
	peer_close(&peer);
}

/* RFC 8200 4.2: the upper two bits of an unknown option's type. */
static void answers_unknown_options(void)
{
	uint8_t header[8] = {6, 0, 0x1e, 4}, frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	header[2] = 0x5e;
	put_extended(60, header, 8);
	CU_ASSERT(COUNT(drop_ip6_extension) == 1 && is_silent());
	header[2] = 0x9e;
	put_extended(60, header, 8);
	CU_ASSERT(complains(2, 42) && COUNT(drop_ip6_extension) == 2);
	header[2] = 0xde;
	put_extended(0, header, 8);
	CU_ASSERT(complains(2, 42) && COUNT(drop_ip6_extension) == 3);
	bytes = extended(frame, 60, header, 8); /* to all: only of the kind that says so */
	peer_set_ip6(frame, peer_ip6, all_nodes);
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(is_silent());
	frame[UPPER + 2] = 0x9e;
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(complains(2, 42));
	CU_ASSERT(memcmp(peer.frame + ETH + 8, peer_own_ip6, 16) == 0); /* not from the group */
	peer_close(&peer);
}

static void answers_unknown_headers(void)
{
	static const uint8_t route[] = {6, 0, 0, 1, 0, 0, 0, 0}; /* one stop left (RFC 5095) */
	static const uint8_t late[] = {0, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0};
	uint8_t frame[FRAME_ROOM];

	open_usual();
	put_extended(43, route, sizeof(route));
	CU_ASSERT(complains(0, 42) && COUNT(drop_ip6_extension) == 1);
	put_extended(60, late, sizeof(late)); /* hop by hop is the first or none (RFC 8200 4.1) */
	CU_ASSERT(complains(1, 40) && COUNT(drop_ip6_extension) == 2);
	put_extended(17, route, sizeof(route));
	CU_ASSERT(complains(1, 6) && COUNT(drop_ip_protocol) == 1);
	put_extended(59, route, sizeof(route)); /* nothing follows */
	CU_ASSERT(COUNT(drop_ip_protocol) == 2 && is_silent());
	peer_put_ip6(frame, 17, 5000);
	memset(frame + UPPER, 0, 5000);
	peer_put_frame(&peer, frame, UPPER + 5000); /* quoted no further than the least MTU */
	CU_ASSERT(complains(1, 6) && peer.frame_bytes == ETH + 1280);
	peer_close(&peer);
}

static void drops_fragments(void)
{
	static const uint8_t bits[][2] = {{0, 1}, {0, 8}, {0xff, 0xf8}, {0xff, 0xf9}};
	uint8_t header[8] = {6};

	open_usual();
	for (unsigned i = 0; i < 4; i++) {
		memcpy(header + 2, bits[i], 2);
		put_extended(44, header, sizeof(header));
	}
	CU_ASSERT(COUNT(drop_ip_fragment) == 4 && is_silent());
	peer_close(&peer);
}

static void bounds_complaints(void)
{
	static const uint8_t route[] = {6, 0, 0, 1, 0, 0, 0, 0};
	static const uint8_t before_error[] = {58, 0, 0x9e, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};

	open_usual();
	for (unsigned i = 0; i < 1000; i++)
		put_extended(43, route, sizeof(route));
	CU_ASSERT(peer_drain(&peer) == 10 && COUNT(out_lost) == 0);
	peer_jump(&peer, SECOND);
	put_extended(60, before_error, sizeof(before_error)); /* never of an error (RFC 4443 2.4) */
	CU_ASSERT(is_silent());
	put_extended(43, route, sizeof(route));
	CU_ASSERT(peer_drain(&peer) == 1);
	peer_close(&peer);
}

static void survives_noise(void)
{
	static const uint8_t chain[] = {60, 0, 1, 4, 0, 0, 0, 0, 44, 0, 1, 4,
					0,  0, 0, 0, 6, 0, 0, 0, 0,  0, 0, 0};
	struct random random = {11};
	uint8_t frame[FRAME_ROOM];

	open_usual();
	peer_connect(&peer, NULL, 0);
	for (unsigned round = 0; round < 20000; round++) {
		size_t bytes =
			round & 1 ? syn_frame(frame) : extended(frame, 0, chain, sizeof(chain));
		unsigned changes = 1 + (unsigned)random_below(&random, 6);

		for (unsigned i = 0; i < changes; i++)
			frame[random_below(&random, bytes)] = (uint8_t)random_next(&random);
		peer_put_frame(&peer, frame, random_below(&random, bytes) + 1);
		peer_drain(&peer);
	}
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"IPv6 frames cut anywhere in their headers are counted and dropped", refuses_short_frames},
	{"IPv6 headers that lie about lengths are dropped", refuses_lies_about_lengths},
	{"padding behind an IPv6 packet never reaches TCP", trims_padding},
	{"a packet from ourselves or from no host of this link is dropped",
	 refuses_impossible_sources},
	{"other hosts' and groups' packets are dropped", refuses_what_is_not_for_us},
	{"each of our addresses answers as itself", answers_from_the_address_called},
	{"both families live side by side", families_live_side_by_side},
	{"either family may be left out", one_family_alone},
	{"extension headers are passed over", passes_over_extensions},
	{"nine extension headers are one too many", bounds_extensions},
	{"extension headers and options that end too late are dropped", refuses_cut_extensions},
	{"an unknown option is answered as its type says", answers_unknown_options},
	{"unknown headers and routes that go on are answered", answers_unknown_headers},
	{"every kind of fragment is dropped", drops_fragments},
	{"ten complaints a second, and none of an error", bounds_complaints},
	{"damaged IPv6 frames of every length do no harm", survives_noise},
};

SUITE_MAIN("ip6", tests)
