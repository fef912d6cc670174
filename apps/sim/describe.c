#include "dataplane/core/bytes.h"
#include "stacks/utcp/packet.h"
#include "apps/sim/wire.h"

static void describe_tcp(const uint8_t *tcp, size_t bytes, char *text, size_t text_bytes)
{
	static const char letters[] = "FSRPAUEC";
	char flags[9];
	unsigned count = 0, head_bytes = (tcp[TCP_OFFSET] >> 4) * 4u;

	for (unsigned i = 0; i < 8; i++)
		if (tcp[TCP_FLAGS] & 1u << i)
			flags[count++] = letters[i];
	flags[count] = '\0';
	snprintf(text, text_bytes, "%5u>%-5u %-4s seq %10u ack %10u win %5u len %4zu",
		 bytes_get_be16(tcp + TCP_SOURCE), bytes_get_be16(tcp + TCP_DESTINATION), flags,
		 bytes_get_be32(tcp + TCP_SEQ), bytes_get_be32(tcp + TCP_ACK),
		 bytes_get_be16(tcp + TCP_WINDOW), bytes > head_bytes ? bytes - head_bytes : 0);
}

const char *wire_describe(const uint8_t *frame, size_t bytes, char *text, size_t text_bytes)
{
	uint16_t type = bytes >= ETH_BYTES ? bytes_get_be16(frame + ETH_TYPE) : 0;
	const uint8_t *inner = frame + ETH_BYTES;

	if (type == ETH_TYPE_ARP && bytes >= ETH_BYTES + ARP_BYTES)
		snprintf(text, text_bytes, "ARP %s for %08x",
			 bytes_get_be16(inner + ARP_OPERATION) == ARP_REQUEST ? "request" : "reply",
			 bytes_get_be32(inner + ARP_TARGET_IP));
	else if (type == ETH_TYPE_IPV6 && bytes >= HEAD_BYTES_MAX && inner[IP6_NEXT] == IP_TCP)
		describe_tcp(inner + IP6_BYTES, bytes_get_be16(inner + IP6_PAYLOAD), text,
			     text_bytes);
	else if (type == ETH_TYPE_IPV6 && bytes >= ETH_BYTES + IP6_BYTES + ND_OPTIONS &&
		 inner[IP6_NEXT] == IP6_ICMP)
		snprintf(text, text_bytes, "ICMPv6 type %u for ..%04x",
			 inner[IP6_BYTES + ICMP_TYPE],
			 bytes_get_be16(inner + IP6_BYTES + ND_OPTIONS - 2));
	else if (type == ETH_TYPE_IPV4 && bytes >= HEAD_BYTES && inner[IP_PROTOCOL] == IP_TCP)
		describe_tcp(inner + IP_BYTES, bytes_get_be16(inner + IP_TOTAL) - IP_BYTES, text,
			     text_bytes);
	else
		snprintf(text, text_bytes, "%zu bytes of type %04x", bytes, type);
	return text;
}
