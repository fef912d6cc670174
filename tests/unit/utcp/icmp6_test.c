/*
 * icmp6_test: what advice_test says of ICMP's errors, of ICMPv6's.
 */
#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <string.h>

enum {
	ETH = 14,
	MESSAGE = ETH + 40,
	QUOTE = MESSAGE + 8,
	QUOTED_BYTES = 48,
	SENT = 1520, /* bytes of a full packet of ours */
	UNREACHABLE = 1,
	TOO_BIG = 2,
	TIME_EXCEEDED = 3,
	PROBLEM = 4,
};

static struct peer peer;
static const uint8_t data[16384];

#define COUNT(name) (utcp_counters(peer.utcp)->name)

/* A message that quotes the first bytes of a packet of ours. */
struct message {
	uint8_t type;
	uint8_t code;
	uint32_t mtu;
	uint32_t seq;
	size_t quoted_bytes;
};

static void seal(uint8_t *frame, size_t bytes)
{
	uint16_t sum;

	frame[MESSAGE + 2] = frame[MESSAGE + 3] = 0;
	sum = peer_checksum6(frame + ETH, 58, frame + MESSAGE, bytes - MESSAGE);
	frame[MESSAGE + 2] = (uint8_t)(sum >> 8);
	frame[MESSAGE + 3] = (uint8_t)sum;
}

static size_t build(const struct message *message, uint8_t *frame)
{
	struct peer_segment quoted = {.seq = message->seq,
				      .port = peer.own_port, /* it is ours: source and */
				      .own_port = peer.port, /* destination the other way */
				      .flags = ACK};
	uint8_t inner[FRAME_ROOM];

	peer_build(&quoted, inner);
	peer_set_ip6(inner, peer_own_ip6, peer_ip6);
	inner[ETH + 4] = (SENT - 40) >> 8;
	inner[ETH + 5] = (SENT - 40) & 0xff;
	peer_put_ip6(frame, 58, 8 + message->quoted_bytes);
	memset(frame + MESSAGE, 0, 8);
	frame[MESSAGE] = message->type;
	frame[MESSAGE + 1] = message->code;
	for (unsigned i = 0; i < 4; i++)
		frame[MESSAGE + 4 + i] = (uint8_t)(message->mtu >> (24 - 8 * i));
	memcpy(frame + QUOTE, inner + ETH, message->quoted_bytes);
	seal(frame, QUOTE + message->quoted_bytes);
	return QUOTE + message->quoted_bytes;
}

static void say(uint8_t type, uint8_t code, uint32_t mtu, uint32_t seq)
{
	struct message message = {type, code, mtu, seq, QUOTED_BYTES};
	uint8_t frame[FRAME_ROOM];

	peer_put_frame(&peer, frame, build(&message, frame));
}

static void open_usual(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
}

/* With ten full segments in flight. */
static void open_sending(void)
{
	open_usual();
	peer_connect(&peer, NULL, 0);
	peer_app_write(&peer, data, sizeof(data));
	CU_ASSERT(peer_drain(&peer) == 10);
}

static void hard_errors_end_a_call(void)
{
	static const uint8_t hard[][3] = {{UNREACHABLE, 4, UTCP_REFUSED},
					  {PROBLEM, 1, UTCP_UNREACHABLE}};

	for (unsigned i = 0; i < 2; i++) {
		open_usual();
		peer_be_called(&peer);
		say(hard[i][0], hard[i][1], 0, peer.ack - 1);
		peer_poll(&peer);
		CU_ASSERT(peer.closed == 1 && peer.reason == hard[i][2]);
		CU_ASSERT(COUNT(icmp_hard) == 1 && COUNT(in_icmp) == 1);
		peer_close(&peer);
	}
}

static void errors_end_no_connection(void)
{
	open_sending();
	for (uint8_t code = 0; code < 8; code++)
		say(UNREACHABLE, code, 0, peer.ack);
	for (uint8_t code = 0; code < 3; code++)
		say(PROBLEM, code, 0, peer.ack);
	say(TIME_EXCEEDED, 0, 0, peer.ack);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0 && COUNT(icmp_soft) == 12 && peer_drain(&peer) == 0);
	peer_close(&peer);
}

