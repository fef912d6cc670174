#include "tests/unit/utcp/peer.h"

#include "dataplane/core/check.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { ETH = 14, IP = 20, IP6 = 40, TCP = 20, ARP = 28, SOLICITATION = 32 };

const uint8_t peer_own_ip6[16] = {PEER_PREFIX6, [15] = OWN_IP & 0xff};
const uint8_t peer_ip6[16] = {PEER_PREFIX6, [15] = PEER_IP & 0xff};

static const uint8_t own_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0, 2};

static void put16(uint8_t *to, uint32_t v)
{
	to[0] = (uint8_t)(v >> 8);
	to[1] = (uint8_t)v;
}

static void put32(uint8_t *to, uint32_t v)
{
	put16(to, v >> 16);
	put16(to + 2, v);
}

static uint16_t get16(const uint8_t *from)
{
	return (uint16_t)(from[0] << 8 | from[1]);
}

static uint32_t get32(const uint8_t *from)
{
	return (uint32_t)get16(from) << 16 | get16(from + 2);
}

uint16_t peer_checksum(uint32_t sum, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		sum += i & 1 ? data[i] : (uint32_t)data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

bool peer_is_ip6(void)
{
	return getenv("PEER_IP6") != NULL;
}

struct utcp_addr peer_addr_of(uint8_t host)
{
	uint8_t ip6[16] = {PEER_PREFIX6, [15] = host};

	return peer_is_ip6() ? addr_of_ip6(ip6) : addr_of_ip4((OWN_IP & ~0xffu) | host);
}

struct utcp_addr peer_addr(void)
{
	return peer_addr_of(PEER_IP & 0xff);
}

size_t peer_tcp_at(void)
{
	return ETH + (peer_is_ip6() ? IP6 : IP);
}

uint16_t peer_checksum6(const uint8_t *ip, uint8_t protocol, const uint8_t *data, size_t bytes)
{
	uint32_t sum = protocol + (uint32_t)bytes;

	for (unsigned i = 8; i < 40; i += 2)
		sum += get16(ip + i);
	return peer_checksum(sum, data, bytes);
}

static uint16_t tcp_checksum(const uint8_t *ip, size_t tcp_bytes)
{
	uint32_t sum = 6 + (uint32_t)tcp_bytes;

	if (peer_is_ip6())
		return peer_checksum6(ip, 6, ip + IP6, tcp_bytes);
	for (unsigned i = 12; i < 20; i += 2)
		sum += get16(ip + i);
	return peer_checksum(sum, ip + IP, tcp_bytes);
}

struct utcp_config peer_config(void)
{
	struct utcp_config config = {.ip = OWN_IP,
				     .prefix_bits = 24,
				     .mtu = 1500,
				     .conn_max = 8,
				     .recv_bytes = 16384,
				     .send_bytes = 16384,
				     .secret = {1, 2, 3},
				     .isn_fixed = true,
				     .isn = (uint32_t)OWN_ISN};

	memcpy(config.mac, own_mac, 6);
	if (peer_is_ip6()) {
		config.ip6 = addr_of_ip6(peer_own_ip6);
		config.prefix6_bits = 64;
		config.mtu += IP6 - IP;
	}
	return config;
}

void peer_open(struct peer *peer, const struct utcp_config *config)
{
	memset(peer, 0, sizeof(*peer));
	peer->now_ns = 1000 * SECOND;
	peer->seq = (uint32_t)PEER_ISN;
	peer->own_isn = (uint32_t)OWN_ISN;
	peer->window = 60000;
	peer->port = PEER_PORT;
	peer->own_port = OWN_PORT;
	CHECK(utcp_create(config, peer->now_ns, &peer->utcp) == 0);
	CHECK(utcp_listen(peer->utcp, OWN_PORT) == 0);
}

void peer_close(struct peer *peer)
{
	utcp_check(peer->utcp);
	utcp_destroy(peer->utcp);
}

static void put_ethernet(uint8_t *frame, uint16_t type)
{
	memcpy(frame, own_mac, 6);
	memcpy(frame + 6, peer_mac, 6);
	put16(frame + 12, type);
}

void peer_put_ip6(uint8_t *frame, uint8_t next, size_t bytes)
{
	uint8_t *ip = frame + ETH;

	put_ethernet(frame, 0x86dd);
	put32(ip, 0x60000000);
	put16(ip + 4, (uint32_t)bytes);
	ip[6] = next;
	ip[7] = 64;
	memcpy(ip + 8, peer_ip6, 16);
	memcpy(ip + 24, peer_own_ip6, 16);
}

void peer_set_ip6(uint8_t *frame, const uint8_t from[16], const uint8_t to[16])
{
	memcpy(frame + ETH + 8, from, 16);
	memcpy(frame + ETH + 24, to, 16);
	if (to[0] == 0xff) {
		frame[0] = frame[1] = 0x33;
		memcpy(frame + 2, to + 12, 4);
	}
}

static void put_ip4(uint8_t *frame, uint8_t protocol, uint8_t ecn, size_t bytes)
{
	uint8_t *ip = frame + ETH;

	put_ethernet(frame, 0x0800);
	memset(ip, 0, IP);
	ip[0] = 0x45;
	ip[1] = ecn;
	put16(ip + 2, (uint32_t)(IP + bytes));
	ip[8] = 64;
	ip[9] = protocol;
	put32(ip + 12, PEER_IP);
	put32(ip + 16, OWN_IP);
	put16(ip + 10, peer_checksum(0, ip, IP));
}

void peer_set_source(uint8_t *frame, struct utcp_addr source)
{
	uint8_t *ip = frame + ETH;

	if (peer_is_ip6()) {
		memcpy(ip + 8, &source, 16);
		return;
	}
	put32(ip + 12, addr_ip4(&source));
	put16(ip + 10, 0);
	put16(ip + 10, peer_checksum(0, ip, IP));
}

size_t peer_build(const struct peer_segment *segment, uint8_t frame[FRAME_ROOM])
{
	size_t head = TCP + segment->options_bytes, tcp_bytes = head + segment->bytes;
	uint8_t *ip = frame + ETH, *tcp = frame + peer_tcp_at();

	if (peer_is_ip6())
		peer_put_ip6(frame, 6, tcp_bytes);
	else
		put_ip4(frame, 6, segment->ecn, tcp_bytes);
	if (peer_is_ip6())
		ip[1] = (uint8_t)(segment->ecn << 4);
	memset(tcp, 0, TCP);
	put16(tcp, segment->port);
	put16(tcp + 2, segment->own_port);
	put32(tcp + 4, segment->seq);
	put32(tcp + 8, segment->ack);
	tcp[12] = (uint8_t)(head / 4 << 4);
	tcp[13] = segment->flags;
	put16(tcp + 14, segment->window);
	put16(tcp + 18, segment->urgent);
	if (segment->options_bytes > 0)
		memcpy(tcp + TCP, segment->options, segment->options_bytes);
	if (segment->bytes > 0)
		memcpy(tcp + head, segment->data, segment->bytes);
	put16(tcp + 16, tcp_checksum(ip, tcp_bytes));
	return peer_tcp_at() + tcp_bytes;
}

void peer_put_frame(struct peer *peer, const uint8_t *frame, size_t bytes)
{
	utcp_input(peer->utcp, frame, bytes, peer->now_ns);
	utcp_check(peer->utcp);
}

void peer_put(struct peer *peer, const struct peer_segment *segment)
{
	uint8_t frame[FRAME_ROOM];

	peer_put_frame(peer, frame, peer_build(segment, frame));
}

/* NOP, NOP, timestamps, as RFC 7323 appendix A has them. */
static void add_times(const struct peer *peer, struct peer_segment *segment, uint8_t options[12])
{
	memcpy(options, "\1\1\10\12", 4);
	put32(options + 4, peer->times_value);
	put32(options + 8, segment->flags & ACK ? peer->times_echo : 0);
	segment->options = options;
	segment->options_bytes = 12;
}

void peer_send_at(struct peer *peer, uint32_t seq, uint8_t flags, const void *data, size_t bytes)
{
	struct peer_segment segment = {.seq = seq,
				       .ack = peer->ack,
				       .window = peer->window,
				       .port = peer->port,
				       .own_port = peer->own_port,
				       .flags = flags,
				       .data = data,
				       .bytes = bytes};
	uint8_t options[12];

	if (peer->times)
		add_times(peer, &segment, options);
	peer_put(peer, &segment);
}

void peer_send(struct peer *peer, uint8_t flags, const void *data, size_t bytes)
{
	peer_send_at(peer, peer->seq, flags, data, bytes);
	peer->seq += (uint32_t)bytes + !!(flags & SYN) + !!(flags & FIN);
}

size_t peer_take_frame(struct peer *peer)
{
	peer->frame_bytes = utcp_output(peer->utcp, peer->frame, peer->now_ns);
	CHECK(peer->frame_bytes <= utcp_frame_max(peer->utcp));
	utcp_check(peer->utcp);
	return peer->frame_bytes;
}

/* Verifies the headers of the last answer up to TCP; where the packet ends. */
static size_t verify_ip4(const struct peer *peer)
{
	const uint8_t *ip = peer->frame + ETH;

	CU_ASSERT_FATAL(get16(peer->frame + 12) == 0x0800 && ip[0] == 0x45 && ip[9] == 6);
	CU_ASSERT(peer_checksum(0, ip, IP) == 0);
	CU_ASSERT(get32(ip + 12) == OWN_IP && get32(ip + 16) == PEER_IP);
	return ETH + get16(ip + 2);
}

static size_t verify_ip6(const struct peer *peer)
{
	const uint8_t *ip = peer->frame + ETH;

	CU_ASSERT_FATAL(get16(peer->frame + 12) == 0x86dd && ip[0] >> 4 == 6 && ip[6] == 6);
	CU_ASSERT(ip[7] == 64 && memcmp(ip + 8, peer_own_ip6, 16) == 0);
	CU_ASSERT(memcmp(ip + 24, peer_ip6, 16) == 0);
	return ETH + IP6 + get16(ip + 4);
}

uint8_t peer_ecn(const struct peer *peer)
{
	return peer_is_ip6() ? peer->frame[ETH + 1] >> 4 & 3 : peer->frame[ETH + 1] & 3;
}

void peer_read(struct peer *peer, struct peer_segment *segment)
{
	const uint8_t *tcp = peer->frame + peer_tcp_at();
	size_t head;
	uint32_t echo;

	CU_ASSERT_FATAL(peer->frame_bytes >= peer_tcp_at() + TCP);
	CU_ASSERT(memcmp(peer->frame, peer_mac, 6) == 0 &&
		  memcmp(peer->frame + 6, own_mac, 6) == 0);
	CU_ASSERT_FATAL((peer_is_ip6() ? verify_ip6(peer) : verify_ip4(peer)) == peer->frame_bytes);
	CU_ASSERT(tcp_checksum(peer->frame + ETH, peer->frame_bytes - peer_tcp_at()) == 0);
	head = (tcp[12] >> 4) * 4u;
	CU_ASSERT_FATAL(head >= TCP && peer_tcp_at() + head <= peer->frame_bytes);
	*segment = (struct peer_segment){.port = get16(tcp + 2),
					 .own_port = get16(tcp),
					 .seq = get32(tcp + 4),
					 .ack = get32(tcp + 8),
					 .window = get16(tcp + 14),
					 .flags = tcp[13],
					 .ecn = peer_ecn(peer),
					 .options = tcp + TCP,
					 .options_bytes = head - TCP,
					 .data = tcp + head,
					 .bytes = peer->frame_bytes - peer_tcp_at() - head};
	if (peer->times)
		peer_times(segment, &peer->times_echo, &echo);
}

bool peer_take(struct peer *peer, struct peer_segment *segment)
{
	if (peer_take_frame(peer) == 0)
		return false;
	peer_read(peer, segment);
	return true;
}

const uint8_t *peer_option(const struct peer_segment *segment, uint8_t kind)
{
	for (size_t at = 0; at < segment->options_bytes && segment->options[at] != 0;) {
		if (segment->options[at] == kind)
			return segment->options + at;
		at += segment->options[at] == 1 ? 1 : segment->options[at + 1];
	}
	return NULL;
}

bool peer_times(const struct peer_segment *segment, uint32_t *value_out, uint32_t *echo_out)
{
	const uint8_t *option = peer_option(segment, 8);

	if (!option)
		return false;
	*value_out = get32(option + 2);
	*echo_out = get32(option + 6);
	return true;
}

unsigned peer_drain(struct peer *peer)
{
	unsigned count = 0;

	while (peer_take_frame(peer) > 0)
		count++;
	return count;
}

void peer_poll(struct peer *peer)
{
	struct utcp_event events[4];
	unsigned count;

	while ((count = utcp_events(peer->utcp, events, 4)) > 0)
		for (unsigned i = 0; i < count; i++) {
			peer->events |= events[i].bits;
			if (events[i].bits & UTCP_ACCEPTED) {
				peer->conn = events[i].conn;
				peer->accepted++;
			}
			if (events[i].bits & UTCP_CLOSED) {
				peer->reason = events[i].reason;
				peer->closed++;
			}
		}
	utcp_check(peer->utcp);
}

void peer_jump(struct peer *peer, uint64_t ns)
{
	peer->now_ns += ns;
	utcp_advance(peer->utcp, peer->now_ns);
	utcp_check(peer->utcp);
}

void peer_wait(struct peer *peer, uint64_t ns)
{
	uint64_t end = peer->now_ns + ns, next;

	peer_drain(peer);
	while ((next = utcp_deadline(peer->utcp)) <= end) {
		peer_jump(peer, next > peer->now_ns ? next - peer->now_ns : 0);
		peer_drain(peer);
	}
	peer_jump(peer, end - peer->now_ns);
	peer_drain(peer);
}

void peer_connect(struct peer *peer, const uint8_t *options, size_t bytes)
{
	static const uint8_t usual[] = {2, 4, 1460 >> 8, 1460 & 0xff};
	struct peer_segment syn = {.seq = peer->seq,
				   .window = peer->window,
				   .port = peer->port,
				   .own_port = peer->own_port,
				   .flags = SYN,
				   .options = options ? options : usual,
				   .options_bytes = options ? bytes : sizeof(usual)};
	uint8_t with_times[4 + 4 + 12] = {2, 4, 1460 >> 8, 1460 & 0xff, 1, 1, 4, 2};
	struct peer_segment answer;

	if (peer->times && !options) {
		add_times(peer, &syn, with_times + 8);
		syn.options = with_times;
		syn.options_bytes = sizeof(with_times);
	}
	peer_put(peer, &syn);
	peer->seq++;
	CU_ASSERT_FATAL(peer_take(peer, &answer));
	CU_ASSERT_FATAL(answer.flags == (SYN | ACK) && answer.ack == peer->seq);
	CU_ASSERT(answer.seq == peer->own_isn && answer.bytes == 0);
	peer->ack = answer.seq + 1;
	peer_send(peer, ACK, NULL, 0);
	peer_poll(peer);
	CU_ASSERT_FATAL(peer->events & UTCP_ACCEPTED);
	peer->events = 0;
}

bool peer_is_question(const struct peer *peer)
{
	const uint8_t *ip = peer->frame + ETH;

	if (peer_is_ip6())
		return peer->frame_bytes == ETH + IP6 + SOLICITATION && ip[6] == 58;
	return peer->frame_bytes == ETH + ARP && get16(peer->frame + 12) == 0x0806;
}

static void answer_arp(struct peer *peer)
{
	uint8_t frame[ETH + ARP];

	memcpy(frame, peer->frame, sizeof(frame));
	put_ethernet(frame, 0x0806);
	put16(frame + ETH + 6, 2);
	memcpy(frame + ETH + 8, peer_mac, 6);
	put32(frame + ETH + 14, PEER_IP);
	memcpy(frame + ETH + 18, own_mac, 6);
	put32(frame + ETH + 24, OWN_IP);
	peer_put_frame(peer, frame, sizeof(frame));
}

static void answer_solicitation(struct peer *peer)
{
	uint8_t frame[ETH + IP6 + SOLICITATION] = {0}, *message = frame + ETH + IP6;

	peer_put_ip6(frame, 58, SOLICITATION);
	frame[ETH + 7] = 255;
	message[0] = 136;
	message[4] = 0x40; /* asked for */
	memcpy(message + 8, peer_ip6, 16);
	message[24] = 2;
	message[25] = 1;
	memcpy(message + 26, peer_mac, 6);
	put16(message + 2, peer_checksum6(frame + ETH, 58, message, SOLICITATION));
	peer_put_frame(peer, frame, sizeof(frame));
}

void peer_answer_question(struct peer *peer)
{
	CU_ASSERT_FATAL(peer_is_question(peer));
	if (peer_is_ip6())
		answer_solicitation(peer);
	else
		answer_arp(peer);
}

void peer_call(struct peer *peer)
{
	CU_ASSERT_FATAL(
		utcp_connect(peer->utcp, peer_addr(), PEER_PORT, peer->now_ns, &peer->conn) == 0);
	CU_ASSERT_FATAL(peer_take_frame(peer) > 0);
	peer_answer_question(peer);
}

void peer_be_called(struct peer *peer)
{
	struct peer_segment syn;

	peer_call(peer);
	CU_ASSERT_FATAL(peer_take(peer, &syn));
	CU_ASSERT_FATAL((syn.flags & ~(ECE | CWR)) == SYN && syn.seq == (uint32_t)OWN_ISN &&
			syn.bytes == 0);
	peer->own_port = syn.own_port;
	peer->ack = syn.seq + 1;
}

void peer_accept(struct peer *peer)
{
	peer_be_called(peer);
	peer_send(peer, SYN | ACK, NULL, 0);
	peer_poll(peer);
	CU_ASSERT_FATAL(peer->events & UTCP_CONNECTED);
	peer->events = 0;
	peer_drain(peer);
}

bool peer_app_write(struct peer *peer, const void *data, size_t bytes)
{
	struct room rooms[2];
	unsigned count = utcp_reserve(peer->utcp, peer->conn, bytes, rooms);
	struct room_writer writer = room_writer_of(rooms, count);

	if (count == 0)
		return false;
	room_writer_put(&writer, data, bytes);
	utcp_commit(peer->utcp, peer->conn, bytes);
	return true;
}

size_t peer_app_read(struct peer *peer, uint8_t *to, size_t room)
{
	struct span spans[2];
	unsigned count = utcp_peek(peer->utcp, peer->conn, spans);
	struct span_reader reader = span_reader_of(spans, count);
	size_t bytes = reader.left < room ? reader.left : room;

	span_reader_copy(&reader, to, bytes);
	utcp_consume(peer->utcp, peer->conn, bytes);
	utcp_check(peer->utcp);
	return bytes;
}
