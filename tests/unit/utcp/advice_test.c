#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <string.h>

static struct peer peer;
static const uint8_t data[16384];

#define COUNT(name) (utcp_counters(peer.utcp)->name)

enum { ETH = 14, ICMP_AT = ETH + 20, QUOTE_AT = ICMP_AT + 8 };

/* An ICMP message that quotes a packet of ours. */
struct message {
	uint8_t type;
	uint8_t code;
	uint16_t mtu;
	uint32_t seq;
	uint16_t packet_bytes;
	uint16_t quoted_bytes; /* 0: 28 */
};

static void put_sum(uint8_t *at, const uint8_t *from, size_t bytes)
{
	uint16_t sum;

	at[0] = at[1] = 0;
	sum = peer_checksum(0, from, bytes);
	at[0] = (uint8_t)(sum >> 8);
	at[1] = (uint8_t)sum;
}

static size_t build(const struct message *message, uint8_t *frame)
{
	struct peer_segment quoted = {.seq = message->seq,
				      .port = peer.own_port, /* it is ours: source and */
				      .own_port = peer.port, /* destination the other way */
				      .flags = ACK};
	uint8_t inner[FRAME_ROOM], *icmp = frame + ICMP_AT;
	size_t quoted_bytes = message->quoted_bytes ? message->quoted_bytes : 28;
	size_t bytes = 8 + quoted_bytes;

	peer_build(&quoted, inner);
	inner[ETH + 2] = (uint8_t)(message->packet_bytes >> 8);
	inner[ETH + 3] = (uint8_t)message->packet_bytes;
	inner[ETH + 15] = 1; /* from 10.0.0.1 */
	inner[ETH + 19] = 2; /* to 10.0.0.2 */
	peer_build(&quoted, frame);
	frame[ETH + 2] = (uint8_t)((20 + bytes) >> 8);
	frame[ETH + 3] = (uint8_t)(20 + bytes);
	frame[ETH + 9] = 1;
	put_sum(frame + ETH + 10, frame + ETH, 20);
	memset(icmp, 0, 8);
	icmp[0] = message->type;
	icmp[1] = message->code;
	icmp[6] = (uint8_t)(message->mtu >> 8);
	icmp[7] = (uint8_t)message->mtu;
	memcpy(frame + QUOTE_AT, inner + ETH, quoted_bytes);
	put_sum(icmp + 2, icmp, bytes);
	return QUOTE_AT + quoted_bytes;
}

static void say(const struct message *message)
{
	uint8_t frame[FRAME_ROOM];

	peer_put_frame(&peer, frame, build(message, frame));
}

static void say_too_big(uint16_t mtu, uint32_t seq)
{
	say(&(struct message){.type = 3, .code = 4, .mtu = mtu, .seq = seq, .packet_bytes = 1500});
}

static void open_connected(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
}

/* With ten full segments in flight. */
static void open_sending(void)
{
	open_connected();
	peer_app_write(&peer, data, sizeof(data));
	CU_ASSERT(peer_drain(&peer) == 10);
}

static void hard_errors_end_a_call(void)
{
	static const uint8_t reasons[][2] = {{2, UTCP_UNREACHABLE}, {3, UTCP_REFUSED}};

	for (unsigned i = 0; i < 2; i++) {
		struct utcp_config config = peer_config();

		peer_open(&peer, &config);
		peer_be_called(&peer);
		say(&(struct message){.type = 3, .code = reasons[i][0], .seq = peer.ack - 1});
		peer_poll(&peer);
		CU_ASSERT(peer.closed == 1 && peer.reason == reasons[i][1]);
		CU_ASSERT(COUNT(icmp_hard) == 1 && COUNT(in_icmp) == 1);
		peer_close(&peer);
	}
}

static void soft_errors_of_a_call_name_its_end(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_be_called(&peer);
	say(&(struct message){.type = 3, .code = 1, .seq = peer.ack - 1});
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0 && COUNT(icmp_soft) == 1);
	while (peer.closed == 0 && peer.now_ns < 3000 * SECOND) {
		peer_wait(&peer, SECOND);
		peer_poll(&peer);
	}
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_UNREACHABLE);
	peer_close(&peer);
}

/* RFC 5927 5.2: whatever it says, a connection that stands stays. */
static void errors_end_no_connection(void)
{
	open_sending();
	for (unsigned code = 0; code < 16; code++)
		if (code != 4)
			say(&(struct message){.type = 3, .code = (uint8_t)code, .seq = peer.ack});
	say(&(struct message){.type = 11, .seq = peer.ack});
	say(&(struct message){.type = 12, .seq = peer.ack});
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0 && COUNT(icmp_soft) == 17 && peer_drain(&peer) == 0);
	peer_close(&peer);
}

static void forged_errors_are_dropped(void)
{
	struct message message = {.type = 3, .code = 4, .mtu = 600, .packet_bytes = 1500};

	open_sending();
	message.seq = peer.ack - 1; /* long acknowledged */
	say(&message);
	message.seq = peer.ack + 14600; /* not yet sent */
	say(&message);
	message.seq = peer.ack + 0x80000000u;
	say(&message);
	message.seq = peer.ack;
	peer.port++; /* nobody's */
	say(&message);
	peer.port--;
	CU_ASSERT(COUNT(icmp_unproven) == 4 && COUNT(drop_icmp) == 4);
	CU_ASSERT(COUNT(path_mtu_lowered) == 0 && peer_drain(&peer) == 0);
	peer_close(&peer);
}