static void forged_errors_are_dropped(void)
{
	open_sending();
	say(TOO_BIG, 0, 1300, peer.ack - 1);	 /* long acknowledged */
	say(TOO_BIG, 0, 1300, peer.ack + 14600); /* not yet sent */
	peer.port++;
	say(TOO_BIG, 0, 1300, peer.ack);
	peer.port--;
	CU_ASSERT(COUNT(icmp_unproven) == 3 && COUNT(drop_icmp) == 3);
	CU_ASSERT(COUNT(path_mtu_lowered) == 0 && peer_drain(&peer) == 0);
	peer_close(&peer);
}

/* Cut short, damaged, to all, and what we cannot have sent: version, next header, source. */
static void malformed_errors_are_dropped(void)
{
	static const uint8_t places[][2] = {{0, 0x45}, {6, 17}, {6, 0}, {23, 9}};
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
	struct message message = {.type = TOO_BIG, .mtu = 1300};
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_sending();
	message.seq = peer.ack;
	for (; message.quoted_bytes < QUOTED_BYTES; message.quoted_bytes++)
		peer_put_frame(&peer, frame, build(&message, frame));
	CU_ASSERT(COUNT(drop_icmp) == QUOTED_BYTES);
	for (unsigned i = 0; i < 4; i++) {
		bytes = build(&message, frame);
		frame[QUOTE + places[i][0]] = places[i][1];
		seal(frame, bytes);
		peer_put_frame(&peer, frame, bytes);
	}
	bytes = build(&message, frame);
	frame[bytes - 1] ^= 1;
	peer_put_frame(&peer, frame, bytes);
	build(&message, frame);
	peer_set_ip6(frame, peer_ip6, all_nodes);
	seal(frame, bytes);
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_icmp) == QUOTED_BYTES + 6 && COUNT(in_icmp) == 0);
	CU_ASSERT(peer_drain(&peer) == 0);
	peer_close(&peer);
}

/* Takes all that utcp sends; the largest payload. */
static size_t largest_sent(void)
{
	struct peer_segment out;
	size_t largest = 0;

	while (peer_take(&peer, &out))
		if (out.bytes > largest)
			largest = out.bytes;
	return largest;
}

static void too_big_is_sent_again_in_smaller_pieces(void)
{
	open_sending();
	say(TOO_BIG, 0, 1400, peer.ack + 1460);
	CU_ASSERT(COUNT(path_mtu_lowered) == 1 && COUNT(in_icmp) == 1);
	CU_ASSERT(largest_sent() == 1400 - 60 && COUNT(timeouts) == 0);
	say(TOO_BIG, 0, 1400, peer.ack + 1460); /* of the others that did not fit */
	CU_ASSERT(COUNT(path_mtu_lowered) == 1 && peer_drain(&peer) == 0);
	peer_close(&peer);
}

/* E12: RFC 8201 4 lets no packet become smaller than 1280 bytes. */
static void claims_are_held_to_a_floor(void)
{
	open_sending();
	say(TOO_BIG, 0, 68, peer.ack);
	CU_ASSERT(largest_sent() == 1280 - 60 && COUNT(path_mtu_lowered) == 1);
	say(TOO_BIG, 0, 1, peer.ack);
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(path_mtu_lowered) == 1);
	peer_close(&peer);
	open_sending();
	say(TOO_BIG, 0, SENT, peer.ack);
	say(TOO_BIG, 0, 65536 + 1300, peer.ack); /* 32 bits of it count */
	say(TOO_BIG, 0, UINT32_MAX, peer.ack);
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(path_mtu_lowered) == 0 && COUNT(drop_icmp) == 3);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"hard ICMPv6 errors end a call at once", hard_errors_end_a_call},
	{"no ICMPv6 error ends an established connection", errors_end_no_connection},
	{"ICMPv6 errors that quote nothing in flight are dropped", forged_errors_are_dropped},
	{"ICMPv6 errors cut short, damaged, to all, or of what we cannot have sent are dropped",
	 malformed_errors_are_dropped},
	{"a packet too big for the path is sent again in smaller pieces",
	 too_big_is_sent_again_in_smaller_pieces},
	{"claimed path MTUs are held to a floor of 1280 and below what was sent",
	 claims_are_held_to_a_floor},
};

SUITE_MAIN("icmp6", tests)
