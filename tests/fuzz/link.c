#include "tests/fuzz/link.h"

#include "dataplane/core/bytes.h"
#include "dataplane/core/check.h"
#include "stacks/utcp/packet.h"

#include <stdlib.h>
#include <string.h>

enum {
	ENDING_STEPS = 100000, /* of timers, until all must be over */
};

/* RFC 4291 2.5.6, of the MAC 02:00:00:00:00:01. */
static const uint8_t own_local6[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, [15] = 1};

struct utcp_config link_config(void)
{
	struct utcp_config config = peer_config();

	config.ip6 = addr_of_ip6(peer_own_ip6);
	config.prefix6_bits = 64;
	return config;
}

void link_open(struct link *link, const struct utcp_config *config)
{
	*link = (struct link){.now_ns = 1000 * SECOND};
	CHECK(utcp_create(config, link->now_ns, &link->utcp) == 0);
	CHECK(utcp_listen(link->utcp, OWN_PORT) == 0);
}

void link_put(struct link *link, const uint8_t *frame, size_t bytes)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	CHECK(copy);
	if (bytes > 0)
		memcpy(copy, frame, bytes);
	utcp_expect(link->utcp, &(struct span){copy, bytes}, 1);
	utcp_input(link->utcp, copy, bytes, link->now_ns);
	free(copy);
	utcp_check(link->utcp);
}

void link_put_segment(struct link *link, const struct peer_segment *segment, bool ip6)
{
	uint8_t frame[FRAME_ROOM], *tcp = frame + ETH_BYTES + IP6_BYTES;
	size_t bytes = peer_build(segment, frame), tcp_bytes = bytes - ETH_BYTES - IP_BYTES;

	if (ip6) {
		memmove(tcp, frame + ETH_BYTES + IP_BYTES, tcp_bytes);
		peer_put_ip6(frame, IP_TCP, tcp_bytes);
		bytes_put_be16(tcp + TCP_CHECKSUM, 0);
		bytes_put_be16(tcp + TCP_CHECKSUM,
			       peer_checksum6(frame + ETH_BYTES, IP_TCP, tcp, tcp_bytes));
		bytes = ETH_BYTES + IP6_BYTES + tcp_bytes;
	}
	link_put(link, frame, bytes);
}

void link_advance(struct link *link, uint64_t ns)
{
	link->now_ns += ns;
	utcp_advance(link->utcp, link->now_ns);
	utcp_check(link->utcp);
}

/* --- what comes out -------------------------------------------------------------------------- */

static void judge_arp(const uint8_t *arp, size_t bytes)
{
	uint16_t operation = bytes_get_be16(arp + ARP_OPERATION);

	CHECK(bytes == ARP_BYTES);
	CHECK(bytes_get_be16(arp + ARP_HARDWARE) == ARP_HARDWARE_ETHERNET);
	CHECK(bytes_get_be16(arp + ARP_PROTOCOL) == ETH_TYPE_IPV4);
	CHECK(arp[ARP_HARDWARE_BYTES] == MAC_BYTES && arp[ARP_PROTOCOL_BYTES] == 4);
	CHECK(operation == ARP_REQUEST || operation == ARP_REPLY);
	CHECK(bytes_get_be32(arp + ARP_SENDER_IP) == OWN_IP);
}

/* Every option can be walked, and none stands behind the list's end (RFC 9293 3.1). */
static void judge_options(const uint8_t *options, size_t bytes)
{
	size_t at = 0, length;

	while (at < bytes && options[at] != TCP_OPTION_END) {
		length = options[at] == TCP_OPTION_NOP ? 1 : 0;
		if (length == 0) {
			CHECK(bytes - at >= 2);
			length = options[at + 1];
			CHECK(length >= 2 && length <= bytes - at);
		}
		at += length;
	}
}

