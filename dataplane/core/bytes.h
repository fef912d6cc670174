/*
 * bytes: integers in and out of wire order, at any alignment.
 *
 * `le` is little-endian (the framed protocol), `be` is big-endian (Internet headers). The compiler
 * turns each into one move, swapped where needed.
 */
#ifndef WEIR_CORE_BYTES_H
#define WEIR_CORE_BYTES_H

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "weir is written for little-endian hosts");

static inline uint16_t bytes_get_be16(const uint8_t *from)
{
	uint16_t v;

	memcpy(&v, from, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t bytes_get_be32(const uint8_t *from)
{
	uint32_t v;

	memcpy(&v, from, sizeof(v));
	return __builtin_bswap32(v);
}

static inline void bytes_put_be16(uint8_t *to, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(to, &v, sizeof(v));
}

static inline void bytes_put_be32(uint8_t *to, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(to, &v, sizeof(v));
}

static inline uint32_t bytes_get_le32(const uint8_t *from)
{
	uint32_t v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static inline uint64_t bytes_get_le64(const uint8_t *from)
{
	uint64_t v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static inline void bytes_put_le32(uint8_t *to, uint32_t v)
{
	memcpy(to, &v, sizeof(v));
}

static inline void bytes_put_le64(uint8_t *to, uint64_t v)
{
	memcpy(to, &v, sizeof(v));
}

#endif
