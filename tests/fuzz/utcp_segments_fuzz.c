/*
 * Conversations: segments whose numbers are near what an instance expects, applications that write,
 * read and end, and time, over one connection that the peer opens and one that we open, each over
 * IPv4 or IPv6.
 *
 * The byte at a sequence number is a function of that number alone, in both directions. So whatever
 * was lost, cut, sent twice or out of order, each byte that the application reads and each that
 * comes out can be judged by its place.
 *
 * An input is a row of steps, one byte each with arguments behind it.
 */
#include "dataplane/core/bytes.h"
#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/link.h"

#include <string.h>

enum {
	STEPS_MAX = 400,
	SIDES = 2, /* 0: the peer calls, 1: we call */
	DATA_MAX = 1460,
	OPTIONS_ROOM = 40,
};

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_bytes);

/* The peer's end of a connection, as far as it has seen. */
struct side {
	bool ip6;
	uint16_t port, own_port; /* own_port 0: we have not called */
	uint32_t want;		 /* what the instance expects next */
	uint32_t have;		 /* behind all that it has sent */
	uint32_t una;		 /* the peer has acknowledged so far */
};

static struct side sides[SIDES];
static uint32_t read_seq[LINK_CONNS];  /* of the next byte that the application reads */
static uint32_t write_seq[LINK_CONNS]; /* and writes */
static bool known[LINK_CONNS];	       /* both are set, as the connection is established */

static uint8_t byte_at(uint32_t seq)
{
	return (uint8_t)(seq * 2654435761u >> 23);
}

/* --- what the peer does ---------------------------------------------------------------------- */

/* A distance of one of four sizes. */
static uint32_t distance(struct input *input, unsigned size)
{
	switch (size & 3) {
	case 0:
		return 0;
	case 1:
		return (uint32_t)(int8_t)input_byte(input);
	case 2:
		return (uint32_t)(int16_t)input_short(input);
	default:
		return input_word(input);
	}
}

/* SACK blocks near what is under way (RFC 2018 3). */
static size_t put_sack(struct input *input, const struct side *side, uint8_t *options)
{
	unsigned blocks = 1 + input_byte(input) % 4;

	options[0] = options[1] = TCP_OPTION_NOP;
	options[2] = TCP_OPTION_SACK;
	options[3] = (uint8_t)(2 + 8 * blocks);
	for (unsigned i = 0; i < blocks; i++) {
		uint32_t begin = side->una + distance(input, 2);

		bytes_put_be32(options + 4 + 8 * i, begin);
		bytes_put_be32(options + 8 + 8 * i, begin + distance(input, 2));
	}
	return 4 + 8 * blocks;
}

static size_t put_timestamp(struct input *input, uint8_t *options)
{
	options[0] = options[1] = TCP_OPTION_NOP;
	options[2] = TCP_OPTION_TIMES;
	options[3] = 10;
	bytes_put_be32(options + 4, input_short(input));
	bytes_put_be32(options + 8, input_short(input));
	return 12;
}

static size_t put_any(struct input *input, uint8_t *options)
{
	size_t bytes = input_byte(input) % (OPTIONS_ROOM + 1);
	const uint8_t *run = input_run(input, &bytes);

	memset(options, 0, OPTIONS_ROOM);
	if (bytes > 0)
		memcpy(options, run, bytes);
	return (bytes + 3) / 4 * 4;
}

static size_t put_options(struct input *input, const struct side *side, unsigned kind,
			  uint8_t *options)
{
	switch (kind & 3) {
	case 0:
		return 0;
	case 1:
		return put_sack(input, side, options);
	case 2:
		return put_timestamp(input, options);
	default:
		return put_any(input, options);
	}
}

/* A segment. Behind the flags a byte says how far its numbers are from what is expected, how much
 * data it has and which options. */
static void put_segment(struct link *link, struct input *input, struct side *side)
{
	uint8_t flags = input_byte(input), form = input_byte(input), options[OPTIONS_ROOM];
	uint8_t data[DATA_MAX];
	struct peer_segment segment = {.port = side->port, .own_port = side->own_port};

	segment.flags = flags & 63;
	segment.window = flags & 64 ? input_short(input) : 60000;
	segment.seq = side->want + distance(input, form);
	segment.ack = (flags & 128 ? side->una : side->have) + distance(input, form >> 2);
	if (form >> 4 & 1)
		segment.bytes = input_byte(input);
	else if (form >> 5 & 1)
		segment.bytes = input_short(input) % (DATA_MAX + 1);
	for (size_t i = 0; i < segment.bytes; i++)
		data[i] = byte_at(segment.seq + !!(flags & SYN) + (uint32_t)i);
	segment.data = data;
	segment.options_bytes = put_options(input, side, form >> 6, options);
	segment.options = options;
	if (segment.bytes + segment.options_bytes > DATA_MAX)
		segment.bytes = DATA_MAX - segment.options_bytes;
	side->una = segment.ack;
	link_put_segment(link, &segment, side->ip6);
}

