#include "stacks/dpdk/dpdk.h"

#include "dataplane/core/bytes.h"
#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "stacks/dpdk/eal.h"
#include "stacks/dpdk/instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PREFIX_BITS_MAX = 30,	/* longer subnets have no room for a peer */
	PREFIX6_BITS_MAX = 127, /* likewise of IPv6 (RFC 6164) */
	CLOSE_FRAMES_MAX = 65536,
};

enum {
	OPTION_NAP,
	OPTION_CONGESTION,
	OPTION_ECN,
	OPTION_RTO_MIN,
	OPTION_ACK_DELAY,
	OPTION_SACK,
	OPTION_TIMESTAMPS,
	OPTION_KEEPALIVE,
	OPTION_USER_TIMEOUT,
	OPTION_SYN_CACHE,
	OPTION_COUNT
};

/* Longest time that connect waits for a link that is down, nanoseconds. */
#define LINK_WAIT_NS (2000ull * 1000 * 1000)

/* What needs no device to be seen as wrong. */
static int check_config(const struct tp_config *config, struct tp_error *error)
{
	if (config->workers > 1)
		return tp_fail(error, -EINVAL,
			       "dpdk works with one worker, not %u: a device has one queue pair in "
			       "this version",
			       config->workers);
	if (config->address.ip != 0 ? config->prefix_bits == 0 : config->prefix6_bits == 0)
		return tp_fail(
			error, -EINVAL,
			"dpdk brings its own IP and needs an address: `--address IP/LEN`, e.g. "
			"`--address 10.10.0.1/24` or `--address 10.10.0.1/24,fd77::1/64`");
	if (config->address.ip != 0 && config->prefix_bits > PREFIX_BITS_MAX)
		return tp_fail(error, -EINVAL, "a subnet of /%u has no room for a peer: 1 to %d",
			       config->prefix_bits, PREFIX_BITS_MAX);
	if (config->prefix6_bits > PREFIX6_BITS_MAX)
		return tp_fail(error, -EINVAL, "a subnet of /%u has no room for a peer: 1 to %d",
			       config->prefix6_bits, PREFIX6_BITS_MAX);
	return 0;
}

/* A locally administered address that is unique where the IP is: 02:77, then the IP, or the last of
 * IPv6's. */
static void derive_mac(const struct tp_config *config, uint8_t mac[6])
{
	uint32_t ip = config->address.ip;

	if (ip == 0)
		ip = bytes_get_be32(config->address6.ip6 + 12);
	mac[0] = 0x02;
	mac[1] = 0x77;
	bytes_put_be32(mac + 2, ip);
}

/* In utcp's words. */
static struct utcp_addr addr_of(const struct tp_addr *addr)
{
	return addr->family == TP_IPV6 ? addr_of_ip6(addr->ip6) : addr_of_ip4(addr->ip);
}

static int make_utcp(struct dpdk *dpdk, const struct tp_config *config, struct tp_error *error)
{
	struct utcp_config made = {
		.ip = config->address.ip,
		.prefix_bits = config->prefix_bits,
		.prefix6_bits = config->prefix6_bits,
		.mtu = dpdk->port->mtu,
		.conn_max = config->limits.conn_max,
		.recv_bytes = config->limits.recv_bytes,
		.send_bytes = config->limits.send_bytes,
		.congestion =
			(enum utcp_congestion)tp_option_of(&dpdk_ops, config, OPTION_CONGESTION),
		.ecn = tp_option_of(&dpdk_ops, config, OPTION_ECN) != 0,
		.rto_min_ns = tp_option_of(&dpdk_ops, config, OPTION_RTO_MIN),
		.ack_delay_ns = tp_option_of(&dpdk_ops, config, OPTION_ACK_DELAY),
		.sack_off = !tp_option_of(&dpdk_ops, config, OPTION_SACK),
		.timestamps_off = !tp_option_of(&dpdk_ops, config, OPTION_TIMESTAMPS),
		.keepalive_ns = tp_option_of(&dpdk_ops, config, OPTION_KEEPALIVE),
		.syn_max = (uint32_t)tp_option_of(&dpdk_ops, config, OPTION_SYN_CACHE),
		.user_timeout_ns = tp_option_of(&dpdk_ops, config, OPTION_USER_TIMEOUT),
	};
	int failure;

	if (config->prefix6_bits > 0)
		made.ip6 = addr_of_ip6(config->address6.ip6);
	if (device_traits[dpdk->port->device.kind].own_mac)
		memcpy(made.mac, dpdk->port->mac, sizeof(made.mac));
	else
		derive_mac(config, made.mac);
	if (config->secret)
		memcpy(made.secret, config->secret, sizeof(made.secret));
	failure = utcp_create(&made, clock_now_ns(), &dpdk->utcp);
	if (failure)
		return tp_fail(error, failure,
			       "TCP cannot be set up for %u connections with %u + %u bytes each, "
			       "MTU %u: %s",
			       made.conn_max, made.recv_bytes, made.send_bytes, made.mtu,
			       strerror(-failure));
	CHECK(utcp_frame_max(dpdk->utcp) <= PORT_FRAME_MAX);
	return 0;
}

