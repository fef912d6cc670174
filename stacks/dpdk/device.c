#include "stacks/dpdk/device.h"

#include "dataplane/core/nearest.h"
#include "stacks/dpdk/eal.h"
#include "stacks/dpdk/memif.h"
#include "stacks/dpdk/xdp.h"

#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * memif's ring is 2 to the power of MEMIF_RSIZE descriptors each way; a buffer takes a frame of
 * MEMIF_MTU in one piece.
 */
enum {
	MEMIF_RSIZE = 7,
	MEMIF_BUFFER_BYTES = 9216,
	MEMIF_MTU = 9000,
	AF_XDP_BUFFERS = 2048, /* that the driver lends to the kernel */
	AF_XDP_MTU = 1500,     /* a frame is at most POOL_LENT_FRAME */
};

const struct device_traits device_traits[DEVICE_KIND_COUNT] = {
	[DEVICE_MEMIF] = {.name = "memif",
			  .target = "PATH",
			  .driver = "net_memif",
			  .package = "librte-net-memif23",
			  .rx_descriptors = 1 << MEMIF_RSIZE,
			  .tx_descriptors = 1 << MEMIF_RSIZE,
			  .mtu = MEMIF_MTU,
			  .has_link = true,
			  .has_gate = true,
			  .copies = true},
	/* the tap driver reads one frame into a chain of rx_descriptors mbufs: few are enough */
	[DEVICE_TAP] = {.name = "tap",
			.target = "NAME",
			.driver = "net_tap",
			.package = "librte-net-tap23",
			.rx_descriptors = 16,
			.tx_descriptors = 256,
			.interrupts = true},
	[DEVICE_AF_PACKET] = {.name = "af_packet",
			      .target = "INTERFACE",
			      .driver = "net_af_packet",
			      .package = "librte-net-af-packet23",
			      .rx_descriptors = 512,
			      .tx_descriptors = 512,
			      .own_mac = true,
			      .copies = true},
	[DEVICE_AF_XDP] = {.name = "af_xdp",
			   .target = "INTERFACE",
			   .driver = "net_af_xdp",
			   .package = "librte-net-af-xdp23",
			   .rx_descriptors = AF_XDP_BUFFERS,
			   .tx_descriptors = 512,
			   .mtu = AF_XDP_MTU,
			   .own_mac = true,
			   .lends_pool = true},
	[DEVICE_RING] = {.name = "ring",
			 .driver = "net_ring",
			 .package = "librte-net-ring23",
			 .rx_descriptors = 1024,
			 .tx_descriptors = 1024,
			 .mtu = MEMIF_MTU,
			 .has_link = true},
};

static int fail_kind(const char *text, struct tp_error *error)
{
	const char *names[DEVICE_KIND_COUNT];
	char name[16], ask[NEAREST_TEXT];

	if (text[0] == '\0')
		return tp_fail(error, -EINVAL,
			       "dpdk needs a device: memif:PATH, tap:NAME, af_packet:INTERFACE, "
			       "af_xdp:INTERFACE or ring, e.g. dpdk@memif:/run/weir.sock");
	for (unsigned i = 0; i < DEVICE_KIND_COUNT; i++)
		names[i] = device_traits[i].name;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":"), text);
	return tp_fail(error, -EINVAL,
		       "unknown dpdk device '%s'; %sthere are memif:PATH, tap:NAME, "
		       "af_packet:INTERFACE, af_xdp:INTERFACE and ring",
		       text, nearest_ask(name, names, DEVICE_KIND_COUNT, "", ask));
}

/* A path that can stand in a vdev's arguments and in a socket's address. */
static int check_path(const char *path, struct tp_error *error)
{
	if (strlen(path) >= DEVICE_TARGET_MAX)
		return tp_fail(
			error, -EINVAL,
			"the memif socket's path has %zu bytes, a socket's path at most %d: '%s'",
			strlen(path), DEVICE_TARGET_MAX - 1, path);
	for (const char *at = path; *at; at++)
		if (strchr(",[]\"'= ", *at) || !isprint((unsigned char)*at))
			return tp_fail(
				error, -EINVAL,
				"the memif socket's path '%s' has a character that DPDK's device "
				"arguments cannot carry: use letters, digits, '/', '.', '-' and "
				"'_'",
				path);
	return 0;
}

static int check_interface_name(const char *kind, const char *name, struct tp_error *error)
{
	size_t bytes = strlen(name);
	bool good = bytes < IFNAMSIZ && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;

	for (const char *at = name; *at && good; at++)
		good = isalnum((unsigned char)*at) || strchr("._-", *at);
	if (good)
		return 0;
	return tp_fail(error, -EINVAL,
		       "'%s' is no interface name for %s: 1 to %d letters, digits, '.', '-' or '_'",
		       name, kind, IFNAMSIZ - 1);
}

