#include "apps/common/device.h"

#include "dataplane/core/program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "dpdk-";

/* Behind ':', or NULL if the device is of another kind. */
static const char *target_of(const char *device, const char *kind)
{
	size_t bytes = strlen(kind);

	return strncmp(device, kind, bytes) == 0 && device[bytes] == ':' ? device + bytes + 1
									 : NULL;
}

static const char *interface_of(const char *device)
{
	static const char *const kinds[] = {"tap", "af_packet", "af_xdp"};
	const char *name = NULL;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !name; i++)
		name = target_of(device, kinds[i]);
	return name;
}

/* FNV-1a: a path is too long for a claim's name. */
static uint64_t hash(uint64_t value, const char *text)
{
	for (; *text; text++)
		value = (value ^ (uint8_t)*text) * 0x100000001B3ull;
	return value;
}

/* The same number for one socket by whatever way it is named, whether it is there yet or not. */
static uint64_t hash_socket(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".", real[PATH_MAX];
	uint64_t value = 0xCBF29CE484222325ull;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s/", (int)(slash - path), path);
	value = hash(value, realpath(folder, real) ? real : folder);
	return hash(hash(value, "/"), slash ? slash + 1 : path);
}

/* The own address that a claim is named by: of IPv4, if there is one. */
static const char *print_ip(const struct stack_options *options, char text[INET6_ADDRSTRLEN])
{
	struct in_addr ip_be = {htonl(options->address.ip)};

	if (options->address.ip)
		inet_ntop(AF_INET, &ip_be, text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, options->address.ip6, text, INET6_ADDRSTRLEN);
	return text;
}

/* Interfaces have a name in each network namespace. */
static unsigned long namespace_number(void)
{
	struct stat about;

	return stat("/proc/thread-self/ns/net", &about) == 0 ? (unsigned long)about.st_ino : 0;
}

/* What is claimed, "" if nothing is; and in words, for messages. */
static void name_claim(const struct stack_options *options, char name[CLAIM_NAME_BYTES],
		       char *words, size_t words_bytes)
{
	const char *interface = interface_of(options->device);
	const char *path = target_of(options->device, "memif");
	char ip[INET6_ADDRSTRLEN];

	name[0] = '\0';
	if (strcmp(options->stack->name, "dpdk") != 0)
		return;
	if (interface) {
		snprintf(name, CLAIM_NAME_BYTES, "%s%lu-%.20s", prefix, namespace_number(),
			 interface);
		snprintf(words, words_bytes, "the interface %.20s", interface);
	} else if (path && (options->address.ip || options->address.prefix6_bits)) {
		print_ip(options, ip);
		snprintf(name, CLAIM_NAME_BYTES, "%s%016llx-%.39s", prefix,
			 (unsigned long long)hash_socket(path), ip);
		snprintf(words, words_bytes, "the own address %s on the memif link %.110s", ip,
			 path);
	}
}

/* Whether this is one of the own addresses. */
static bool is_own(const struct subnet *own, const struct sockaddr *address)
{
	const struct sockaddr_in *ip4 = (const void *)address;
	const struct sockaddr_in6 *ip6 = (const void *)address;

	if (address->sa_family == AF_INET)
		return own->ip && ntohl(ip4->sin_addr.s_addr) == own->ip;
	return address->sa_family == AF_INET6 && own->prefix6_bits &&
	       memcmp(&ip6->sin6_addr, own->ip6, sizeof(own->ip6)) == 0;
}

/* Whether the kernel has one of them in this namespace, in words, and where. */
static bool kernel_has(const struct subnet *own, char ip_out[INET6_ADDRSTRLEN],
		       char name_out[IF_NAMESIZE])
{
	struct ifaddrs *list = NULL;
	bool found = false;

	if (getifaddrs(&list) < 0)
		return false;
	for (const struct ifaddrs *one = list; one && !found; one = one->ifa_next) {
		if (!one->ifa_addr || !is_own(own, one->ifa_addr))
			continue;
		getnameinfo(one->ifa_addr,
			    one->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
								: sizeof(struct sockaddr_in6),
			    ip_out, INET6_ADDRSTRLEN, NULL, 0, NI_NUMERICHOST);
		snprintf(name_out, IF_NAMESIZE, "%.15s", one->ifa_name);
		found = true;
	}
	freeifaddrs(list);
	return found;
}

static int check_kernel(const struct stack_options *options, struct tp_error *error)
{
	char name[IF_NAMESIZE], ip[INET6_ADDRSTRLEN] = "?";

	if (!interface_of(options->device) || !kernel_has(&options->address, ip, name))
		return 0;
	return tp_fail(error, -EADDRINUSE,
		       "the own address %s is the kernel's on %s, and both would answer: take "
		       "another, or `ip address del` it there",
		       ip, name);
}

static int refuse(const char *name, const char *words, struct tp_error *error)
{
	struct claim claim = claim_look(CLAIM_FOLDER, name);
	char program[PROGRAM_NAME];

	return tp_fail(error, -EBUSY, "%s is in use by %s (pid %d): stop that or take another",
		       words, program_name(claim.pid, program), (int)claim.pid);
}

int device_take(struct device_claim *claim_out, const struct stack_options *options,
		struct tp_error *error)
{
	char name[CLAIM_NAME_BYTES], words[200];
	int lock, fd, code;

	name_claim(options, name, words, sizeof(words));
	*claim_out = (struct device_claim){.fd = -1};
	if (!name[0])
		return 0;
	code = check_kernel(options, error);
	if (code < 0 || geteuid() != 0)
		return code;
	lock = claim_lock(CLAIM_FOLDER, error);
	if (lock < 0)
		return lock;
	fd = claim_take(CLAIM_FOLDER, name, error);
	close(lock);
	if (fd == -EBUSY)
		return refuse(name, words, error);
	if (fd < 0)
		return fd;
	memcpy(claim_out->name, name, sizeof(name));
	claim_out->fd = fd;
	return 0;
}

void device_drop(struct device_claim *claim)
{
	struct tp_error ignored;
	int lock;

	if (claim->fd < 0)
		return;
	lock = claim_lock(CLAIM_FOLDER, &ignored);
	if (lock < 0) {
		close(claim->fd); /* the file stays, stale */
	} else {
		claim_drop(CLAIM_FOLDER, claim->name, claim->fd);
		close(lock);
	}
	claim->fd = -1;
}

unsigned device_list_stale(struct claim list_out[DEVICE_LIST_MAX])
{
	unsigned all = claim_list(CLAIM_FOLDER, prefix, list_out, DEVICE_LIST_MAX), stale = 0;

	for (unsigned i = 0; i < all; i++)
		if (list_out[i].state == CLAIM_STALE)
			list_out[stale++] = list_out[i];
	return stale;
}

void device_sweep(void)
{
	struct claim list[DEVICE_LIST_MAX];
	struct tp_error ignored;
	unsigned count;
	int lock;

	if (geteuid() != 0 || device_list_stale(list) == 0)
		return;
	lock = claim_lock(CLAIM_FOLDER, &ignored);
	if (lock < 0)
		return;
	count = device_list_stale(list);
	for (unsigned i = 0; i < count; i++)
		claim_remove(CLAIM_FOLDER, list[i].name);
	close(lock);
}