static void free_instance(struct dpdk *dpdk)
{
	slab_destroy(&dpdk->rests);
	free(dpdk->conns);
	free(dpdk->port);
	free(dpdk);
}

static struct dpdk *allocate_instance(const struct tp_limits *limits)
{
	struct dpdk *dpdk = calloc(1, sizeof(*dpdk));

	if (!dpdk)
		return NULL;
	dpdk->port = calloc(1, sizeof(*dpdk->port));
	dpdk->conns = calloc(limits->conn_max, sizeof(*dpdk->conns));
	dpdk->conn_max = limits->conn_max;
	if (dpdk->port && dpdk->conns &&
	    slab_create(&dpdk->rests, limits->conn_max, limits->recv_bytes) == 0)
		return dpdk;
	free_instance(dpdk);
	return NULL;
}

static int open_parts(struct dpdk *dpdk, const struct tp_config *config,
		      const struct device *device, struct tp_error *error)
{
	int failure =
		port_open(dpdk->port, device, tp_option_of(&dpdk_ops, config, OPTION_NAP), error);

	if (failure)
		return failure;
	failure = make_utcp(dpdk, config, error);
	if (failure)
		port_close(dpdk->port);
	return failure;
}

static int dpdk_open(const struct tp_config *config, struct tp **tp_out, struct tp_error *error)
{
	struct device device;
	struct dpdk *dpdk;
	int failure =
		device_parse(config->device ? config->device : "", config->server, &device, error);

	if (!failure)
		failure = check_config(config, error);
	if (!failure)
		failure = eal_start(config->hugepages, config->cpu, error);
	if (failure)
		return failure;
	dpdk = allocate_instance(&config->limits);
	if (!dpdk)
		return tp_fail(error, -ENOMEM, "no memory for %u connections",
			       config->limits.conn_max);
	failure = open_parts(dpdk, config, &device, error);
	if (failure) {
		free_instance(dpdk);
		return failure;
	}
	dpdk->base.ops = &dpdk_ops;
	if (config->address.ip != 0)
		dpdk->own[TP_IPV4] = addr_of_ip4(config->address.ip);
	if (config->prefix6_bits > 0)
		dpdk->own[TP_IPV6] = addr_of_ip6(config->address6.ip6);
	dpdk->now_ns = clock_now_ns();
	list_init(&dpdk->dirty);
	list_init(&dpdk->ending);
	for (uint32_t i = 0; i < dpdk->conn_max; i++) {
		list_init(&dpdk->conns[i].dirty);
		list_init(&dpdk->conns[i].ending);
	}
	*tp_out = &dpdk->base;
	return 0;
}

/* Whether this stack has the family, and this instance an address of it. */
static int check_family(const struct dpdk *dpdk, const struct tp_addr *addr, struct tp_error *error)
{
	char text[TP_ADDR_TEXT];
	int failure = tp_family_check(&dpdk_ops, addr, error);

	if (failure || !addr_is_none(&dpdk->own[addr->family]))
		return failure;
	return tp_fail(error, -EAFNOSUPPORT,
		       "%s: this stack was given no %s address; add one to its `--address`",
		       tp_addr_print(addr, text), tp_family_name(addr->family));
}

static bool is_any(const struct tp_addr *addr)
{
	static const uint8_t any[sizeof(addr->ip6)];

	return addr->family == TP_IPV6 ? memcmp(addr->ip6, any, sizeof(any)) == 0 : addr->ip == 0;
}

