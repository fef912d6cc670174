/*
 * address: endpoints and subnets in words; multicast and the limited broadcast are refused.
 *
 * Plane: setup. Parsers return 0, or -EINVAL with the output untouched.
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
 * "127.0.0.1:7878", "[::1]:7878", "[fe80::1%eth0]:7878" or "unix:/run/a.sock"; the port is 1 to
 * 65535, the address no multicast or broadcast one, the path absolute.
 */
int address_parse_endpoint(const char *text, struct tp_addr *addr_out);

/*
 * "10.0.0.1/24"; the prefix is 1 to 32 bits and the address is not the subnet's own or its
 * broadcast.
 */
int address_parse_subnet(const char *text, struct subnet *subnet_out);

#endif
