#include "apps/common/address.h"

#include "apps/common/units.h"

#include <arpa/inet.h>
#include <errno.h>
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

int address_parse_endpoint(const char *text, struct tp_addr *addr_out)
{
	uint64_t port;
	uint32_t ip;
	const char *rest = parse_ip(text, ':', &ip);

	if (!rest || units_parse_count(rest, UINT16_MAX, &port) < 0 || port == 0 || is_many(ip))
		return -EINVAL;
	*addr_out = (struct tp_addr){.ip = ip, .port = (uint16_t)port};
	return 0;
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