static int dpdk_listen(struct tp *tp, const struct tp_addr *addr, struct tp_error *error)
{
	struct dpdk *dpdk = dpdk_of(tp);
	struct utcp_addr at = addr_of(addr);
	char text[TP_ADDR_TEXT];
	int failure = check_family(dpdk, addr, error);

	if (failure)
		return failure;
	if (!is_any(addr) && !addr_equal(&at, &dpdk->own[addr->family]))
		return tp_fail(error, -EADDRNOTAVAIL,
			       "cannot listen on %s: that is not this stack's address; listen on "
			       "its `--address`",
			       tp_addr_print(addr, text));
	failure = utcp_listen(dpdk->utcp, addr->port);
	if (failure)
		return tp_fail(error, failure, "cannot listen on port %u: %s", addr->port,
			       strerror(-failure));
	return 0;
}

/* A memif client whose server went away looks for it again; others wait a moment. */
static int find_link(struct dpdk *dpdk, struct tp_error *error)
{
	const struct device *device = &dpdk->port->device;
	bool restarts = device->kind == DEVICE_MEMIF && !device->server;

	if (link_usable(&dpdk->port->link))
		return 0;
	if (dpdk->port->link.gone)
		return tp_fail(error, -ENODEV, "the %s of %s:%s was removed", dpdk->port->link.gone,
			       device_traits[device->kind].name, device->target);
	if (restarts && dpdk->port->link.state == LINK_DOWN
		    ? port_restart(dpdk->port, LINK_WAIT_NS)
		    : link_wait(&dpdk->port->link, LINK_WAIT_NS))
		return 0;
	return tp_fail(error, -ENETDOWN, "the link %s:%s is down: nobody is at its other end",
		       device_traits[device->kind].name, device->target);
}

static int dpdk_connect(struct tp *tp, const struct tp_addr *addr, void *user,
			struct tp_conn **conn_out, struct tp_error *error)
{
	struct dpdk *dpdk = dpdk_of(tp);
	struct utcp_conn *handle;
	struct dpdk_conn *conn;
	char text[TP_ADDR_TEXT];
	int failure = check_family(dpdk, addr, error);

	if (!failure)
		failure = find_link(dpdk, error);
	if (failure)
		return failure;
	dpdk->now_ns = clock_now_ns();
	dpdk_note_link(dpdk, dpdk->now_ns);
	failure = utcp_connect(dpdk->utcp, addr_of(addr), addr->port, dpdk->now_ns, &handle);
	if (failure)
		return tp_fail(
			error, failure, "cannot connect to %s: %s", tp_addr_print(addr, text),
			failure == -ENETUNREACH ? "it is our own address or outside our subnet"
						: strerror(-failure));
	dpdk_conn_begin(dpdk, handle, user);
	conn = dpdk_conn_at(dpdk, handle);
	*conn_out = &conn->base;
	return 0;
}

/* Resets what is open, as far as the link takes it. */
static void reset_all(struct dpdk *dpdk)
{
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; i < dpdk->conn_max; i++)
		if (dpdk->conns[i].open)
			utcp_abort(dpdk->utcp, dpdk->conns[i].handle);
	port_turn(dpdk->port, now_ns);
	if (!link_usable(&dpdk->port->link))
		return;
	dpdk_output(dpdk, now_ns, CLOSE_FRAMES_MAX);
	port_send(dpdk->port);
}

static void dpdk_close(struct tp *tp)
{
	struct dpdk *dpdk = dpdk_of(tp);

	reset_all(dpdk);
	port_close(dpdk->port);
	utcp_destroy(dpdk->utcp);
	for (uint32_t i = 0; i < dpdk->conn_max; i++)
		dpdk_conn_clear(dpdk, &dpdk->conns[i]);
	free_instance(dpdk);
}

/* By enum utcp_congestion. */
static const char *const congestion_names[UTCP_CONGESTION_COUNT + 1] = {
	[UTCP_NEWRENO] = "newreno",
	[UTCP_CUBIC] = "cubic",
	[UTCP_DCTCP] = "dctcp",
};

