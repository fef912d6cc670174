#include "stacks/dpdk/port.h"

#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "stacks/dpdk/eal.h"
#include "stacks/dpdk/memif.h"
#include "stacks/dpdk/pair.h"
#include "stacks/dpdk/xdp.h"
#include "stacks/dpdk/xstats.h"

#include <errno.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <string.h>
#include <time.h>

enum {
	SAMPLE_PERIOD_NS = 1000 * 1000,
	KNOCK_PERIOD_NS = 50 * 1000 * 1000, /* of a client that was turned away */
};

/* A memif client tries for a while: the socket may be there before its server listens. */
static int start_device(const struct port *port, uint64_t wait_ns)
{
	const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
	bool patient = port->device.kind == DEVICE_MEMIF && !port->device.server;
	uint64_t deadline_ns = clock_now_ns() + wait_ns;
	int failure;

	while ((failure = rte_eth_dev_start(port->id)) && patient && clock_now_ns() < deadline_ns)
		nanosleep(&pause, NULL);
	return failure && patient ? -ECONNREFUSED : failure;
}

/* One queue each way, and go. */
static int start_port(struct port *port)
{
	const struct device_traits *traits = &device_traits[port->device.kind];
	const struct rte_eth_conf config = {.intr_conf.rxq = traits->interrupts};
	int failure = rte_eth_dev_configure(port->id, 1, 1, &config);

	if (!failure)
		failure = rte_eth_rx_queue_setup(port->id, 0, traits->rx_descriptors, 0, NULL,
						 port->pool);
	if (!failure)
		failure = rte_eth_tx_queue_setup(port->id, 0, traits->tx_descriptors, 0, NULL);
	return failure ? failure : start_device(port, MEMIF_WAIT_NS);
}

/* Takes the interface's own MTU and address where they matter. */
static int learn_interface(struct port *port)
{
	const struct device_traits *traits = &device_traits[port->device.kind];
	struct rte_ether_addr mac;
	int failure = 0;

	port->mtu = traits->mtu;
	if (port->mtu == 0)
		failure = rte_eth_dev_get_mtu(port->id, &port->mtu);
	if (failure || !traits->own_mac)
		return failure;
	failure = rte_eth_macaddr_get(port->id, &mac);
	if (!failure)
		memcpy(port->mac, mac.addr_bytes, sizeof(port->mac));
	return failure;
}

static int attach(struct port *port, struct tp_error *error)
{
	if (port->device.kind == DEVICE_RING)
		return pair_join(port->device.server, port->name, &port->id, error);
	return device_attach(&port->device, port->name, &port->id, error);
}

static void detach(struct port *port)
{
	rte_eth_dev_close(port->id);
	rte_eal_hotplug_remove("vdev", port->name);
	if (port->device.kind == DEVICE_RING)
		pair_leave(port->device.server);
}

static int fail_start(const struct port *port, int failure, struct tp_error *error)
{
	const char *words = eal_words();

	if (failure == -ECONNREFUSED)
		return tp_fail(error, failure,
			       "nobody listens at the memif socket %s: start the server first",
			       port->device.target);
	return tp_fail(error, failure, "DPDK cannot start the device %s:%s (%s)%s%s",
		       device_traits[port->device.kind].name, port->device.target,
		       strerror(-failure), words[0] ? ": " : "", words);
}

static int fail_link(const struct port *port, struct tp_error *error)
{
	return tp_fail(error, -ETIMEDOUT,
		       "the memif server at %s does not take us in: it serves another client "
		       "already, or hangs",
		       port->device.target);
}

/*
 * Waits for a started memif client's link, at most `wait_ns`; whether it is up. DPDK's server
 * listens before it is started and turns away who comes in between, as it does who comes while it
 * serves another; and DPDK's client does not try again by itself. So we do.
 */
static bool join(struct port *port, uint64_t wait_ns)
{
	uint64_t now_ns = clock_now_ns(), deadline_ns = now_ns + wait_ns;

	while (now_ns < deadline_ns) {
		uint64_t left_ns = deadline_ns - now_ns;

		if (link_wait(&port->link, left_ns < KNOCK_PERIOD_NS ? left_ns : KNOCK_PERIOD_NS))
			return true;
		now_ns = clock_now_ns();
		/* none of our knocks is left before it is answered */
		if (now_ns + MEMIF_GREETING_NS > deadline_ns || !link_was_turned_away(&port->link))
			continue;
		gate_lift();
		rte_eth_dev_stop(port->id);
		if (start_device(port, deadline_ns - now_ns))
			return false;
	}
	return false;
}

/* What comes up in open and goes down in close; on failure nothing is left. */
static int open_device(struct port *port, struct tp_error *error)
{
	int failure = attach(port, error);

	if (failure)
		return failure;
	failure = start_port(port);
	if (!failure)
		failure = learn_interface(port);
	if (failure) {
		failure = fail_start(port, failure, error);
		detach(port);
		return failure;
	}
	link_init(&port->link, &port->device, port->id);
	doze_init(&port->doze, &port->device, port->id);
	if (port->device.kind == DEVICE_MEMIF && !port->device.server &&
	    !join(port, MEMIF_WAIT_NS)) {
		link_fini(&port->link);
		detach(port);
		return fail_link(port, error);
	}
	return 0;
}

