/*
 * address: subnets in words; multicast and the limited broadcast are refused.
 *
 * Plane: setup. The parser returns 0, or -EINVAL with the output untouched.
 */
#ifndef WEIR_APPS_ADDRESS_H
#define WEIR_APPS_ADDRESS_H

#include "dataplane/transport/transport.h"

#include <stdint.h>

/* An own address and the length of its subnet's prefix. */
struct subnet {
	uint32_t ip; /* host order; 0 if none was given */
	uint8_t prefix_bits;
};

/*
 * "10.0.0.1/24"; the prefix is 1 to 32 bits and the address is not the subnet's own or its
 * broadcast.
 */
int address_parse_subnet(const char *text, struct subnet *subnet_out);

#endif
