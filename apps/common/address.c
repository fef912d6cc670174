#include "apps/common/address.h"

#include "dataplane/core/units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	IP6_PREFIX_MAX = 127, /* a longer one has no room for a peer */
	SUBNET_TEXT = INET6_ADDRSTRLEN + 4,
};

/*
 * Whether an address can be a host's in its subnet; /31 and /32 have neither network nor
 * broadcast address (RFC 3021).
 */
static bool is_host(uint32_t ip, unsigned prefix_bits)
{
	uint32_t host_mask = prefix_bits < 32 ? UINT32_MAX >> prefix_bits : 0;

	return ip != 0 && !tp_ip_is_many(ip) &&
	       (prefix_bits >= 31 || ((ip & host_mask) != 0 && (~ip & host_mask) != 0));
}

static int parse_ip4(const char *text, struct subnet *subnet)
{
	uint64_t prefix_bits;
	uint32_t ip;
	const char *rest = tp_ip_parse(text, '/', &ip);

	if (!rest || units_parse_count(rest, 32, &prefix_bits) < 0 || prefix_bits == 0 ||
	    !is_host(ip, (unsigned)prefix_bits) || subnet->ip)
		return -EINVAL;
	subnet->ip = ip;
	subnet->prefix_bits = (uint8_t)prefix_bits;
	return 0;
}

/* Not a group, nobody, the host itself, or IPv4 in disguise. */
static bool is_host6(const struct in6_addr *ip)
{
	return !IN6_IS_ADDR_MULTICAST(ip) && !IN6_IS_ADDR_UNSPECIFIED(ip) &&
	       !IN6_IS_ADDR_LOOPBACK(ip) && !IN6_IS_ADDR_V4MAPPED(ip);
}

static int parse_ip6(const char *text, struct subnet *subnet)
{
	const char *slash = strchr(text, '/');
	char ip[INET6_ADDRSTRLEN];
	struct in6_addr parsed;
	uint64_t prefix_bits;

	if (!slash || (size_t)(slash - text) >= sizeof(ip) || subnet->prefix6_bits)
		return -EINVAL;
	snprintf(ip, sizeof(ip), "%.*s", (int)(slash - text), text);
	if (inet_pton(AF_INET6, ip, &parsed) != 1 || !is_host6(&parsed) ||
	    units_parse_count(slash + 1, IP6_PREFIX_MAX, &prefix_bits) < 0 || prefix_bits == 0)
		return -EINVAL;
	memcpy(subnet->ip6, &parsed, sizeof(subnet->ip6));
	subnet->prefix6_bits = (uint8_t)prefix_bits;
	return 0;
}

int address_parse_subnet(const char *text, struct subnet *subnet_out)
{
	struct subnet subnet = {0};
	char part[SUBNET_TEXT];
	size_t bytes;
	int code = 0;

	do {
		bytes = strcspn(text, ",");
		if (bytes >= sizeof(part))
			return -EINVAL;
		snprintf(part, sizeof(part), "%.*s", (int)bytes, text);
		code = strchr(part, ':') ? parse_ip6(part, &subnet) : parse_ip4(part, &subnet);
		text += bytes;
	} while (code == 0 && *text++ == ',');
	if (code == 0)
		*subnet_out = subnet;
	return code;
}