static void put_arp_reply(struct link *link, const uint8_t *mac)
{
	struct utcp_config config = link_config();
	uint8_t frame[ETH_BYTES + ARP_BYTES] = {0}, *arp = frame + ETH_BYTES;

	memcpy(frame + ETH_DESTINATION, config.mac, MAC_BYTES);
	memcpy(frame + ETH_SOURCE, mac, MAC_BYTES);
	bytes_put_be16(frame + ETH_TYPE, ETH_TYPE_ARP);
	bytes_put_be16(arp + ARP_HARDWARE, ARP_HARDWARE_ETHERNET);
	bytes_put_be16(arp + ARP_PROTOCOL, ETH_TYPE_IPV4);
	arp[ARP_HARDWARE_BYTES] = MAC_BYTES;
	arp[ARP_PROTOCOL_BYTES] = 4;
	bytes_put_be16(arp + ARP_OPERATION, ARP_REPLY);
	memcpy(arp + ARP_SENDER_MAC, mac, MAC_BYTES);
	bytes_put_be32(arp + ARP_SENDER_IP, PEER_IP);
	memcpy(arp + ARP_TARGET_MAC, config.mac, MAC_BYTES);
	bytes_put_be32(arp + ARP_TARGET_IP, OWN_IP);
	link_put(link, frame, sizeof(frame));
}

static void put_advertisement(struct link *link, const uint8_t *mac)
{
	enum { BYTES = ND_OPTIONS + ND_OPTION_UNIT };
	uint8_t frame[ETH_BYTES + IP6_BYTES + BYTES] = {0}, *ip = frame + ETH_BYTES;
	uint8_t *message = ip + IP6_BYTES;

	peer_put_ip6(frame, IP6_ICMP, BYTES);
	memcpy(frame + ETH_SOURCE, mac, MAC_BYTES);
	ip[IP6_HOPS] = ND_HOPS;
	message[ICMP_TYPE] = ND_ADVERTISEMENT;
	message[ND_FLAGS] = ND_SOLICITED | ND_OVERRIDE;
	memcpy(message + ND_TARGET, peer_ip6, 16);
	message[ND_OPTIONS] = ND_OPTION_TARGET;
	message[ND_OPTIONS + 1] = 1;
	memcpy(message + ND_OPTIONS + 2, mac, MAC_BYTES);
	bytes_put_be16(message + ICMP_CHECKSUM, peer_checksum6(ip, IP6_ICMP, message, BYTES));
	link_put(link, frame, sizeof(frame));
}

/* The peer of our call says where it is. */
static void put_answer(struct link *link, struct input *input)
{
	const uint8_t mac[MAC_BYTES] = {2, [5] = input_byte(input)};

	if (sides[1].ip6)
		put_advertisement(link, mac);
	else
		put_arp_reply(link, mac);
}

/* --- what comes out -------------------------------------------------------------------------- */

static void note_segment(const struct link_segment *segment)
{
	struct side *side = &sides[segment->peer_port == sides[1].port];
	uint32_t length = (uint32_t)segment->bytes + !!(segment->flags & (SYN | FIN));

	if (segment->flags & RST)
		return;
	for (size_t i = 0; i < segment->bytes; i++)
		CHECK(segment->data[i] == byte_at(segment->seq + (uint32_t)i));
	side->own_port = segment->own_port;
	if (segment->flags & SYN)
		side->have = side->una = segment->seq;
	if ((int32_t)(segment->seq + length - side->have) > 0)
		side->have = segment->seq + length;
	if (segment->flags & ACK)
		side->want = segment->ack;
}

static void take_frames(struct link *link, unsigned frames)
{
	while (frames-- > 0 && link_take(link))
		if (link->segment.own_port != 0)
			note_segment(&link->segment);
}

/* --- what the application does --------------------------------------------------------------- */

/* Where a connection's streams begin is known once it is established. */
static bool note_streams(struct utcp_conn *conn, uint32_t index)
{
	if (!known[index] && conn_synchronized(conn)) {
		known[index] = true;
		read_seq[index] = conn->irs + 1;
		write_seq[index] = conn->iss + 1;
	}
	return known[index];
}

