#include "stacks/dpdk/pair.h"

#include "stacks/dpdk/device.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <stdio.h>
#include <string.h>

/* Index 0 is the server's side, 1 the client's. */
static struct {
	struct rte_ring *to[2]; /* what the side receives from */
	bool taken[2];
} pair;

bool pair_is_complete(void)
{
	return pair.taken[0] && pair.taken[1];
}

static void free_rings(void)
{
	for (unsigned i = 0; i < 2; i++) {
		rte_ring_free(pair.to[i]);
		pair.to[i] = NULL;
	}
}

static int make_rings(void)
{
	static const char *const names[2] = {"weir_to_server", "weir_to_client"};
	unsigned count = device_traits[DEVICE_RING].rx_descriptors;

	if (pair.to[0])
		return 0;
	for (unsigned i = 0; i < 2; i++)
		pair.to[i] = rte_ring_create(names[i], count, SOCKET_ID_ANY,
					     RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (pair.to[0] && pair.to[1])
		return 0;
	free_rings();
	return -ENOMEM;
}

/* Frees the frames that nobody will receive any more. */
static void drain_rings(void)
{
	void *frame;

	for (unsigned i = 0; i < 2; i++)
		while (rte_ring_dequeue(pair.to[i], &frame) == 0)
			rte_pktmbuf_free(frame);
}

int pair_join(bool server, char *name, uint16_t *port_out, struct tp_error *error)
{
	static unsigned number;
	unsigned side = server ? 0 : 1;
	char suffix[16];
	int port;

	if (pair.taken[side])
		return tp_fail(error, -EADDRINUSE, "this process has a dpdk@ring %s already",
			       server ? "server" : "client");
	if (make_rings())
		return tp_fail(error, -ENOMEM, "no memory for the rings of dpdk@ring");
	snprintf(suffix, sizeof(suffix), "weir%u", number++);
	port = rte_eth_from_rings(suffix, &pair.to[side], 1, &pair.to[1 - side], 1, 0);
	if (port < 0) {
		if (!pair.taken[1 - side])
			free_rings();
		return tp_fail(error, -rte_errno, "DPDK cannot make the ring device: %s",
			       rte_strerror(rte_errno));
	}
	pair.taken[side] = true;
	*port_out = (uint16_t)port;
	return rte_eth_dev_get_name_by_port(*port_out, name);
}

void pair_leave(bool server)
{
	unsigned side = server ? 0 : 1;

	pair.taken[side] = false;
	drain_rings();
	if (!pair.taken[1 - side])
		free_rings();
}