static const struct tp_option options[OPTION_COUNT] = {
	[OPTION_NAP] = {.name = "nap",
			.kind = TP_OPTION_DURATION,
			.initial = 50 * 1000,
			.min = 1000,
			.max = CLOCK_MS_NS,
			.about = "longest sleep on a device that cannot tell of a frame"},
	[OPTION_CONGESTION] = {.name = "congestion",
			       .kind = TP_OPTION_CHOICE,
			       .initial = UTCP_CUBIC,
			       .choices = congestion_names,
			       .about = "how TCP's congestion window grows and is cut"},
	[OPTION_ECN] = {.name = "ecn",
			.kind = TP_OPTION_SWITCH,
			.about = "let the network mark segments instead of dropping them; dctcp "
				 "always does"},
	[OPTION_RTO_MIN] = {.name = "rto-min",
			    .kind = TP_OPTION_DURATION,
			    .initial = 200 * CLOCK_MS_NS,
			    .min = CLOCK_MS_NS,
			    .max = CLOCK_SECOND_NS,
			    .about = "least time before TCP sends again what was not acknowledged"},
	[OPTION_ACK_DELAY] = {.name = "ack-delay",
			      .kind = TP_OPTION_DURATION,
			      .initial = CLOCK_MS_NS,
			      .min = 100 * 1000,
			      .max = 500 * CLOCK_MS_NS,
			      .about = "longest time that an ACK waits for data to ride on"},
	[OPTION_SACK] = {.name = "sack",
			 .kind = TP_OPTION_SWITCH,
			 .initial = 1,
			 .about = "whether TCP's ACKs tell what came out of order"},
	[OPTION_TIMESTAMPS] = {.name = "timestamps",
			       .kind = TP_OPTION_SWITCH,
			       .initial = 1,
			       .about = "whether TCP's segments carry timestamps"},
	[OPTION_KEEPALIVE] = {.name = "keepalive",
			      .kind = TP_OPTION_DURATION,
			      .min = CLOCK_SECOND_NS,
			      .max = 24 * 3600 * CLOCK_SECOND_NS,
			      .word = "off",
			      .about = "after how long an idle peer is asked whether it is there"},
	[OPTION_SYN_CACHE] = {.name = "syn-cache",
			      .kind = TP_OPTION_COUNT,
			      .initial = 1024,
			      .min = 1,
			      .max = 1 << 20,
			      .about = "calls kept in their handshake; the others get SYN cookies"},
	[OPTION_USER_TIMEOUT] = {.name = "user-timeout",
				 .kind = TP_OPTION_DURATION,
				 .initial =
					 300 * CLOCK_SECOND_NS, /* RFC 9293 3.9.1.1: five minutes */
				 .min = CLOCK_SECOND_NS,
				 .max = 24 * 3600 * CLOCK_SECOND_NS,
				 .word = "off",
				 .about = "how long a peer may leave data of ours untaken"},
};

const struct tp_ops dpdk_ops = {
	.name = "dpdk",
	.capabilities = TP_CAN_BLOCK | TP_NEEDS_HUGEPAGES | TP_REFUSAL_IS_KNOWN,
	.families = 1 << TP_IPV4 | 1 << TP_IPV6,
	.counters_known =
		TP_KNOWS(polls) | TP_KNOWS(empty_polls) | TP_KNOWS(waits) | TP_KNOWS(wait_ns) |
		TP_KNOWS(wakeups) | TP_KNOWS(accepted) | TP_KNOWS(accepts_refused) |
		TP_KNOWS(connected) | TP_KNOWS(closed) | TP_KNOWS(writes) |
		TP_KNOWS(written_bytes) | TP_KNOWS(largest_write_bytes) | TP_KNOWS(received_bytes) |
		TP_KNOWS(copied_bytes) | TP_KNOWS(reserves_refused) | TP_KNOWS(segments_out) |
		TP_KNOWS(segments_in) | TP_KNOWS(segments_resent) | TP_KNOWS(bursts_out) |
		TP_KNOWS(bursts_in) | TP_KNOWS(drops_in) | TP_KNOWS(drops_out),
	.options = options,
	.option_count = OPTION_COUNT,
	.open = dpdk_open,
	.listen = dpdk_listen,
	.connect = dpdk_connect,
	.close = dpdk_close,
	.poll = dpdk_poll,
	.peek = dpdk_peek,
	.consume = dpdk_consume,
	.reserve = dpdk_reserve,
	.commit = dpdk_commit,
	.flush = dpdk_flush,
	.finish = dpdk_finish,
	.abort = dpdk_abort,
	.counters = dpdk_counters,
	.details = dpdk_details,
};
