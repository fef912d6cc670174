#include "stacks/utcp/arp.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/instance.h"

static const uint8_t broadcast[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

void arp_init(struct arp *arp)
{
	*arp = (struct arp){.next_ns = UINT64_MAX};
}

static struct arp_entry *find(struct arp *arp, uint32_t ip)
{
	for (unsigned i = 0; i < ARP_ENTRIES; i++)
		if (arp->entries[i].state != ARP_FREE && arp->entries[i].ip == ip)
			return &arp->entries[i];
	return NULL;
}

/* A free entry, else the one learned longest ago; NULL if all are still asking. */
static struct arp_entry *take_entry(struct arp *arp)
{
	struct arp_entry *oldest = NULL;

	for (unsigned i = 0; i < ARP_ENTRIES; i++) {
		struct arp_entry *entry = &arp->entries[i];

		if (entry->state == ARP_FREE)
			return entry;
		if (entry->state == ARP_KNOWN && (!oldest || entry->at_ns < oldest->at_ns))
			oldest = entry;
	}
	return oldest;
}

/* Queues a packet from us about `target_ip`. */
static void send_packet(struct utcp *utcp, uint16_t operation, const uint8_t to_mac[MAC_BYTES],
			const uint8_t target_mac[MAC_BYTES], uint32_t target_ip)
{
	uint8_t *frame = answers_reserve(&utcp->answers), *arp;

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

static void ask(struct utcp *utcp, struct arp_entry *entry, uint64_t now_ns)
{
	static const uint8_t unknown[MAC_BYTES];

	send_packet(utcp, ARP_REQUEST, broadcast, unknown, entry->ip);
	entry->tries++;
	entry->at_ns = now_ns + ARP_RETRY_NS;
	if (entry->at_ns < utcp->arp.next_ns)
		utcp->arp.next_ns = entry->at_ns;
}

static void learn(struct utcp *utcp, struct arp_entry *entry, const uint8_t *mac, uint64_t now_ns)
{
	bool asked = entry->state == ARP_ASKING;

	memcpy(entry->mac, mac, MAC_BYTES);
	entry->state = ARP_KNOWN;
	entry->at_ns = now_ns;
	if (asked)
		open_resolved(utcp, entry->ip, entry->mac);
}

static bool well_formed(const uint8_t *arp, size_t bytes)
{
	return bytes >= ARP_BYTES && bytes_get_be16(arp + ARP_HARDWARE) == ARP_HARDWARE_ETHERNET &&
	       bytes_get_be16(arp + ARP_PROTOCOL) == ETH_TYPE_IPV4 &&
	       arp[ARP_HARDWARE_BYTES] == MAC_BYTES && arp[ARP_PROTOCOL_BYTES] == 4;
}

static bool take_request(struct utcp *utcp, const uint8_t *arp, struct arp_entry *entry,
			 uint64_t now_ns)
{
	if (entry && (entry->state == ARP_ASKING || now_ns - entry->at_ns >= ARP_RETRY_NS))
		learn(utcp, entry, arp + ARP_SENDER_MAC, now_ns);
	send_packet(utcp, ARP_REPLY, arp + ARP_SENDER_MAC, arp + ARP_SENDER_MAC,
		    bytes_get_be32(arp + ARP_SENDER_IP));
	return true;
}

bool arp_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	const uint8_t *arp = frame + ETH_BYTES;
	struct arp_entry *entry;
	uint32_t sender_ip;
	uint16_t operation;

	if (!well_formed(arp, bytes - ETH_BYTES))
		return false;
	sender_ip = bytes_get_be32(arp + ARP_SENDER_IP);
	operation = bytes_get_be16(arp + ARP_OPERATION);
	if (bytes_get_be32(arp + ARP_TARGET_IP) != utcp->config.ip || (arp[ARP_SENDER_MAC] & 1))
		return false; /* not for us, or from a group address, which no host has */
	if (!utcp_reachable(utcp, sender_ip) && !(sender_ip == 0 && operation == ARP_REQUEST))
		return false; /* 0: who asks whether our address is free is told (RFC 5227 2.4) */
	entry = find(&utcp->arp, sender_ip);
	switch (operation) {
	case ARP_REQUEST:
		return take_request(utcp, arp, entry, now_ns);
	case ARP_REPLY:
		if (!entry || entry->state != ARP_ASKING)
			return false;
		learn(utcp, entry, arp + ARP_SENDER_MAC, now_ns);
		return true;
	default:
		return false;
	}
}

int arp_resolve(struct utcp *utcp, uint32_t ip, uint64_t now_ns, uint8_t mac_out[MAC_BYTES])
{
	struct arp_entry *entry = find(&utcp->arp, ip);

	if (entry && entry->state == ARP_KNOWN && now_ns - entry->at_ns < ARP_LIFE_NS) {
		memcpy(mac_out, entry->mac, MAC_BYTES);
		return 1;
	}
	if (entry && entry->state == ARP_ASKING)
		return 0;
	if (!entry)
		entry = take_entry(&utcp->arp);
	if (!entry)
		return -1;
	*entry = (struct arp_entry){.ip = ip, .state = ARP_ASKING};
	ask(utcp, entry, now_ns);
	return 0;
}

void arp_doubt(struct utcp *utcp, uint32_t ip, uint64_t now_ns)
{
	struct arp_entry *entry = find(&utcp->arp, ip);

	if (entry && entry->state == ARP_KNOWN && now_ns - entry->at_ns >= ARP_RETRY_NS)
		entry->state = ARP_FREE;
}

void arp_advance(struct utcp *utcp, uint64_t now_ns)
{
	struct arp *arp = &utcp->arp;

	if (now_ns < arp->next_ns)
		return;
	arp->next_ns = UINT64_MAX;
	for (unsigned i = 0; i < ARP_ENTRIES; i++) {
		struct arp_entry *entry = &arp->entries[i];

		if (entry->state != ARP_ASKING)
			continue;
		if (now_ns < entry->at_ns) {
			if (entry->at_ns < arp->next_ns)
				arp->next_ns = entry->at_ns;
		} else if (entry->tries < ARP_TRIES) {
			ask(utcp, entry, now_ns);
		} else {
			entry->state = ARP_FREE;
			open_unresolved(utcp, entry->ip);
		}
	}
}