static void judge_flags(const struct link_segment *segment)
{
	if (segment->flags & SYN)
		CHECK(!(segment->flags & (FIN | RST)) && segment->bytes == 0);
	else
		CHECK(segment->flags & (ACK | RST));
	if (segment->flags & RST)
		CHECK(!(segment->flags & FIN) && segment->bytes == 0);
	CHECK(!(segment->flags & URG));
}

/* A segment whose checksum was judged already. */
static void judge_tcp(struct link *link, bool ip6, const uint8_t *tcp, size_t bytes)
{
	size_t head = (tcp[TCP_OFFSET] >> 4) * 4u;

	CHECK(bytes >= TCP_BYTES && head >= TCP_BYTES && head <= bytes);
	judge_options(tcp + TCP_BYTES, head - TCP_BYTES);
	link->segment = (struct link_segment){.ip6 = ip6,
					      .own_port = bytes_get_be16(tcp + TCP_SOURCE),
					      .peer_port = bytes_get_be16(tcp + TCP_DESTINATION),
					      .seq = bytes_get_be32(tcp + TCP_SEQ),
					      .ack = bytes_get_be32(tcp + TCP_ACK),
					      .flags = tcp[TCP_FLAGS],
					      .data = tcp + head,
					      .bytes = bytes - head,
					      .options_bytes = head - TCP_BYTES};
	CHECK(link->segment.own_port != 0 && link->segment.peer_port != 0);
	judge_flags(&link->segment);
}

static void judge_tcp4(struct link *link, const uint8_t *ip, size_t bytes)
{
	uint32_t sum = IP_TCP + (uint32_t)bytes;

	for (unsigned i = IP_SOURCE; i < IP_BYTES; i += 2)
		sum += bytes_get_be16(ip + i);
	CHECK(peer_checksum(sum, ip + IP_BYTES, bytes) == 0);
	judge_tcp(link, false, ip + IP_BYTES, bytes);
}

static void judge_ip4(struct link *link, const uint8_t *ip, size_t bytes)
{
	CHECK(bytes >= IP_BYTES && ip[IP_VERSION] == 0x45);
	CHECK(bytes_get_be16(ip + IP_TOTAL) == bytes && peer_checksum(0, ip, IP_BYTES) == 0);
	CHECK(bytes_get_be16(ip + IP_FRAGMENT) == IP_DONT_FRAGMENT && ip[IP_TTL] > 0);
	CHECK(bytes_get_be32(ip + IP_SOURCE) == OWN_IP);
	CHECK(bytes_get_be32(ip + IP_DESTINATION) != OWN_IP);
	if (ip[IP_PROTOCOL] == IP_TCP) {
		judge_tcp4(link, ip, bytes - IP_BYTES);
		return;
	}
	CHECK(ip[IP_PROTOCOL] == IP_ICMP && bytes >= IP_BYTES + ICMP_BYTES);
	CHECK(ip[IP_BYTES + ICMP_TYPE] == ICMP_ECHO_REPLY);
	CHECK(peer_checksum(0, ip + IP_BYTES, bytes - IP_BYTES) == 0);
}

static bool is_own6(const uint8_t *address)
{
	return memcmp(address, peer_own_ip6, 16) == 0 || memcmp(address, own_local6, 16) == 0;
}

/* One option, our hardware address; a question goes to its target's group (RFC 4861 4.3, 4.4). */
static void judge_nd(const uint8_t *ip, const uint8_t *message, size_t bytes)
{
	bool asks = message[ICMP_TYPE] == ND_SOLICITATION;
	const uint8_t *option = message + ND_OPTIONS, *to = ip + IP6_DESTINATION;
	static const uint8_t group[13] = {0xff, 2, [11] = 1, 0xff};

	CHECK(ip[IP6_HOPS] == ND_HOPS && message[ICMP_CODE] == 0);
	CHECK(bytes == ND_OPTIONS + ND_OPTION_UNIT && option[1] == 1 && !(option[2] & 1));
	CHECK(option[0] == (asks ? ND_OPTION_SOURCE : ND_OPTION_TARGET));
	CHECK(is_own6(message + ND_TARGET) == !asks && message[ND_TARGET] != 0xff);
	if (asks)
		CHECK(memcmp(to, group, sizeof(group)) == 0 &&
		      memcmp(to + sizeof(group), message + ND_TARGET + sizeof(group), 3) == 0);
}

