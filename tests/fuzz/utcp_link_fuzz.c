/*
 * What is below TCP: ARP and ICMP of any kind, neighbour discovery and ICMPv6 of any kind, behind
 * extension headers or not, calls to hosts that may answer, and time.
 *
 * An input is a row of steps, one byte each with arguments behind it. Packets come with right
 * lengths and checksums, so that what is judged is their meaning; an ICMP error may quote the last
 * segment of its family that came out, altered or not.
 */
#include "dataplane/core/bytes.h"
#include "dataplane/core/check.h"
#include "stacks/utcp/packet.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/link.h"

#include <string.h>

enum {
	STEPS_MAX = 256,
	PAYLOAD_MAX = 1480,
	QUOTED_BYTES = IP_BYTES + 8, /* RFC 792: the header and 8 bytes */
	QUOTED6_BYTES = IP6_BYTES + TCP_BYTES,
	EXTENSIONS_MAX = 11, /* more than are passed over */
	EXTENSIONS_ROOM = EXTENSIONS_MAX * 2 * EXTENSION_UNIT,
	/* In a step's byte. */
	OVER_IP6 = 1 << 3,
	EXTENDED = 1 << 4,
	ALTERED = 1 << 5,
	ANY_HOPS = 1 << 6,
};

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_bytes);

static struct utcp_config config;
static uint8_t last_packet[IP_BYTES + TCP_BYTES]; /* the last segment that came out over IPv4 */
static uint8_t last_packet6[QUOTED6_BYTES];	  /* and over IPv6 */

static uint8_t *begin_frame(uint8_t *frame, const uint8_t *to, uint8_t from, uint16_t type)
{
	const uint8_t source[MAC_BYTES] = {2, 0, 0, 0, 0, from};

	memset(frame, 0, ETH_BYTES + IP_BYTES + PAYLOAD_MAX);
	memcpy(frame + ETH_DESTINATION, to, MAC_BYTES);
	memcpy(frame + ETH_SOURCE, source, MAC_BYTES);
	bytes_put_be16(frame + ETH_TYPE, type);
	return frame + ETH_BYTES;
}

/* A host of the subnet, by one byte; now and then ourselves or nobody. */
static uint32_t host(struct input *input)
{
	return (OWN_IP & 0xffffff00u) | input_byte(input);
}

