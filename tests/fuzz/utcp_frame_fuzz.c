/*
 * Frames of any kind at an instance with an established connection of each family and an
 * application that echoes.
 *
 * An input is a row of frames, each behind a byte that says what is made right about it, so that it
 * comes further than a wrong checksum lets it, and two bytes with its length.
 */
#include "dataplane/core/bytes.h"
#include "stacks/utcp/packet.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/link.h"

#include <string.h>

enum {
	FIX_ADDRESSES = 1 << 0, /* of Ethernet and IP */
	FIX_IP = 1 << 1,	/* its length, and IPv4's checksum */
	FIX_INNER = 1 << 2,	/* the checksum of TCP or ICMP */
	DRAIN = 1 << 3,
	WAIT = 1 << 4,
	FRAME_BYTES_MAX = 2000, /* more than the MTU */
	FRAMES_MAX = 64,
};

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_bytes);

/* Whether the frame has a whole header of this family. */
static bool is_of(const uint8_t *frame, size_t bytes, uint16_t type)
{
	size_t head = type == ETH_TYPE_IPV6 ? IP6_BYTES : IP_BYTES;

	return bytes >= ETH_BYTES + head && bytes_get_be16(frame + ETH_TYPE) == type;
}

/* What is for a group of IPv6 stays so. */
static void fix_addresses6(uint8_t *frame)
{
	uint8_t *ip = frame + ETH_BYTES, to[16];

	memcpy(to, ip[IP6_DESTINATION] == 0xff ? ip + IP6_DESTINATION : peer_own_ip6, 16);
	peer_set_ip6(frame, peer_ip6, to);
}

static void fix_addresses(uint8_t *frame, size_t bytes, const struct utcp_config *config)
{
	if (bytes < ETH_BYTES)
		return;
	memcpy(frame + ETH_DESTINATION, config->mac, MAC_BYTES);
	frame[ETH_SOURCE] &= (uint8_t)~1;
	if (is_of(frame, bytes, ETH_TYPE_IPV6))
		fix_addresses6(frame);
	if (!is_of(frame, bytes, ETH_TYPE_IPV4))
		return;
	bytes_put_be32(frame + ETH_BYTES + IP_SOURCE, PEER_IP);
	bytes_put_be32(frame + ETH_BYTES + IP_DESTINATION, OWN_IP);
}

static void fix_ip(uint8_t *frame, size_t bytes)
{
	uint8_t *ip = frame + ETH_BYTES;
	size_t head;

	if (is_of(frame, bytes, ETH_TYPE_IPV6))
		bytes_put_be16(ip + IP6_PAYLOAD, (uint16_t)(bytes - ETH_BYTES - IP6_BYTES));
	if (!is_of(frame, bytes, ETH_TYPE_IPV4))
		return;
	head = (ip[IP_VERSION] & 0xf) * 4u;
	bytes_put_be16(ip + IP_TOTAL, (uint16_t)(bytes - ETH_BYTES));
	bytes_put_be16(ip + IP_CHECKSUM, 0);
	if (head <= bytes - ETH_BYTES)
		bytes_put_be16(ip + IP_CHECKSUM, peer_checksum(0, ip, head));
}

/* Puts a checksum at `at` of the payload, with `sum` of the pseudo header, if there is room. */
static void fix_checksum(uint8_t *payload, size_t bytes, size_t at, uint32_t sum)
{
	if (bytes < at + 2)
		return;
	bytes_put_be16(payload + at, 0);
	bytes_put_be16(payload + at, peer_checksum(sum, payload, bytes));
}

static void fix_inner4(uint8_t *ip, size_t bytes)
{
	size_t head = (ip[IP_VERSION] & 0xf) * 4u, total = bytes_get_be16(ip + IP_TOTAL), payload;
	uint32_t sum = IP_TCP;

	if (total > bytes || head > total)
		return;
	payload = total - head;
	for (unsigned i = IP_SOURCE; i < IP_BYTES; i += 2)
		sum += bytes_get_be16(ip + i);
	if (ip[IP_PROTOCOL] == IP_TCP)
		fix_checksum(ip + head, payload, TCP_CHECKSUM, sum + (uint32_t)payload);
	else if (ip[IP_PROTOCOL] == IP_ICMP)
		fix_checksum(ip + head, payload, ICMP_CHECKSUM, 0);
}

static bool is_extension(uint8_t next)
{
	return next == EXTENSION_HOP_BY_HOP || next == EXTENSION_ROUTING ||
	       next == EXTENSION_FRAGMENT || next == EXTENSION_DESTINATION;
}

/* Behind extension headers, if their lengths lead there. */
static void fix_inner6(uint8_t *ip, size_t bytes)
{
	size_t at = IP6_BYTES, end = IP6_BYTES + (size_t)bytes_get_be16(ip + IP6_PAYLOAD);
	uint8_t next = ip[IP6_NEXT];
	uint32_t sum;

	while (end <= bytes && is_extension(next) && at + EXTENSION_UNIT <= end) {
		size_t units = next == EXTENSION_FRAGMENT ? 1u : 1u + ip[at + EXTENSION_LENGTH];

		next = ip[at + EXTENSION_NEXT];
		at += units * EXTENSION_UNIT;
	}
	if (end > bytes || at > end || (next != IP_TCP && next != IP6_ICMP))
		return;
	sum = next + (uint32_t)(end - at);
	for (unsigned i = IP6_SOURCE; i < IP6_BYTES; i += 2)
		sum += bytes_get_be16(ip + i);
	fix_checksum(ip + at, end - at, next == IP_TCP ? TCP_CHECKSUM : ICMP_CHECKSUM, sum);
}

static void fix_inner(uint8_t *frame, size_t bytes)
{
	if (is_of(frame, bytes, ETH_TYPE_IPV4))
		fix_inner4(frame + ETH_BYTES, bytes - ETH_BYTES);
	else if (is_of(frame, bytes, ETH_TYPE_IPV6))
		fix_inner6(frame + ETH_BYTES, bytes - ETH_BYTES);
}

static void put_one(struct link *link, struct input *input, const struct utcp_config *config)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	uint8_t fixes = input_byte(input);
	size_t bytes = input_short(input) % FRAME_BYTES_MAX;
	const uint8_t *run = input_run(input, &bytes);

	if (bytes > 0)
		memcpy(frame, run, bytes);
	if (fixes & FIX_ADDRESSES)
		fix_addresses(frame, bytes, config);
	if (fixes & FIX_IP)
		fix_ip(frame, bytes);
	if (fixes & FIX_INNER)
		fix_inner(frame, bytes);
	link_put(link, frame, bytes);
	if (fixes & WAIT)
		link_advance(link, (uint64_t)(fixes >> 5) * 100 * MS);
	link_echo(link);
	if (fixes & DRAIN)
		link_drain(link, UINT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct utcp_config config = link_config();
	struct input input = {bytes, count};
	static struct link link;

	link_open(&link, &config);
	link_connect(&link, false, NULL, 0);
	link_connect(&link, true, NULL, 0);
	link_echo(&link);
	for (unsigned i = 0; i < FRAMES_MAX && input.left > 0; i++)
		put_one(&link, &input, &config);
	link_close(&link);
	return 0;
}
