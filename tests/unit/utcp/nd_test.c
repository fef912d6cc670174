/*
 * nd_test: what link_test says of ICMP and ARP, of ICMPv6 and neighbour discovery.
 */
#include "tests/unit/utcp/peer.h"

#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

enum { ETH = 14, IP = 40, ICMP = ETH + IP, LINK_OPTION = 8 };

static struct peer peer;

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
static const uint8_t own_group[16] = {0xff, 2, [11] = 1, 0xff, [15] = OWN_IP & 0xff};
static const uint8_t own_local[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, [15] = 1};
static const uint8_t peer_local[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, [15] = 2};

static void open_usual(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
}

static bool is_silent(void)
{
	return peer_take_frame(&peer) == 0 && utcp_conn_count(peer.utcp) == 0;
}

/* --- ICMPv6 ---------------------------------------------------------------------------------- */

static void seal(uint8_t *frame, size_t bytes)
{
	uint8_t *message = frame + ICMP;
	uint16_t sum;

	message[2] = message[3] = 0;
	sum = peer_checksum6(frame + ETH, 58, message, bytes - ICMP);
	message[2] = (uint8_t)(sum >> 8);
	message[3] = (uint8_t)sum;
}

static size_t icmp_frame(uint8_t *frame, uint8_t type, size_t payload)
{
	memset(frame, 0, ICMP + 8);
	peer_put_ip6(frame, 58, 8 + payload);
	frame[ICMP] = type;
	for (size_t i = 0; i < payload; i++)
		frame[ICMP + 8 + i] = (uint8_t)i;
	seal(frame, ICMP + 8 + payload);
	return ICMP + 8 + payload;
}

static void echoes(void)
{
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	for (size_t payload = 0; payload <= 1472; payload += 23) {
		bytes = icmp_frame(frame, 128, payload);
		peer_put_frame(&peer, frame, bytes);
		CU_ASSERT_FATAL(peer_take_frame(&peer) == bytes && peer.frame[ICMP] == 129);
		CU_ASSERT(peer_checksum6(peer.frame + ETH, 58, peer.frame + ICMP, bytes - ICMP) ==
			  0);
		CU_ASSERT(memcmp(peer.frame + ICMP + 4, frame + ICMP + 4, bytes - ICMP - 4) == 0);
		CU_ASSERT(memcmp(peer.frame + ETH + 8, frame + ETH + 24, 16) == 0);
	}
	peer_close(&peer);
}

static void bounds_echoes(void)
{
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_usual();
	peer_put_frame(&peer, frame, icmp_frame(frame, 128, 1473)); /* does not fit our link */
	peer_put_frame(&peer, frame, icmp_frame(frame, 129, 8));
	bytes = icmp_frame(frame, 128, 8);
	frame[bytes - 1] ^= 1;
	peer_put_frame(&peer, frame, bytes);
	peer_set_ip6(frame, peer_ip6, all_nodes); /* no amplifier */
	frame[bytes - 1] ^= 1;
	seal(frame, bytes);
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_icmp) == 4 && is_silent());
	for (unsigned i = 0; i < 1000; i++)
		peer_put_frame(&peer, frame, icmp_frame(frame, 128, 8));
	CU_ASSERT(COUNT(in_icmp) == 1000);
	CU_ASSERT(peer_drain(&peer) + COUNT(out_lost) == 1000 && COUNT(out_lost) > 900);
	peer_close(&peer);
}

/* --- neighbour discovery --------------------------------------------------------------------- */

struct message {
	uint8_t type;
	uint8_t flags;
	const uint8_t *from;
	const uint8_t *to;
	const uint8_t *target;
	uint8_t mac; /* last byte of the hardware address told; 0: none is */
};

