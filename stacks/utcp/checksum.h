/*
 * checksum: the Internet checksum (RFC 1071), summed eight bytes at a time.
 *
 * The one's complement sum does not care about byte order, so words are added as this host reads
 * them and the result is stored as it stands. A 64-bit accumulator of 32-bit halves cannot overflow
 * within an IP packet, which leaves the loop without carries, and the compiler free to widen it.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_CHECKSUM_H
#define WEIR_UTCP_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Adds `count` bytes to a sum; only the last run added may have an odd length. */
static inline uint64_t checksum_add(uint64_t sum, const uint8_t *bytes, size_t count)
{
	uint64_t word = 0;
	uint64_t sums[4] = {0};

	for (; count >= 32; count -= 32, bytes += 32)
		for (unsigned i = 0; i < 4; i++) {
			memcpy(&word, bytes + 8 * i, 8);
			sums[i] += (word & UINT32_MAX) + (word >> 32);
		}
	sum += sums[0] + sums[1] + sums[2] + sums[3];
	for (; count >= 8; count -= 8, bytes += 8) {
		memcpy(&word, bytes, 8);
		sum += (word & UINT32_MAX) + (word >> 32);
	}
	if (count > 0) {
		word = 0;
		for (unsigned i = 0; i < count; i++)
			word |= (uint64_t)bytes[i] << 8 * i;
		sum += (word & UINT32_MAX) + (word >> 32);
	}
	return sum;
}

/* The checksum of a sum, in the order in which it is stored; 0 if the sum covered a right checksum.
 */
static inline uint16_t checksum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)~sum;
}

static inline void checksum_put(uint8_t *to, uint64_t sum)
{
	uint16_t value = checksum_fold(sum);

	memcpy(to, &value, sizeof(value));
}

/*
 * What a TCP pseudo header adds (RFC 9293 3.1, RFC 8200 8.1): `addresses` is where the header's
 * source and destination stand, one behind the other.
 */
static inline uint64_t checksum_pseudo(const uint8_t *addresses, size_t addresses_bytes,
				       uint8_t protocol, uint16_t bytes)
{
	uint64_t sum = (uint64_t)__builtin_bswap16(protocol) + __builtin_bswap16(bytes);

	return checksum_add(sum, addresses, addresses_bytes);
}

#endif