static void judge_icmp6(const uint8_t *ip, const uint8_t *message, size_t bytes)
{
	CHECK(bytes >= ICMP_BYTES);
	switch (message[ICMP_TYPE]) {
	case ICMP6_ECHO_REPLY:
		CHECK(message[ICMP_CODE] == 0);
		break;
	case ICMP6_PROBLEM: /* within the least MTU (RFC 4443 2.4 c) */
		CHECK(message[ICMP_CODE] <= ICMP6_PROBLEM_OPTION && IP6_BYTES + bytes <= 1280);
		CHECK(message[ICMP_BYTES] >> 4 == 6);
		break;
	default:
		CHECK(message[ICMP_TYPE] == ND_SOLICITATION ||
		      message[ICMP_TYPE] == ND_ADVERTISEMENT);
		judge_nd(ip, message, bytes);
	}
}

static void judge_ip6(struct link *link, const uint8_t *ip, size_t bytes)
{
	const uint8_t *payload = ip + IP6_BYTES, *to = ip + IP6_DESTINATION;
	static const uint8_t nobody[16];

	CHECK(bytes >= IP6_BYTES && ip[IP6_VERSION] >> 4 == 6 && ip[IP6_HOPS] > 0);
	bytes -= IP6_BYTES;
	CHECK(bytes_get_be16(ip + IP6_PAYLOAD) == bytes);
	CHECK(peer_checksum6(ip, ip[IP6_NEXT], payload, bytes) == 0);
	CHECK(is_own6(ip + IP6_SOURCE) && !is_own6(to) && memcmp(to, nobody, 16) != 0);
	/* RFC 2464 7 */
	CHECK((to[0] == 0xff) == (link->frame[ETH_DESTINATION] & 1));
	if (to[0] == 0xff)
		CHECK(link->frame[0] == 0x33 && link->frame[1] == 0x33 &&
		      memcmp(link->frame + 2, to + 12, 4) == 0);
	if (ip[IP6_NEXT] == IP_TCP) {
		CHECK(to[0] != 0xff);
		judge_tcp(link, true, payload, bytes);
		return;
	}
	CHECK(ip[IP6_NEXT] == IP6_ICMP);
	judge_icmp6(ip, payload, bytes);
	CHECK(to[0] != 0xff || payload[ICMP_TYPE] != ICMP6_ECHO_REPLY);
}

void link_judge(struct link *link, size_t bytes)
{
	const uint8_t *frame = link->frame;

	CHECK(bytes >= ETH_BYTES && bytes <= utcp_frame_max(link->utcp));
	CHECK(!(frame[ETH_SOURCE] & 1)); /* one host's: ours */
	link->segment = (struct link_segment){0};
	if (bytes_get_be16(frame + ETH_TYPE) == ETH_TYPE_ARP) {
		judge_arp(frame + ETH_BYTES, bytes - ETH_BYTES);
		return;
	}
	if (bytes_get_be16(frame + ETH_TYPE) == ETH_TYPE_IPV6) {
		judge_ip6(link, frame + ETH_BYTES, bytes - ETH_BYTES);
		return;
	}
	CHECK(bytes_get_be16(frame + ETH_TYPE) == ETH_TYPE_IPV4);
	CHECK(!(frame[ETH_DESTINATION] & 1));
	judge_ip4(link, frame + ETH_BYTES, bytes - ETH_BYTES);
}

bool link_take(struct link *link)
{
	size_t bytes = utcp_output(link->utcp, link->frame, link->now_ns);

	utcp_check(link->utcp);
	if (bytes > 0)
		link_judge(link, bytes);
	return bytes > 0;
}

void link_drain(struct link *link, unsigned frames)
{
	while (frames-- > 0 && link_take(link))
		;
}