static size_t nd_frame(uint8_t *frame, const struct message *m)
{
	size_t bytes = 24 + (m->mac ? LINK_OPTION : 0);
	uint8_t *message = frame + ICMP;

	memset(frame, 0, ICMP + 32);
	peer_put_ip6(frame, 58, bytes);
	peer_set_ip6(frame, m->from, m->to);
	frame[ETH + 7] = 255;
	message[0] = m->type;
	message[4] = m->flags;
	memcpy(message + 8, m->target, 16);
	if (m->mac) {
		message[24] = m->type == 135 ? 1 : 2;
		message[25] = 1;
		message[26] = 2;
		message[31] = m->mac;
	}
	seal(frame, ICMP + bytes);
	return ICMP + bytes;
}

static void put_nd(const struct message *message)
{
	uint8_t frame[FRAME_ROOM];

	peer_put_frame(&peer, frame, nd_frame(frame, message));
}

/* The usual question, which every answer is a change of. */
static const struct message question = {
	.type = 135, .from = peer_ip6, .to = own_group, .target = peer_own_ip6, .mac = 2};
static const struct message answer_ = {.type = 136,
				       .flags = 0x60,
				       .from = peer_ip6,
				       .to = peer_own_ip6,
				       .target = peer_ip6,
				       .mac = 2};

/* The last answer is an advertisement of ours, of `target`, with these flags. */
static bool advertises(const uint8_t *target, uint8_t flags)
{
	const uint8_t *message = peer.frame + ICMP;

	return peer_take_frame(&peer) == ICMP + 32 && peer.frame[ETH + 7] == 255 &&
	       message[0] == 136 && message[4] == flags && memcmp(message + 8, target, 16) == 0 &&
	       memcmp(peer.frame + ETH + 8, target, 16) == 0 &&
	       memcmp(message + 24, "\2\1\2\0\0\0\0\1", 8) == 0 &&
	       peer_checksum6(peer.frame + ETH, 58, message, 32) == 0;
}

static void answers_solicitations(void)
{
	struct message m = question;

	open_usual();
	put_nd(&m);
	CU_ASSERT(advertises(peer_own_ip6, 0x60) && peer.frame[5] == 2);
	CU_ASSERT(memcmp(peer.frame + ETH + 24, peer_ip6, 16) == 0);
	m.to = peer_own_ip6; /* the probe of one who knows us needs no option (RFC 4861 4.3) */
	m.mac = 0;
	put_nd(&m);
	CU_ASSERT(advertises(peer_own_ip6, 0x60) && peer.frame[5] == 2);
	m = question;
	m.from = peer_local;
	m.target = own_local;
	put_nd(&m);
	CU_ASSERT(advertises(own_local, 0x60) && COUNT(in_nd) == 3);
	peer_close(&peer);
}

/* Somebody wants our address (RFC 4862 5.4): he hears that it is taken, as do all. */
static void defends_its_addresses(void)
{
	static const uint8_t nobody[16];
	struct message m = question;

	open_usual();
	m.from = nobody;
	m.mac = 0;
	put_nd(&m);
	CU_ASSERT(advertises(peer_own_ip6, 0x20));
	CU_ASSERT(memcmp(peer.frame, "\x33\x33\0\0\0\1", 6) == 0);
	CU_ASSERT(memcmp(peer.frame + ETH + 24, all_nodes, 16) == 0);
	m.mac = 2; /* who has no address tells none (RFC 4861 7.1.1) */
	put_nd(&m);
	CU_ASSERT(COUNT(drop_nd) == 1 && is_silent());
	peer_close(&peer);
}

