#include "apps/common/netif.h"

#include "apps/common/json.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int open_any(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static struct ifreq request_for(const char *name)
{
	struct ifreq request = {0};

	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	return request;
}

static int ask(int fd, const char *name, uint32_t command, uint32_t *value_out)
{
	struct ethtool_value value = {.cmd = command};
	struct ifreq request = request_for(name);

	request.ifr_data = (char *)&value;
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		return -errno;
	*value_out = value.data;
	return 0;
}

/*
 * 0; -EAGAIN if it does not yet carry packets, or another negative errno. The flag IFF_RUNNING
 * would not do: it is set before the kernel has let the queue send. This question makes it do so
 * first (since Linux 6.8).
 */
static int look(int fd, const char *name)
{
	uint32_t linked = 0;
	int code = ask(fd, name, ETHTOOL_GLINK, &linked);

	return code < 0 ? code : linked ? 0 : -EAGAIN;
}

int netif_await_link(const char *name, unsigned timeout_ms, struct tp_error *error)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	int fd = open_any(), code = fd < 0 ? fd : look(fd, name);

	for (unsigned ms = 0; code == -EAGAIN && ms < timeout_ms; ms++) {
		nanosleep(&pause, NULL);
		code = look(fd, name);
	}
	if (fd >= 0)
		close(fd);
	if (code == -EAGAIN)
		return tp_fail(error, -ETIMEDOUT, "the interface %s has no link after %u ms", name,
			       timeout_ms);
	return code < 0 ? tp_fail(error, code, "cannot look at the interface %s: %s", name,
				  strerror(-code))
			: 0;
}

static void add_mtu(json_t *object, int fd, const char *name)
{
	struct ifreq request = request_for(name);

	if (ioctl(fd, SIOCGIFMTU, &request) < 0)
		json_set_unknown(object, "mtu", strerror(errno));
	else
		json_object_set_new(object, "mtu", json_integer(request.ifr_mtu));
}

static void add_offload(json_t *object, int fd, const char *name, const char *key, uint32_t command)
{
	uint32_t value = 0;
	int code = ask(fd, name, command, &value);

	if (code < 0)
		json_set_unknown(object, key, strerror(-code));
	else
		json_object_set_new(object, key, json_boolean(value != 0));
}

void netif_add_facts(json_t *object, const char *name)
{
	static const struct {
		const char *key;
		uint32_t command;
	} rows[] = {
		{"tso", ETHTOOL_GTSO},
		{"gso", ETHTOOL_GGSO},
		{"gro", ETHTOOL_GGRO},
		{"tx_checksum", ETHTOOL_GTXCSUM},
		{"rx_checksum", ETHTOOL_GRXCSUM},
	};
	json_t *offloads = json_object();
	int fd = open_any();

	add_mtu(object, fd, name);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_offload(offloads, fd, name, rows[i].key, rows[i].command);
	json_object_set_new(object, "offloads", offloads);
	if (fd >= 0)
		close(fd);
}