static void malformed_errors_are_dropped(void)
{
	struct message message = {.type = 3, .code = 4, .mtu = 600, .packet_bytes = 1500};
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_sending();
	message.seq = peer.ack;
	for (uint16_t quoted = 1; quoted < 28; quoted++) {
		message.quoted_bytes = quoted;
		say(&message);
	}
	CU_ASSERT(COUNT(drop_icmp) == 27);
	message.quoted_bytes = 0;
	bytes = build(&message, frame);
	for (size_t at = ICMP_AT; at < bytes; at++) { /* the checksum finds each */
		frame[at] ^= 0x40;
		peer_put_frame(&peer, frame, bytes);
		frame[at] ^= 0x40;
	}
	CU_ASSERT(COUNT(drop_icmp) == 27 + bytes - ICMP_AT);
	for (unsigned i = 0; i < 5; i++) { /* version, length, fragment, protocol, source */
		static const uint8_t places[][2] = {{0, 0x65}, {0, 0x4f}, {7, 1}, {9, 17}, {15, 9}};

		bytes = build(&message, frame);
		frame[QUOTE_AT + places[i][0]] = places[i][1];
		put_sum(frame + ICMP_AT + 2, frame + ICMP_AT, bytes - ICMP_AT);
		peer_put_frame(&peer, frame, bytes);
	}
	CU_ASSERT(COUNT(drop_icmp) == 27 + bytes - ICMP_AT + 5 && COUNT(in_icmp) == 0);
	peer_close(&peer);
}

/* Takes all that utcp sends and acknowledges it; the largest payload. */
static size_t take_stream(size_t *sum_out)
{
	struct peer_segment out;
	size_t largest = 0;

	*sum_out = 0;
	while (peer_take(&peer, &out)) {
		if (out.bytes > largest)
			largest = out.bytes;
		*sum_out += out.bytes;
	}
	return largest;
}

static void too_big_is_sent_again_in_smaller_pieces(void)
{
	size_t sum;

	open_sending();
	say_too_big(1000, peer.ack + 1460);
	CU_ASSERT(COUNT(path_mtu_lowered) == 1 && COUNT(in_icmp) == 1);
	CU_ASSERT(take_stream(&sum) == 960 && sum > 14600 - 960 && COUNT(retransmits) > 10);
	CU_ASSERT(COUNT(timeouts) == 0 && COUNT(fast_retransmits) == 0);
	say_too_big(1000, peer.ack + 1460); /* of the others that did not fit */
	CU_ASSERT(COUNT(path_mtu_lowered) == 1 && peer_drain(&peer) == 0);
	peer.ack += 14600;
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(take_stream(&sum) == 960 && sum == sizeof(data) - 14600);
	peer_close(&peer);
}

/* E12: claims of 0, 68 and more than was sent. */
static void claims_are_held_to_a_floor(void)
{
	size_t sum;

	open_sending();
	say_too_big(68, peer.ack);
	CU_ASSERT(take_stream(&sum) == 552 - 40 && COUNT(path_mtu_lowered) == 1);
	say_too_big(1, peer.ack);
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(path_mtu_lowered) == 1);
	peer_close(&peer);
	open_sending();
	say_too_big(1500, peer.ack);
	say_too_big(65535, peer.ack);
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(path_mtu_lowered) == 0 && COUNT(drop_icmp) == 2);
	peer_close(&peer);
}

static void routers_that_name_none_are_guessed(void)
{
	size_t sum;

	open_sending();
	say_too_big(0, peer.ack);
	CU_ASSERT(take_stream(&sum) == 1492 - 40);
	say(&(struct message){.type = 3, .code = 4, .seq = peer.ack, .packet_bytes = 1492});
	CU_ASSERT(take_stream(&sum) == 1006 - 40);
	say(&(struct message){.type = 3, .code = 4, .seq = peer.ack, .packet_bytes = 1006});
	CU_ASSERT(take_stream(&sum) == 552 - 40);
	say(&(struct message){.type = 3, .code = 4, .seq = peer.ack, .packet_bytes = 300});
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(path_mtu_lowered) == 3);
	peer_close(&peer);
}

static void a_flood_costs_nothing_that_lasts(void)
{
	open_sending();
	for (uint16_t mtu = 1499; mtu > 0; mtu--)
		say_too_big(mtu, peer.ack);
	CU_ASSERT(COUNT(path_mtu_lowered) == 1500 - 552);
	for (unsigned i = 0; i < 10000; i++)
		say_too_big((uint16_t)i, peer.ack + 5);
	CU_ASSERT(COUNT(path_mtu_lowered) == 1500 - 552);
	peer_drain(&peer);
	CU_ASSERT(COUNT(out_lost) == 0);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"hard ICMP errors end a call at once", hard_errors_end_a_call},
	{"soft ICMP errors of a call say why it ended, if it does",
	 soft_errors_of_a_call_name_its_end},
	{"no ICMP error ends an established connection", errors_end_no_connection},
	{"ICMP errors that quote nothing in flight are dropped", forged_errors_are_dropped},
	{"ICMP errors cut short, damaged, or of another's packets are dropped",
	 malformed_errors_are_dropped},
	{"a packet too big for the path is sent again in smaller pieces, the window kept",
	 too_big_is_sent_again_in_smaller_pieces},
	{"claimed path MTUs are held to a floor of 552 and below what was sent",
	 claims_are_held_to_a_floor},
	{"a router that names no MTU is answered with the next plateau",
	 routers_that_name_none_are_guessed},
	{"a flood of path MTUs costs nothing that lasts", a_flood_costs_nothing_that_lasts},
};

SUITE_MAIN("advice", tests)