static void refuses_malformed_discovery(void)
{
	static const uint8_t changes[][2] = {
		{ETH + 7, 254},	   /* passed on by a router */
		{ICMP + 1, 1},	   /* code */
		{ICMP + 25, 0},	   /* an option of length 0 */
		{ICMP + 25, 2},	   /* past the end */
		{ICMP + 26, 3},	   /* a group's hardware address */
		{ICMP + 23, 0x77}, /* somebody else's */
		{ICMP + 0, 133},   /* router solicitation */
		{ICMP + 0, 134},   /* router advertisement */
		{ICMP + 0, 137},   /* redirect */
	};
	struct message m = question;
	uint8_t frame[FRAME_ROOM];
	size_t bytes;
	unsigned count = sizeof(changes) / 2;

	open_usual();
	for (unsigned i = 0; i < count; i++) {
		bytes = nd_frame(frame, &m);
		frame[changes[i][0]] = changes[i][1];
		seal(frame, bytes);
		peer_put_frame(&peer, frame, bytes);
		CU_ASSERT(COUNT(drop_nd) == i + 1);
	}
	bytes = nd_frame(frame, &m);
	frame[ICMP + 24] = 14; /* an option that is passed over, but not of length 0 */
	frame[ICMP + 25] = 0;
	seal(frame, bytes);
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_nd) == ++count);
	for (unsigned cut = 8; cut < 24; cut++) {
		nd_frame(frame, &m);
		frame[ETH + 5] = (uint8_t)cut;
		seal(frame, ICMP + cut);
		peer_put_frame(&peer, frame, ICMP + cut);
	}
	m.mac = 0; /* asked before all, without telling where (RFC 4861 4.3) */
	put_nd(&m);
	CU_ASSERT(COUNT(drop_nd) == count + 17);
	bytes = nd_frame(frame, &question);
	frame[ICMP + 31] ^= 1;
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_icmp) == 1 && is_silent()); /* its checksum */
	peer_close(&peer);
}

static uint8_t called_at(void)
{
	peer_drain(&peer);
	CU_ASSERT(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &peer.conn) == 0);
	CU_ASSERT(peer_take_frame(&peer) > 0);
	return peer.frame[5];
}

static void unasked_advertisements_teach_nothing(void)
{
	struct message m = answer_;

	open_usual();
	m.mac = 9;
	put_nd(&m);
	CU_ASSERT(COUNT(drop_nd) == 1);
	peer_be_called(&peer); /* asks, so it had learned nothing */
	put_nd(&m);
	CU_ASSERT(COUNT(drop_nd) == 2 && called_at() == 2);
	peer_close(&peer);
}

/* The question of a call goes to the group of who is asked; wrong answers leave it open. */
static void asks_for_whom_it_calls(void)
{
	struct message m = answer_;

	open_usual();
	CU_ASSERT(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &peer.conn) == 0);
	CU_ASSERT(peer_take_frame(&peer) == ICMP + 32 && peer.frame[ICMP] == 135);
	CU_ASSERT(memcmp(peer.frame, "\x33\x33\xff\0\0\2", 6) == 0 && peer.frame[ETH + 7] == 255);
	CU_ASSERT(peer.frame[ETH + 24] == 0xff && peer.frame[ETH + 39] == 2);
	CU_ASSERT(memcmp(peer.frame + ICMP + 24, "\1\1\2\0\0\0\0\1", 8) == 0);
	CU_ASSERT(peer_checksum6(peer.frame + ETH, 58, peer.frame + ICMP, 32) == 0);
	m.mac = 0;
	put_nd(&m);
	m = answer_;
	m.to = all_nodes; /* "asked for", before all (RFC 4861 7.1.2) */
	put_nd(&m);
	m = answer_;
	m.target = peer_local;
	put_nd(&m);
	CU_ASSERT(COUNT(drop_nd) == 3 && peer_take_frame(&peer) == 0);
	put_nd(&answer_);
	CU_ASSERT(COUNT(in_nd) == 1 && peer_take_frame(&peer) > 0 && peer.frame[ETH + 6] == 6);
	peer_close(&peer);
}

static void solicitations_move_a_peer_once_a_second(void)
{
	struct message m = question;

	open_usual();
	peer_be_called(&peer);
	m.mac = 9;
	put_nd(&m);
	CU_ASSERT(called_at() == 2);
	peer_jump(&peer, SECOND);
	put_nd(&m);
	CU_ASSERT(called_at() == 9);
	put_nd(&question);
	CU_ASSERT(called_at() == 9);
	peer_close(&peer);
}

