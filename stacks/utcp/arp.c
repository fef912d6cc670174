#include "stacks/utcp/arp.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/ip.h"

static const uint8_t broadcast[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* Queues a packet from us about `target_ip`. */
static void send_packet(struct utcp *utcp, uint16_t operation, const uint8_t to_mac[MAC_BYTES],
			const uint8_t target_mac[MAC_BYTES], uint32_t target_ip)
{
	uint8_t *frame = operation == ARP_REQUEST ? answers_reserve_question(&utcp->answers)
						  : answers_reserve(&utcp->answers);
	uint8_t *arp;

	if (!frame) {
		utcp->counters.out_lost++;
		return;
	}
	arp = frame + ETH_BYTES;
	memcpy(frame + ETH_DESTINATION, to_mac, MAC_BYTES);
	memcpy(frame + ETH_SOURCE, utcp->config.mac, MAC_BYTES);
	bytes_put_be16(frame + ETH_TYPE, ETH_TYPE_ARP);
	bytes_put_be16(arp + ARP_HARDWARE, ARP_HARDWARE_ETHERNET);
	bytes_put_be16(arp + ARP_PROTOCOL, ETH_TYPE_IPV4);
	arp[ARP_HARDWARE_BYTES] = MAC_BYTES;
	arp[ARP_PROTOCOL_BYTES] = 4;
	bytes_put_be16(arp + ARP_OPERATION, operation);
	memcpy(arp + ARP_SENDER_MAC, utcp->config.mac, MAC_BYTES);
	bytes_put_be32(arp + ARP_SENDER_IP, utcp->config.ip);
	memcpy(arp + ARP_TARGET_MAC, target_mac, MAC_BYTES);
	bytes_put_be32(arp + ARP_TARGET_IP, target_ip);
	answers_commit(&utcp->answers, ETH_BYTES + ARP_BYTES);
}

void arp_ask(struct utcp *utcp, uint32_t ip)
{
	static const uint8_t unknown[MAC_BYTES];

	send_packet(utcp, ARP_REQUEST, broadcast, unknown, ip);
}

static bool well_formed(const uint8_t *arp, size_t bytes)
{
	return bytes >= ARP_BYTES && bytes_get_be16(arp + ARP_HARDWARE) == ARP_HARDWARE_ETHERNET &&
	       bytes_get_be16(arp + ARP_PROTOCOL) == ETH_TYPE_IPV4 &&
	       arp[ARP_HARDWARE_BYTES] == MAC_BYTES && arp[ARP_PROTOCOL_BYTES] == 4;
}

bool arp_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	const uint8_t *arp = frame + ETH_BYTES, *sender_mac = arp + ARP_SENDER_MAC;
	struct utcp_addr sender;
	uint32_t sender_ip;
	uint16_t operation;

	if (!well_formed(arp, bytes - ETH_BYTES))
		return false;
	sender_ip = bytes_get_be32(arp + ARP_SENDER_IP);
	operation = bytes_get_be16(arp + ARP_OPERATION);
	if (utcp->config.ip == 0 || bytes_get_be32(arp + ARP_TARGET_IP) != utcp->config.ip ||
	    (sender_mac[0] & 1))
		return false; /* not for us, or from a group address, which no host has */
	if (!ip4_reachable(utcp, sender_ip) && !(sender_ip == 0 && operation == ARP_REQUEST))
		return false; /* 0: who asks whether our address is free is told (RFC 5227 2.4) */
	sender = addr_of_ip4(sender_ip);
	if (operation == ARP_REPLY)
		return neighbours_take_answer(utcp, &sender, sender_mac, now_ns);
	if (operation != ARP_REQUEST)
		return false;
	neighbours_take_request(utcp, &sender, sender_mac, now_ns);
	send_packet(utcp, ARP_REPLY, sender_mac, sender_mac, sender_ip);
	return true;
}