int port_open(struct port *port, const struct device *device, uint64_t nap_ns,
	      struct tp_error *error)
{
	int failure;

	*port = (struct port){.device = *device, .doze.nap_ns = nap_ns};
	failure = gate_start();
	if (failure)
		return tp_fail(error, failure, "DPDK's interrupt thread cannot be reached: %s",
			       strerror(-failure));
	gate_lift();
	failure = device_check(device, error);
	if (!failure)
		failure = pool_acquire(&device_traits[device->kind], &port->pool, error);
	if (failure)
		return failure;
	port->counters.mbuf_low = POOL_FRAMES;
	failure = open_device(port, error);
	if (failure)
		pool_release(port->pool);
	else if (device->server)
		port->xstat_count = xstats_open(port->id);
	return failure;
}

void port_close(struct port *port)
{
	rte_pktmbuf_free_bulk(port->waiting, port->waiting_count);
	rte_pktmbuf_free_bulk(port->spare, port->spare_count);
	port->waiting_count = port->spare_count = 0;
	link_fini(&port->link);
	gate_pass();
	rte_eth_dev_stop(port->id);
	detach(port);
	gate_pass();
	pool_release(port->pool);
}

bool port_restart(struct port *port, uint64_t wait_ns)
{
	gate_lift();
	rte_eth_dev_stop(port->id);
	return start_device(port, wait_ns) == 0 && join(port, wait_ns);
}

unsigned port_receive(struct port *port, struct rte_mbuf **frames)
{
	unsigned count = rte_eth_rx_burst(port->id, 0, frames, PORT_BURST);

	if (count == 0)
		return 0;
	port->counters.bursts_in++;
	port->counters.frames_in += count;
	return count;
}

void port_done(struct port *port, struct rte_mbuf **frames, unsigned count)
{
	rte_pktmbuf_free_bulk(frames, count);
}

const uint8_t *port_linear(struct port *port, struct rte_mbuf *frame)
{
	port->counters.bytes_in += frame->pkt_len;
	if (frame->nb_segs == 1)
		return rte_pktmbuf_mtod(frame, const uint8_t *);
	port->counters.chained_in++;
	if (frame->pkt_len > sizeof(port->scratch)) {
		port->counters.oversized_in++;
		return NULL;
	}
	return rte_pktmbuf_read(frame, 0, frame->pkt_len, port->scratch);
}

bool port_refill(struct port *port)
{
	if (rte_pktmbuf_alloc_bulk(port->pool, port->spare, PORT_BURST) == 0) {
		port->spare_count = PORT_BURST;
		return true;
	}
	port->spare[0] = rte_pktmbuf_alloc(port->pool);
	if (port->spare[0]) {
		port->spare_count = 1;
		return true;
	}
	port->counters.mbufs_short++;
	return false;
}

void port_send(struct port *port)
{
	unsigned sent;

	if (port->waiting_count == 0 || !link_usable(&port->link))
		return;
	sent = rte_eth_tx_burst(port->id, 0, port->waiting, port->waiting_count);
	port->counters.bursts_out += sent > 0;
	port->counters.frames_out += sent;
	port->waiting_count -= sent;
	if (port->waiting_count == 0)
		return;
	port->counters.tx_full++;
	memmove(port->waiting, port->waiting + sent,
		port->waiting_count * sizeof(port->waiting[0]));
}

void port_give_up(struct port *port)
{
	port->counters.given_up += port->waiting_count;
	rte_pktmbuf_free_bulk(port->waiting, port->waiting_count);
	port->waiting_count = 0;
}

void port_turn(struct port *port, uint64_t now_ns)
{
	unsigned available;

	link_turn(&port->link, now_ns);
	if (now_ns < port->sample_ns)
		return;
	port->sample_ns = now_ns + SAMPLE_PERIOD_NS;
	available = rte_mempool_avail_count(port->pool);
	if (available < port->counters.mbuf_low)
		port->counters.mbuf_low = available;
}

void port_sleep(struct port *port, uint64_t bound_ns)
{
	/* room to send and the other side's return are told by nobody */
	doze_sleep(&port->doze, bound_ns, port->waiting_count > 0 || !link_usable(&port->link));
}

struct port_losses port_losses(const struct port *port)
{
	struct rte_eth_stats stats;

	if (rte_eth_stats_get(port->id, &stats) < 0)
		return (struct port_losses){0};
	if (port->device.kind == DEVICE_AF_XDP && port->doze.fd >= 0)
		stats.imissed = xdp_losses_of(port->doze.fd).frames; /* the driver's are a part */
	return (struct port_losses){.missed = stats.imissed,
				    .no_mbuf = stats.rx_nombuf,
				    .errors_in = stats.ierrors,
				    .errors_out = stats.oerrors};
}

uint64_t port_fill_empty(const struct port *port)
{
	return port->device.kind == DEVICE_AF_XDP ? xdp_losses_of(port->doze.fd).fill_empty : 0;
}
