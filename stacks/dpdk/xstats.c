#include "stacks/dpdk/xstats.h"

#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = RTE_ETH_XSTATS_NAME_SIZE + sizeof("xstat_") };

/* What a driver may have in all; one with more is not asked. */
enum { ASKED_MAX = 512 };

/* Written by the first port that is opened, before any account is taken; read ever after. */
static char names[XSTATS_MAX][NAME_BYTES];
static unsigned name_count;

static void print_name(char name[NAME_BYTES], const struct rte_eth_xstat_name *from)
{
	snprintf(name, NAME_BYTES, "xstat_%.*s", RTE_ETH_XSTATS_NAME_SIZE - 1, from->name);
}

/* The driver's names, at most XSTATS_MAX; their number. */
static unsigned ask_names(uint16_t port_id, struct rte_eth_xstat_name *found, unsigned room)
{
	int count = rte_eth_xstats_get_names(port_id, NULL, 0);

	if (count <= 0 || (unsigned)count > room)
		return 0;
	count = rte_eth_xstats_get_names(port_id, found, (unsigned)count);
	if (count <= 0)
		return 0;
	return count < XSTATS_MAX ? (unsigned)count : XSTATS_MAX;
}

unsigned xstats_open(uint16_t port_id)
{
	struct rte_eth_xstat_name found[ASKED_MAX];
	unsigned count = ask_names(port_id, found, ASKED_MAX);
	char name[NAME_BYTES];

	if (name_count == 0) {
		for (unsigned i = 0; i < count; i++)
			print_name(names[i], &found[i]);
		name_count = count;
	}
	if (count != name_count)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		print_name(name, &found[i]);
		if (strcmp(names[i], name) != 0)
			return 0;
	}
	return count;
}

unsigned xstats_read(uint16_t port_id, unsigned count, struct tp_detail *details_out)
{
	struct rte_eth_xstat values[ASKED_MAX];
	int got = count ? rte_eth_xstats_get(port_id, values, ASKED_MAX) : 0;

	if (got < (int)count || got > ASKED_MAX)
		return 0;
	for (unsigned i = 0; i < count; i++)
		details_out[i] = (struct tp_detail){
			.name = names[i], .value = values[i].value, .kind = TP_DETAIL_COUNT};
	return count;
}