static void put_arp(struct link *link, struct input *input, uint8_t *frame)
{
	static const uint8_t everybody[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t kind = input_byte(input), from = input_byte(input), *arp;
	size_t bytes = ETH_BYTES + ARP_BYTES + (kind >> 4), altered;

	arp = begin_frame(frame, kind & 1 ? everybody : config.mac, from, ETH_TYPE_ARP);
	bytes_put_be16(arp + ARP_HARDWARE, ARP_HARDWARE_ETHERNET);
	bytes_put_be16(arp + ARP_PROTOCOL, ETH_TYPE_IPV4);
	arp[ARP_HARDWARE_BYTES] = MAC_BYTES;
	arp[ARP_PROTOCOL_BYTES] = 4;
	bytes_put_be16(arp + ARP_OPERATION, kind & 2 ? ARP_REQUEST : ARP_REPLY);
	memcpy(arp + ARP_SENDER_MAC, frame + ETH_SOURCE, MAC_BYTES);
	bytes_put_be32(arp + ARP_SENDER_IP, host(input));
	bytes_put_be32(arp + ARP_TARGET_IP, kind & 4 ? OWN_IP : host(input));
	if (kind & 8) { /* one byte is anything */
		altered = input_byte(input) % (ETH_BYTES + ARP_BYTES);
		frame[altered] = input_byte(input);
		bytes -= input_byte(input) % 8;
	}
	link_put(link, frame, bytes);
}

/* An IPv4 header in front of `bytes` of ICMP, whose checksum is made right. */
static void put_icmp(struct link *link, uint8_t *frame, uint32_t source, size_t bytes)
{
	uint8_t *ip = frame + ETH_BYTES, *icmp = ip + IP_BYTES;

	ip[IP_VERSION] = 0x45;
	bytes_put_be16(ip + IP_TOTAL, (uint16_t)(IP_BYTES + bytes));
	ip[IP_TTL] = IP_TTL_DEFAULT;
	ip[IP_PROTOCOL] = IP_ICMP;
	bytes_put_be32(ip + IP_SOURCE, source);
	bytes_put_be32(ip + IP_DESTINATION, OWN_IP);
	bytes_put_be16(ip + IP_CHECKSUM, peer_checksum(0, ip, IP_BYTES));
	if (bytes >= ICMP_BYTES)
		bytes_put_be16(icmp + ICMP_CHECKSUM, peer_checksum(0, icmp, bytes));
	link_put(link, frame, ETH_BYTES + IP_BYTES + bytes);
}

static void put_message(struct link *link, struct input *input, uint8_t *frame)
{
	uint8_t *icmp = begin_frame(frame, config.mac, 2, ETH_TYPE_IPV4) + IP_BYTES;
	size_t bytes = input_short(input) % PAYLOAD_MAX;
	const uint8_t *run = input_run(input, &bytes);

	if (bytes > 0)
		memcpy(icmp, run, bytes);
	put_icmp(link, frame, host(input), bytes);
}

/* RFC 792: type, code, four bytes, and the beginning of the packet that it is about. */
static void put_error(struct link *link, struct input *input, uint8_t *frame)
{
	uint8_t *icmp = begin_frame(frame, config.mac, 2, ETH_TYPE_IPV4) + IP_BYTES;
	uint8_t kind = input_byte(input);

	icmp[ICMP_TYPE] = kind & 15;
	icmp[ICMP_CODE] = kind >> 4;
	bytes_put_be32(icmp + ICMP_CHECKSUM + 2, input_word(input));
	memcpy(icmp + ICMP_BYTES, last_packet, QUOTED_BYTES);
	icmp[ICMP_BYTES + input_byte(input) % QUOTED_BYTES] ^= input_byte(input);
	put_icmp(link, frame, host(input), ICMP_BYTES + QUOTED_BYTES);
}

/* --- IPv6 ------------------------------------------------------------------------------------ */

/* The same over IPv6; also one outside the subnet, one by its link-local address, and nobody. */
static struct utcp_addr host6(struct input *input)
{
	uint8_t host = input_byte(input), bytes[16] = {PEER_PREFIX6};

	if (host == 255)
		return (struct utcp_addr){0};
	if (host >= 250) {
		memset(bytes, 0, 8);
		bytes[0] = 0xfe;
		bytes[1] = host & 1 ? 0x80 : 0xff;
	}
	bytes[15] = host;
	return addr_of_ip6(bytes);
}

/* Whom a packet is for: us, a group that we are in, or another one. */
static void put_destination(uint8_t *frame, struct input *input)
{
	static const uint8_t groups[][16] = {{0xff, 2, [11] = 1, 0xff, [15] = OWN_IP & 0xff},
					     {0xff, 2, [15] = 1},
					     {0xff, 2, [15] = 2}};
	unsigned kind = input_byte(input) & 7;
	struct utcp_addr source = host6(input);
	const uint8_t *to = kind >= 1 && kind <= 3 ? groups[kind - 1] : peer_own_ip6;

	peer_set_ip6(frame, (const uint8_t *)&source, to);
}

/* Extension headers before what `*next` names; their bytes. */
static size_t put_extensions(struct input *input, uint8_t *to, uint8_t *next)
{
	static const uint8_t kinds[] = {EXTENSION_HOP_BY_HOP, EXTENSION_DESTINATION,
					EXTENSION_ROUTING, EXTENSION_FRAGMENT};
	unsigned count = 1 + input_byte(input) % EXTENSIONS_MAX;
	uint8_t inner = *next, *link = next;
	size_t at = 0;

	for (unsigned i = 0; i < count; i++) {
		uint8_t form = input_byte(input);
		size_t bytes = EXTENSION_UNIT * (1u + (form >> 2 & 1)), run_bytes = bytes - 2;
		const uint8_t *run = input_run(input, &run_bytes);

		memset(to + at, 0, bytes);
		if (run_bytes > 0)
			memcpy(to + at + 2, run, run_bytes);
		*link = kinds[form & 3];
		link = to + at + EXTENSION_NEXT;
		to[at + EXTENSION_LENGTH] = form & 8 ? form >> 4 : form >> 2 & 1;
		at += bytes;
	}
	*link = inner;
	return at;
}

/* A packet that carries `bytes` of ICMPv6, made right and sent as the step says. */
static void put_icmp6(struct link *link, struct input *input, uint8_t what, uint8_t *message,
		      size_t bytes)
{
	static uint8_t frame[ETH_BYTES + IP6_BYTES + EXTENSIONS_ROOM + PAYLOAD_MAX];
	uint8_t *ip = frame + ETH_BYTES, next = IP6_ICMP;
	size_t before = 0;

	peer_put_ip6(frame, IP6_ICMP, 0);
	put_destination(frame, input);
	ip[IP6_HOPS] = what & ANY_HOPS ? input_byte(input) : ND_HOPS;
	if (what & ALTERED && bytes > 0)
		message[input_byte(input) % bytes] = input_byte(input);
	if (bytes >= ICMP_CHECKSUM + 2) {
		bytes_put_be16(message + ICMP_CHECKSUM, 0);
		bytes_put_be16(message + ICMP_CHECKSUM,
			       peer_checksum6(ip, IP6_ICMP, message, bytes));
	}
	if (what & EXTENDED)
		before = put_extensions(input, ip + IP6_BYTES, &next);
	ip[IP6_NEXT] = next;
	memcpy(ip + IP6_BYTES + before, message, bytes);
	bytes_put_be16(ip + IP6_PAYLOAD, (uint16_t)(before + bytes));
	link_put(link, frame, ETH_BYTES + IP6_BYTES + before + bytes);
}

/* RFC 4861 4.3, 4.4. */
static void put_nd(struct link *link, struct input *input, uint8_t what)
{
	uint8_t message[ND_OPTIONS + 4 * ND_OPTION_UNIT] = {0}, kind = input_byte(input);
	struct utcp_addr target = kind & 2 ? addr_of_ip6(peer_own_ip6) : host6(input);
	unsigned options = kind >> 2 & 3;

	message[ICMP_TYPE] = kind & 1 ? ND_ADVERTISEMENT : ND_SOLICITATION;
	message[ND_FLAGS] = kind & 0xe0;
	memcpy(message + ND_TARGET, &target, 16);
	for (unsigned i = 0; i < options; i++) {
		uint8_t *option = message + ND_OPTIONS + (size_t)i * ND_OPTION_UNIT;

		option[0] = input_byte(input);
		option[1] = 1;
		option[2] = 2;
		option[7] = input_byte(input);
	}
	put_icmp6(link, input, what, message,
		  ND_OPTIONS + (size_t)options * ND_OPTION_UNIT + (kind & 16 ? 3 : 0));
}

static void put_message6(struct link *link, struct input *input, uint8_t what)
{
	static uint8_t message[PAYLOAD_MAX];
	size_t bytes = input_short(input) % PAYLOAD_MAX;
	const uint8_t *run = input_run(input, &bytes);

	if (bytes > 0)
		memcpy(message, run, bytes);
	put_icmp6(link, input, what, message, bytes);
}

/* RFC 4443 2.1. */
static void put_error6(struct link *link, struct input *input, uint8_t what)
{
	uint8_t message[ICMP_BYTES + QUOTED6_BYTES], kind = input_byte(input);

	message[ICMP_TYPE] = kind & 15;
	message[ICMP_CODE] = kind >> 4;
	bytes_put_be32(message + ICMP_CHECKSUM + 2, input_word(input));
	memcpy(message + ICMP_BYTES, last_packet6, QUOTED6_BYTES);
	message[ICMP_BYTES + input_byte(input) % QUOTED6_BYTES] ^= input_byte(input);
	put_icmp6(link, input, what, message, sizeof(message));
}

/* --- both ------------------------------------------------------------------------------------ */

static void call(struct link *link, struct input *input, bool ip6)
{
	struct utcp_addr peer = ip6 ? host6(input) : addr_of_ip4(host(input));
	struct utcp_conn *conn;

	if (utcp_connect(link->utcp, peer, PEER_PORT, link->now_ns, &conn) == 0)
		link_hold(link, conn);
	utcp_check(link->utcp);
}

static void take_frames(struct link *link, unsigned frames)
{
	while (frames-- > 0 && link_take(link)) {
		const uint8_t *ip = link->frame + ETH_BYTES;

		if (link->segment.own_port == 0)
			continue;
		if (link->segment.ip6)
			memcpy(last_packet6, ip, sizeof(last_packet6));
		else
			memcpy(last_packet, ip, sizeof(last_packet));
	}
}

static void put_packet(struct link *link, struct input *input, unsigned kind)
{
	static uint8_t frame[ETH_BYTES + IP_BYTES + PAYLOAD_MAX];

	if (kind < 2)
		put_arp(link, input, frame);
	else if (kind == 2)
		put_message(link, input, frame);
	else
		put_error(link, input, frame);
}

static void put_packet6(struct link *link, struct input *input, uint8_t what)
{
	unsigned kind = what & 7;

	if (kind < 2)
		put_nd(link, input, what);
	else if (kind == 2)
		put_message6(link, input, what);
	else
		put_error6(link, input, what);
}

static void step(struct link *link, struct input *input)
{
	uint8_t what = input_byte(input);

	switch (what & 7) {
	case 4:
		call(link, input, what & OVER_IP6);
		break;
	case 5:
		take_frames(link, input_byte(input));
		break;
	case 6:
		link_advance(link, input_byte(input) * 50 * MS);
		break;
	case 7:
		link_advance(link, input_byte(input) * SECOND);
		break;
	default:
		if (what & OVER_IP6)
			put_packet6(link, input, what);
		else
			put_packet(link, input, what & 7);
	}
	link_echo(link);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct input input = {bytes, count};
	static struct link link;

	config = link_config();
	memset(last_packet, 0, sizeof(last_packet));
	memset(last_packet6, 0, sizeof(last_packet6));
	link_open(&link, &config);
	link_connect(&link, false, NULL, 0);
	link_connect(&link, true, NULL, 0);
	for (unsigned i = 0; i < STEPS_MAX && input.left > 0; i++)
		step(&link, &input);
	link_close(&link);
	return 0;
}