static int check_target(const struct device_traits *traits, enum device_kind kind,
			const char *target, struct tp_error *error)
{
	if (!traits->target)
		return target ? tp_fail(error, -EINVAL,
					"the device '%s' takes nothing after it, not ':%s'",
					traits->name, target)
			      : 0;
	if (!target || target[0] == '\0')
		return tp_fail(error, -EINVAL, "the device '%s' needs %s: %s:%s", traits->name,
			       traits->target, traits->name, traits->target);
	return kind == DEVICE_MEMIF ? check_path(target, error)
				    : check_interface_name(traits->name, target, error);
}

int device_parse(const char *text, bool server, struct device *device_out, struct tp_error *error)
{
	size_t kind_bytes = strcspn(text, ":");
	const char *target = text[kind_bytes] ? text + kind_bytes + 1 : NULL;

	for (unsigned i = 0; i < DEVICE_KIND_COUNT; i++) {
		const struct device_traits *traits = &device_traits[i];
		int failure;

		if (strlen(traits->name) != kind_bytes ||
		    memcmp(traits->name, text, kind_bytes) != 0)
			continue;
		failure = check_target(traits, i, target, error);
		if (failure)
			return failure;
		*device_out = (struct device){.kind = i, .server = server};
		snprintf(device_out->target, sizeof(device_out->target), "%s",
			 target ? target : "");
		return 0;
	}
	return fail_kind(text, error);
}

static bool uses_interface(const struct device *device)
{
	return device->kind == DEVICE_AF_PACKET || device->kind == DEVICE_AF_XDP;
}

int device_check(const struct device *device, struct tp_error *error)
{
	const char *target = device->target;

	if (device->kind == DEVICE_MEMIF)
		return device->server ? memif_claim(target, error) : memif_await(target, error);
	if (device->kind == DEVICE_TAP && if_nametoindex(target) != 0)
		return tp_fail(
			error, -EADDRINUSE,
			"an interface named '%s' exists already, and tap:%s would make one: choose "
			"another name (`ip link` lists them), or af_packet:%s to use it",
			target, target, target);
	if (uses_interface(device) && if_nametoindex(target) == 0)
		return tp_fail(error, -ENODEV,
			       "there is no interface '%s' here: `ip link` lists them", target);
	return 0;
}

static void print_arguments(const struct device *device, char *text, size_t room)
{
	switch (device->kind) {
	case DEVICE_MEMIF:
		snprintf(text, room, "role=%s,socket=%s,socket-abstract=no,rsize=%d,bsize=%d",
			 device->server ? "server" : "client", device->target, MEMIF_RSIZE,
			 MEMIF_BUFFER_BYTES);
		return;
	case DEVICE_TAP:
		snprintf(text, room, "iface=%s", device->target);
		return;
	case DEVICE_AF_PACKET:
		snprintf(text, room, "iface=%s,qpairs=1,blocksz=65536,framesz=2048,framecnt=512",
			 device->target);
		return;
	case DEVICE_AF_XDP:
		/* with busy polling each empty burst would be a system call */
		snprintf(text, room,
			 "iface=%s,start_queue=0,queue_count=1,force_copy=1,busy_budget=0",
			 device->target);
		return;
	case DEVICE_RING:
	case DEVICE_KIND_COUNT:
		text[0] = '\0';
	}
}

int device_attach(const struct device *device, char *name, uint16_t *port_out,
		  struct tp_error *error)
{
	static unsigned number;
	const struct device_traits *traits = &device_traits[device->kind];
	char arguments[256];
	int failure;

	snprintf(name, RTE_DEV_NAME_MAX_LEN, "%s%u", traits->driver, number++);
	print_arguments(device, arguments, sizeof(arguments));
	if (device->kind == DEVICE_AF_XDP)
		xdp_prepare();
	eal_forget();
	failure = rte_eal_hotplug_add("vdev", name, arguments);
	if (!failure)
		failure = rte_eth_dev_get_port_by_name(name, port_out);
	if (!failure)
		return 0;
	if (device->kind == DEVICE_MEMIF && device->server && access(device->target, F_OK) == 0)
		return memif_fail_taken(device->target, error);
	return tp_fail(
		error, failure,
		"DPDK cannot make the device %s:%s (%s)%s%s; if its driver is missing, install the "
		"package %s",
		traits->name, device->target, strerror(-failure), eal_words()[0] ? ": " : "",
		eal_words(), traits->package);
}