static void read_some(struct link *link, uint32_t index, size_t most)
{
	struct span spans[2];
	unsigned count = utcp_peek(link->utcp, link->held[index], spans);
	struct span_reader reader = span_reader_of(spans, count);
	size_t bytes = reader.left < most ? reader.left : most;

	for (size_t i = 0; i < bytes; i++) {
		uint8_t byte;

		span_reader_copy(&reader, &byte, 1);
		CHECK(byte == byte_at(read_seq[index]++));
	}
	utcp_consume(link->utcp, link->held[index], bytes);
}

static void write_some(struct link *link, uint32_t index, size_t bytes)
{
	struct room rooms[2];
	unsigned count = bytes ? utcp_reserve(link->utcp, link->held[index], bytes, rooms) : 0;
	struct room_writer writer = room_writer_of(rooms, count);

	while (writer.left > 0) {
		uint8_t byte = byte_at(write_seq[index]++);

		room_writer_put(&writer, &byte, 1);
	}
	if (count > 0)
		utcp_commit(link->utcp, link->held[index], bytes);
}

static void call(struct link *link)
{
	struct utcp_addr peer = sides[1].ip6 ? addr_of_ip6(peer_ip6) : addr_of_ip4(PEER_IP);
	struct utcp_conn *conn;
	uint32_t index;

	if (sides[1].own_port != 0 ||
	    utcp_connect(link->utcp, peer, sides[1].port, link->now_ns, &conn) != 0)
		return;
	link_hold(link, conn);
	index = utcp_conn_index(link->utcp, conn);
	known[index] = false;
	take_frames(link, 2);
}

/* One of the connections that the application holds does something. */
static void act(struct link *link, struct input *input, uint8_t what)
{
	uint32_t index = what >> 5;
	struct utcp_conn *conn = link->held[index];

	if (!conn || !note_streams(conn, index))
		return;
	switch (what >> 3 & 3) {
	case 0:
		write_some(link, index, input_short(input) % (conn->send.capacity + 1));
		break;
	case 1:
		read_some(link, index, input_short(input));
		break;
	case 2:
		utcp_finish(link->utcp, conn);
		break;
	default:
		if (input_byte(input) & 1)
			utcp_abort(link->utcp, conn);
	}
	utcp_check(link->utcp);
}

/* New connections begin their streams anew. */
static void poll_events(struct link *link)
{
	struct utcp_conn *before[LINK_CONNS];

	memcpy(before, link->held, sizeof(before));
	link_poll(link);
	for (uint32_t i = 0; i < LINK_CONNS; i++) {
		if (link->held[i] != before[i])
			known[i] = false;
		if (link->held[i])
			note_streams(link->held[i], i);
	}
}

static void step(struct link *link, struct input *input)
{
	uint8_t what = input_byte(input);

	switch (what & 7) {
	case 0:
	case 1:
	case 2:
		put_segment(link, input, &sides[what >> 3 & 1]);
		break;
	case 3:
		act(link, input, what);
		break;
	case 4:
		link_advance(link, input_short(input) * MS);
		break;
	case 5:
		take_frames(link, what >> 3 ? what >> 3 : UINT32_MAX);
		break;
	case 6:
		call(link);
		break;
	default:
		put_answer(link, input);
	}
	if (!(what & 0x80))
		take_frames(link, UINT32_MAX);
	poll_events(link);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct utcp_config config = link_config();
	struct input input = {bytes, count};
	uint8_t setup = input_byte(&input);
	static struct link link;

	config.recv_bytes = 1024u << (setup & 3);
	if (setup & 128) /* beyond what a window says without scale */
		config.recv_bytes <<= 6;
	config.send_bytes = 1024u << (setup >> 2 & 3);
	memset(known, 0, sizeof(known));
	sides[0] = (struct side){
		.ip6 = setup & 32, .port = PEER_PORT, .own_port = OWN_PORT, .want = PEER_ISN};
	sides[1] = (struct side){.ip6 = setup & 64, .port = PEER_PORT + 1, .want = PEER_ISN};
	link_open(&link, &config);
	if (setup & 16) {
		link_connect(&link, sides[0].ip6, NULL, 0);
		note_segment(&link.segment);
		poll_events(&link);
	}
	for (unsigned i = 0; i < STEPS_MAX && input.left > 0; i++)
		step(&link, &input);
	link_close(&link);
	return 0;
}
