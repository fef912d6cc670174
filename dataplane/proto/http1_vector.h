/*
 * http1_vector: how far a run of bytes of one set reaches, 16 or 32 bytes at a time.
 *
 * Private to http1, and for x86-64 alone. Needs http1_sets_draw, and a CPU that has what the name
 * says.
 *
 * Plane: turn.
 */
#ifndef WEIR_PROTO_HTTP1_VECTOR_H
#define WEIR_PROTO_HTTP1_VECTOR_H

#include "dataplane/proto/http1_run.h"

#include <immintrin.h>

#define HTTP1_SSE42 __attribute__((target("sse4.2")))
#define HTTP1_AVX2 __attribute__((target("avx2")))

/* A bit for each of the 16 bytes at `at` that is not in the set. */
HTTP1_SSE42 static inline unsigned http1_outside_of_16(const struct http1_set *set,
						       const uint8_t *at)
{
	const __m128i nibble = _mm_set1_epi8(0x0F);
	__m128i bytes = _mm_loadu_si128((const __m128i *)at);
	__m128i low = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)set->low),
				       _mm_and_si128(bytes, nibble));
	__m128i high = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)set->high),
					_mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
	__m128i absent = _mm_cmpeq_epi8(_mm_and_si128(low, high), _mm_setzero_si128());

	return (unsigned)_mm_movemask_epi8(absent);
}

HTTP1_SSE42 static inline const uint8_t *http1_run_sse42(const struct http1_set *set,
							 const uint8_t *base, const uint8_t *at,
							 const uint8_t *end)
{
	enum { WIDTH = 16 };
	unsigned found;

	for (; end - at >= WIDTH; at += WIDTH) {
		found = http1_outside_of_16(set, at);
		if (found)
			return at + __builtin_ctz(found);
	}
	if (end - base < WIDTH)
		return http1_run_scalar(set, base, at, end);
	if (at == end)
		return end;
	/* The last bytes, seen in a vector that ends with them. */
	found = http1_outside_of_16(set, end - WIDTH) >> (at - (end - WIDTH));
	return found ? at + __builtin_ctz(found) : end;
}

/* A bit for each of the 32 bytes at `at` that is not in the set. */
HTTP1_AVX2 static inline unsigned http1_outside_of_32(const struct http1_set *set,
						      const uint8_t *at)
{
	const __m256i nibble = _mm256_set1_epi8(0x0F);
	__m256i bytes = _mm256_loadu_si256((const __m256i *)at);
	__m256i lows = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)set->low));
	__m256i highs = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)set->high));
	__m256i low = _mm256_shuffle_epi8(lows, _mm256_and_si256(bytes, nibble));
	__m256i high =
		_mm256_shuffle_epi8(highs, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble));
	__m256i absent = _mm256_cmpeq_epi8(_mm256_and_si256(low, high), _mm256_setzero_si256());

	return (unsigned)_mm256_movemask_epi8(absent);
}

/* 32 bytes as long as there are so many; the rest, which is most of what heads have, in 16. */
HTTP1_AVX2 static inline const uint8_t *http1_run_avx2(const struct http1_set *set,
						       const uint8_t *base, const uint8_t *at,
						       const uint8_t *end)
{
	enum { WIDTH = 32 };

	for (; end - at >= WIDTH; at += WIDTH) {
		unsigned found = http1_outside_of_32(set, at);

		if (found)
			return at + __builtin_ctz(found);
	}
	return http1_run_sse42(set, base, at, end);
}

#endif
