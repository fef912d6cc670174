/*
 * What is below TCP: ARP and ICMP of any kind, calls to hosts that may answer, and time.
 *
 * An input is a row of steps, one byte each with arguments behind it. Packets come with right
 * lengths and checksums, so that what is judged is their meaning; an ICMP error may quote the last
 * segment that came out, altered or not.
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
};

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_bytes);

static struct utcp_config config;
static uint8_t last_packet[IP_BYTES + TCP_BYTES]; /* the last that came out over IPv4 */

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

static void call(struct link *link, struct input *input)
{
	struct utcp_conn *conn;

	if (utcp_connect(link->utcp, addr_of_ip4(host(input)), PEER_PORT, link->now_ns, &conn) == 0)
		link_hold(link, conn);
	utcp_check(link->utcp);
}

static void take_frames(struct link *link, unsigned frames)
{
	while (frames-- > 0 && link_take(link))
		if (bytes_get_be16(link->frame + ETH_TYPE) == ETH_TYPE_IPV4)
			memcpy(last_packet, link->frame + ETH_BYTES, sizeof(last_packet));
}

static void step(struct link *link, struct input *input)
{
	static uint8_t frame[ETH_BYTES + IP_BYTES + PAYLOAD_MAX];

	switch (input_byte(input) & 7) {
	case 0:
	case 1:
		put_arp(link, input, frame);
		break;
	case 2:
		put_message(link, input, frame);
		break;
	case 3:
		put_error(link, input, frame);
		break;
	case 4:
		call(link, input);
		break;
	case 5:
		take_frames(link, input_byte(input));
		break;
	case 6:
		link_advance(link, input_byte(input) * 50 * MS);
		break;
	default:
		link_advance(link, input_byte(input) * SECOND);
	}
	link_echo(link);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct input input = {bytes, count};
	static struct link link;

	config = peer_config();
	memset(last_packet, 0, sizeof(last_packet));
	link_open(&link, &config);
	link_connect(&link, NULL, 0);
	for (unsigned i = 0; i < STEPS_MAX && input.left > 0; i++)
		step(&link, &input);
	link_close(&link);
	return 0;
}
