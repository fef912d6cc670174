/*
 * addr: an IP address of either family.
 *
 * Sixteen bytes as on the wire; an IPv4 address is the IPv6 address that RFC 4291 2.5.5.2 maps it
 * to, so one comparison serves both families. On the wire of IPv6 such an address does not occur:
 * what comes from or to one is dropped.
 *
 * Plane: all.
 */
#ifndef WEIR_UTCP_ADDR_H
#define WEIR_UTCP_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ADDR_BYTES = 16 };

struct utcp_addr {
	uint64_t words[2]; /* in wire order, as this host reads them */
};

/* The second 32-bit word of a mapped address, in wire order, as this host reads it. */
#define ADDR_IP4_MARK 0xffff0000u

/* Of an IPv4 address in host order. */
static inline struct utcp_addr addr_of_ip4(uint32_t ip)
{
	return (struct utcp_addr){{0, (uint64_t)__builtin_bswap32(ip) << 32 | ADDR_IP4_MARK}};
}

/* Of sixteen bytes of an IPv6 header. */
static inline struct utcp_addr addr_of_ip6(const uint8_t *bytes)
{
	struct utcp_addr addr;

	memcpy(addr.words, bytes, ADDR_BYTES);
	return addr;
}

static inline bool addr_is_ip4(const struct utcp_addr *addr)
{
	return addr->words[0] == 0 && (uint32_t)addr->words[1] == ADDR_IP4_MARK;
}

/* In host order; of a mapped address. */
static inline uint32_t addr_ip4(const struct utcp_addr *addr)
{
	return __builtin_bswap32((uint32_t)(addr->words[1] >> 32));
}

static inline bool addr_equal(const struct utcp_addr *a, const struct utcp_addr *b)
{
	return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1])) == 0;
}

/* The unspecified address, with which nobody can be reached; where one may be given, none was. */
static inline bool addr_is_none(const struct utcp_addr *addr)
{
	return (addr->words[0] | addr->words[1]) == 0;
}

/* fe80::/64, which is all of fe80::/10 that is in use (RFC 4291 2.5.6). */
static inline bool addr_is_link_local(const struct utcp_addr *addr)
{
	return addr->words[0] == 0x80fe;
}

/* ff00::/8 (RFC 4291 2.7). */
static inline bool addr_is_multicast(const struct utcp_addr *addr)
{
	return (addr->words[0] & 0xff) == 0xff;
}

#endif
