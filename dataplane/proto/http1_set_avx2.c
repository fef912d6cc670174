#include "dataplane/proto/http1_set.h"

#include <immintrin.h>

enum { WIDTH = 32 };

/* A bit for each of the bytes at `at` that is not in the set. */
__attribute__((target("avx2"))) static inline unsigned outside(const struct http1_set *set,
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

__attribute__((target("avx2"))) const uint8_t *http1_run_avx2(const struct http1_set *set,
							      const uint8_t *base,
							      const uint8_t *at, const uint8_t *end)
{
	unsigned found;

	for (; end - at >= WIDTH; at += WIDTH) {
		found = outside(set, at);
		if (found)
			return at + __builtin_ctz(found);
	}
	if (end - base < WIDTH)
		return http1_run_sse42(set, base, at, end);
	/* The last bytes, seen in a vector that ends with them. */
	if (at == end)
		return end;
	found = outside(set, end - WIDTH) >> (at - (end - WIDTH));
	return found ? at + __builtin_ctz(found) : end;
}