static void calls_to_nobody_end(void)
{
	open_usual();
	CU_ASSERT(utcp_connect(peer.utcp, peer_addr_of(9), 80, peer.now_ns, &peer.conn) == 0);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT(peer_drain(&peer) == 1);
		CU_ASSERT(utcp_deadline(peer.utcp) == peer.now_ns + SECOND);
		peer_jump(&peer, SECOND);
	}
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_UNREACHABLE);
	utcp_advance(peer.utcp, peer.now_ns);
	CU_ASSERT(is_silent());
	peer_close(&peer);
}

static void too_many_questions_are_refused(void)
{
	static const uint8_t foreign[16] = {0xfd, 0x78, [15] = 1};
	struct utcp_config config = peer_config();
	struct utcp_conn *conn;
	unsigned refused = 0;

	config.conn_max = 200;
	peer_open(&peer, &config);
	for (unsigned i = 0; i < 100; i++) {
		struct utcp_addr to =
			i & 1 ? peer_addr_of((uint8_t)(10 + i)) : addr_of_ip4(OWN_IP + 10 + i);
		int error = utcp_connect(peer.utcp, to, 80, peer.now_ns, &conn);

		CU_ASSERT(error == 0 || error == -ENOBUFS);
		refused += error != 0;
	}
	CU_ASSERT(refused == 100 - 64); /* both families share the table */
	CU_ASSERT(utcp_connect(peer.utcp, peer_addr_of(OWN_IP & 0xff), 80, peer.now_ns, &conn) ==
		  -ENETUNREACH);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip6(foreign), 80, peer.now_ns, &conn) ==
		  -ENETUNREACH);
	CU_ASSERT(utcp_connect(peer.utcp, addr_of_ip6(all_nodes), 80, peer.now_ns, &conn) ==
		  -ENETUNREACH);
	peer_wait(&peer, 10 * SECOND);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 64);
	peer_close(&peer);
}

static void a_discovery_flood_is_bounded(void)
{
	uint8_t from[16] = {PEER_PREFIX6, [13] = 1};
	struct message m = question;

	open_usual();
	m.from = from;
	for (unsigned i = 0; i < 65536; i++) {
		from[14] = (uint8_t)(i >> 8);
		from[15] = (uint8_t)i;
		m.type = i & 1 ? 135 : 136;
		m.mac = (uint8_t)(i | 1);
		put_nd(&m);
	}
	CU_ASSERT(peer_drain(&peer) + COUNT(out_lost) == 32768);
	peer_accept(&peer); /* and calls still work */
	peer_close(&peer);
}

static void survives_noise(void)
{
	struct random random = {11};
	uint8_t frame[FRAME_ROOM];

	open_usual();
	peer_connect(&peer, NULL, 0);
	for (unsigned round = 0; round < 20000; round++) {
		size_t bytes = round & 1 ? icmp_frame(frame, 128, 20) : nd_frame(frame, &question);
		unsigned changes = 1 + (unsigned)random_below(&random, 6);

		for (unsigned i = 0; i < changes; i++)
			frame[random_below(&random, bytes)] = (uint8_t)random_next(&random);
		seal(frame, bytes);
		peer_put_frame(&peer, frame, random_below(&random, bytes) + 1);
		peer_drain(&peer);
	}
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"echo requests of every size are echoed", echoes},
	{"echoes that would not fit, to all, other ICMPv6 and floods are bounded", bounds_echoes},
	{"a solicitation of ours is answered, from each of our addresses", answers_solicitations},
	{"who wants our address is told before all", defends_its_addresses},
	{"malformed and foreign neighbour discovery is dropped", refuses_malformed_discovery},
	{"an unasked advertisement teaches nothing", unasked_advertisements_teach_nothing},
	{"a call asks the group of whom it calls", asks_for_whom_it_calls},
	{"a solicitation moves a known host, once a second at most",
	 solicitations_move_a_peer_once_a_second},
	{"a call to nobody is unreachable after three solicitations", calls_to_nobody_end},
	{"both families share a bounded table of neighbours", too_many_questions_are_refused},
	{"a flood of neighbour discovery stays bounded and calls still work",
	 a_discovery_flood_is_bounded},
	{"damaged discovery and echoes of every length do no harm", survives_noise},
};

SUITE_MAIN("nd", tests)