/* --- the application ------------------------------------------------------------------------- */

void link_hold(struct link *link, struct utcp_conn *conn)
{
	uint32_t index = utcp_conn_index(link->utcp, conn);

	CHECK(index < LINK_CONNS && link->held[index] == NULL);
	link->held[index] = conn;
}

/* What a handle may be told depends on what it was told before (utcp.h). */
static void take_event(struct link *link, const struct utcp_event *event)
{
	uint32_t index = utcp_conn_index(link->utcp, event->conn);
	struct utcp_conn **held = &link->held[index];

	CHECK(index < LINK_CONNS && event->bits != 0);
	if (event->bits & UTCP_ACCEPTED)
		link_hold(link, event->conn);
	CHECK(*held == event->conn);
	if (event->bits & UTCP_CLOSED) {
		CHECK(event->reason <= UTCP_ABORTED);
		*held = NULL;
	}
}

void link_poll(struct link *link)
{
	struct utcp_event event;

	while (utcp_events(link->utcp, &event, 1) > 0)
		take_event(link, &event);
	utcp_check(link->utcp);
}

bool link_connect(struct link *link, bool ip6, const uint8_t *options, size_t bytes)
{
	struct peer_segment segment = {.seq = (uint32_t)PEER_ISN,
				       .window = 60000,
				       .port = PEER_PORT,
				       .own_port = OWN_PORT,
				       .flags = SYN,
				       .options = options,
				       .options_bytes = bytes};

	link_put_segment(link, &segment, ip6);
	if (!link_take(link) || link->segment.flags != (SYN | ACK))
		return false;
	CHECK(link->segment.ack == segment.seq + 1);
	segment = (struct peer_segment){.seq = link->segment.ack,
					.ack = link->segment.seq + 1,
					.window = 60000,
					.port = PEER_PORT,
					.own_port = OWN_PORT,
					.flags = ACK};
	link_put_segment(link, &segment, ip6);
	return true;
}

static void echo_one(struct link *link, struct utcp_conn *conn)
{
	struct span spans[2];
	struct room rooms[2];
	unsigned count = utcp_peek(link->utcp, conn, spans);
	struct span_reader reader = span_reader_of(spans, count);
	size_t bytes = reader.left;

	if (bytes > 0 && (count = utcp_reserve(link->utcp, conn, bytes, rooms)) > 0) {
		struct room_writer writer = room_writer_of(rooms, count);

		for (unsigned i = 0; i < 2 && writer.left > 0; i++)
			room_writer_put(&writer, spans[i].base, spans[i].bytes);
		utcp_commit(link->utcp, conn, bytes);
	}
	utcp_consume(link->utcp, conn, bytes);
	utcp_check(link->utcp);
}

void link_echo(struct link *link)
{
	struct utcp_event event;

	while (utcp_events(link->utcp, &event, 1) > 0) {
		take_event(link, &event);
		if (event.bits & UTCP_CLOSED)
			continue;
		echo_one(link, event.conn);
		if (event.bits & UTCP_FINISHED)
			utcp_finish(link->utcp, event.conn);
	}
}

/* --- the end --------------------------------------------------------------------------------- */

/* Whatever the application holds it gives up. */
static void abort_all(struct link *link)
{
	link_poll(link);
	for (unsigned i = 0; i < LINK_CONNS; i++)
		if (link->held[i])
			utcp_abort(link->utcp, link->held[i]);
	link_poll(link);
	while (link_take(link))
		;
}

void link_close(struct link *link)
{
	unsigned steps = 0;
	uint64_t next;

	abort_all(link);
	while ((next = utcp_deadline(link->utcp)) != UINT64_MAX) {
		CHECK(++steps < ENDING_STEPS);
		link_advance(link, next > link->now_ns ? next - link->now_ns : 0);
		abort_all(link);
	}
	link_advance(link, 0);
	CHECK(utcp_conn_count(link->utcp) == 0);
	utcp_destroy(link->utcp);
}
