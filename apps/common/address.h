/*
 * address: subnets in words; multicast and the limited broadcast are refused.
 *
 * Plane: setup. The parser returns 0, or -EINVAL with the output untouched.
 */
#ifndef WEIR_APPS_ADDRESS_H
#define WEIR_APPS_ADDRESS_H

#include "dataplane/transport/transport.h"

#include <stdint.h>

/* Own addresses, one of each family at most, and the lengths of their subnets' prefixes. */
struct subnet {
	uint32_t ip; /* host order; 0 if none was given */
	uint8_t prefix_bits;
	uint8_t prefix6_bits; /* 0 if no IPv6 address was given */
	uint8_t ip6[16];
};

/*
 * "10.0.0.1/24", "fd77::1/64", or both with a comma between; a prefix is 1 to 32 or 127 bits and
 * the address is neither the subnet's own or its broadcast nor any that no host can have.
 */
int address_parse_subnet(const char *text, struct subnet *subnet_out);

#endif
