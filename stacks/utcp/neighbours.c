#include "stacks/utcp/neighbours.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/arp.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/nd.h"

void neighbours_init(struct neighbours *neighbours)
{
	*neighbours = (struct neighbours){.next_ns = UINT64_MAX};
}

static struct neighbour *find(struct neighbours *neighbours, const struct utcp_addr *addr)
{
	for (unsigned i = 0; i < NEIGHBOURS_MAX; i++) {
		struct neighbour *entry = &neighbours->entries[i];

		if (entry->state != NEIGHBOUR_FREE && addr_equal(&entry->addr, addr))
			return entry;
	}
	return NULL;
}

/* A free entry, else the one learned longest ago; NULL if all are still asking. */
static struct neighbour *take_entry(struct neighbours *neighbours)
{
	struct neighbour *oldest = NULL;

	for (unsigned i = 0; i < NEIGHBOURS_MAX; i++) {
		struct neighbour *entry = &neighbours->entries[i];

		if (entry->state == NEIGHBOUR_FREE)
			return entry;
		if (entry->state == NEIGHBOUR_KNOWN && (!oldest || entry->at_ns < oldest->at_ns))
			oldest = entry;
	}
	return oldest;
}

static void ask(struct utcp *utcp, struct neighbour *entry, uint64_t now_ns)
{
	if (addr_is_ip4(&entry->addr))
		arp_ask(utcp, addr_ip4(&entry->addr));
	else
		nd_ask(utcp, &entry->addr);
	entry->tries++;
	entry->at_ns = now_ns + NEIGHBOUR_RETRY_NS;
	if (entry->at_ns < utcp->neighbours.next_ns)
		utcp->neighbours.next_ns = entry->at_ns;
}

static void learn(struct utcp *utcp, struct neighbour *entry, const uint8_t *mac, uint64_t now_ns)
{
	bool asked = entry->state == NEIGHBOUR_ASKING;

	memcpy(entry->mac, mac, MAC_BYTES);
	entry->state = NEIGHBOUR_KNOWN;
	entry->at_ns = now_ns;
	if (asked)
		open_resolved(utcp, &entry->waiting, entry->mac);
}

int neighbours_resolve(struct utcp *utcp, const struct utcp_addr *addr, uint64_t now_ns,
		       uint8_t mac_out[MAC_BYTES])
{
	struct neighbour *entry = find(&utcp->neighbours, addr);

	if (entry && entry->state == NEIGHBOUR_KNOWN && now_ns - entry->at_ns < NEIGHBOUR_LIFE_NS) {
		memcpy(mac_out, entry->mac, MAC_BYTES);
		return 1;
	}
	if (entry && entry->state == NEIGHBOUR_ASKING)
		return 0;
	if (!entry)
		entry = take_entry(&utcp->neighbours);
	if (!entry)
		return -1;
	*entry = (struct neighbour){.addr = *addr, .state = NEIGHBOUR_ASKING};
	list_init(&entry->waiting);
	ask(utcp, entry, now_ns);
	return 0;
}

void neighbours_await(struct utcp *utcp, const struct utcp_addr *addr, struct utcp_conn *conn)
{
	struct neighbour *entry = find(&utcp->neighbours, addr);

	CHECK(entry && entry->state == NEIGHBOUR_ASKING);
	list_push(&entry->waiting, &conn->out_link);
}

bool neighbours_take_answer(struct utcp *utcp, const struct utcp_addr *addr,
			    const uint8_t mac[MAC_BYTES], uint64_t now_ns)
{
	struct neighbour *entry = find(&utcp->neighbours, addr);

	if (!entry || entry->state != NEIGHBOUR_ASKING)
		return false;
	learn(utcp, entry, mac, now_ns);
	return true;
}

void neighbours_take_request(struct utcp *utcp, const struct utcp_addr *addr,
			     const uint8_t mac[MAC_BYTES], uint64_t now_ns)
{
	struct neighbour *entry = find(&utcp->neighbours, addr);

	if (entry &&
	    (entry->state == NEIGHBOUR_ASKING || now_ns - entry->at_ns >= NEIGHBOUR_RETRY_NS))
		learn(utcp, entry, mac, now_ns);
}

void neighbours_doubt(struct utcp *utcp, const struct utcp_addr *addr, uint64_t now_ns)
{
	struct neighbour *entry = find(&utcp->neighbours, addr);

	if (entry && entry->state == NEIGHBOUR_KNOWN && now_ns - entry->at_ns >= NEIGHBOUR_RETRY_NS)
		entry->state = NEIGHBOUR_FREE;
}

void neighbours_advance(struct utcp *utcp, uint64_t now_ns)
{
	struct neighbours *neighbours = &utcp->neighbours;

	if (now_ns < neighbours->next_ns)
		return;
	neighbours->next_ns = UINT64_MAX;
	for (unsigned i = 0; i < NEIGHBOURS_MAX; i++) {
		struct neighbour *entry = &neighbours->entries[i];

		if (entry->state != NEIGHBOUR_ASKING)
			continue;
		if (now_ns < entry->at_ns) {
			if (entry->at_ns < neighbours->next_ns)
				neighbours->next_ns = entry->at_ns;
		} else if (entry->tries < NEIGHBOUR_TRIES) {
			ask(utcp, entry, now_ns);
		} else {
			entry->state = NEIGHBOUR_FREE;
			open_unresolved(utcp, &entry->waiting);
		}
	}
}

bool neighbours_asks(const struct neighbours *neighbours, const struct utcp_addr *addr)
{
	for (unsigned i = 0; i < NEIGHBOURS_MAX; i++)
		if (neighbours->entries[i].state == NEIGHBOUR_ASKING &&
		    addr_equal(&neighbours->entries[i].addr, addr))
			return true;
	return false;
}

void neighbours_check(const struct neighbours *neighbours)
{
	for (unsigned i = 0; i < NEIGHBOURS_MAX; i++) {
		const struct neighbour *entry = &neighbours->entries[i];

		if (entry->state == NEIGHBOUR_FREE)
			continue;
		CHECK(entry->tries <= NEIGHBOUR_TRIES);
		CHECK(entry->state == NEIGHBOUR_KNOWN || entry->at_ns >= neighbours->next_ns);
		CHECK(entry->state == NEIGHBOUR_ASKING || list_empty(&entry->waiting));
		for (unsigned j = 0; j < i; j++)
			CHECK(neighbours->entries[j].state == NEIGHBOUR_FREE ||
			      !addr_equal(&neighbours->entries[j].addr, &entry->addr));
	}
}
