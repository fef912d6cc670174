#include "apps/common/address.h"

#include "dataplane/core/units.h"

#include <errno.h>
#include <stdbool.h>

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

int address_parse_subnet(const char *text, struct subnet *subnet_out)
{
	uint64_t prefix_bits;
	uint32_t ip;
	const char *rest = tp_ip_parse(text, '/', &ip);

	if (!rest || units_parse_count(rest, 32, &prefix_bits) < 0 || prefix_bits == 0 ||
	    !is_host(ip, (unsigned)prefix_bits))
		return -EINVAL;
	*subnet_out = (struct subnet){.ip = ip, .prefix_bits = (uint8_t)prefix_bits};
	return 0;
}
