#include "apps/common/address.h"

#include "dataplane/core/units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Splits at the last `separator` and reads the address before it; what follows it, or NULL. */
static const char *parse_ip(const char *text, char separator, uint32_t *ip_out)
{
	const char *at = strrchr(text, separator);
	char ip[INET_ADDRSTRLEN];
	struct in_addr parsed;

	if (!at || (size_t)(at - text) >= sizeof(ip))
		return NULL;
	memcpy(ip, text, (size_t)(at - text));
	ip[at - text] = '\0';
	if (inet_pton(AF_INET, ip, &parsed) != 1)
		return NULL;
	*ip_out = ntohl(parsed.s_addr);
	return at + 1;
}

/* Multicast (RFC 5771) and the limited broadcast (RFC 919): TCP connects to one host. */
static bool is_many(uint32_t ip)
{
	return ip >> 28 == 14 || ip == UINT32_MAX;
}

static int parse_port(const char *text, uint16_t *port_out)
{
	uint64_t port;

	if (units_parse_count(text, UINT16_MAX, &port) < 0 || port == 0)
		return -EINVAL;
	*port_out = (uint16_t)port;
	return 0;
}

static int parse_ip4(const char *text, struct tp_addr *addr)
{
	const char *rest = parse_ip(text, ':', &addr->ip);

	return !rest || is_many(addr->ip) ? -EINVAL : parse_port(rest, &addr->port);
}

/* "[IP6]:PORT" or "[IP6%INTERFACE]:PORT"; a link-local address means nothing without the latter. */
static int parse_ip6(const char *text, struct tp_addr *addr)
{
	size_t inside = strcspn(text + 1, "]"), ip_bytes = strcspn(text + 1, "%]");
	char ip[INET6_ADDRSTRLEN], interface[IF_NAMESIZE] = "";

	if (text[1 + inside] != ']' || text[2 + inside] != ':' || ip_bytes >= sizeof(ip) ||
	    inside - ip_bytes > sizeof(interface))
		return -EINVAL;
	snprintf(ip, sizeof(ip), "%.*s", (int)ip_bytes, text + 1);
	if (inet_pton(AF_INET6, ip, addr->ip6) != 1 || addr->ip6[0] == 0xFF)
		return -EINVAL;
	if (inside > ip_bytes) {
		snprintf(interface, sizeof(interface), "%.*s", (int)(inside - ip_bytes - 1),
			 text + 2 + ip_bytes);
		addr->interface = if_nametoindex(interface);
	}
	if ((inside > ip_bytes || IN6_IS_ADDR_LINKLOCAL((struct in6_addr *)addr->ip6)) &&
	    addr->interface == 0)
		return -EINVAL;
	return parse_port(text + 3 + inside, &addr->port);
}

static int parse_unix(const char *path, struct tp_addr *addr)
{
	if (path[0] != '/' || strlen(path) >= sizeof(addr->path))
		return -EINVAL;
	strcpy(addr->path, path);
	return 0;
}

int address_parse_endpoint(const char *text, struct tp_addr *addr_out)
{
	static const char mark[] = "unix:";
	size_t mark_bytes = sizeof(mark) - 1;
	struct tp_addr addr = {.family = TP_IPV4};
	int code;

	if (strncmp(text, mark, mark_bytes) == 0) {
		addr.family = TP_UNIX;
		code = parse_unix(text + mark_bytes, &addr);
	} else if (text[0] == '[') {
		addr.family = TP_IPV6;
		code = parse_ip6(text, &addr);
	} else {
		code = parse_ip4(text, &addr);
	}
	if (code == 0)
		*addr_out = addr;
	return code;
}

/*
 * Whether an address can be a host's in its subnet; /31 and /32 have neither network nor
 * broadcast address (RFC 3021).
 */
static bool is_host(uint32_t ip, unsigned prefix_bits)
{
	uint32_t host_mask = prefix_bits < 32 ? UINT32_MAX >> prefix_bits : 0;

	return ip != 0 && !is_many(ip) &&
	       (prefix_bits >= 31 || ((ip & host_mask) != 0 && (~ip & host_mask) != 0));
}

int address_parse_subnet(const char *text, struct subnet *subnet_out)
{
	uint64_t prefix_bits;
	uint32_t ip;
	const char *rest = parse_ip(text, '/', &ip);

	if (!rest || units_parse_count(rest, 32, &prefix_bits) < 0 || prefix_bits == 0 ||
	    !is_host(ip, (unsigned)prefix_bits))
		return -EINVAL;
	*subnet_out = (struct subnet){.ip = ip, .prefix_bits = (uint8_t)prefix_bits};
	return 0;
}
