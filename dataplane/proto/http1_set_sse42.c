#include "dataplane/proto/http1_set.h"

#include <immintrin.h>

enum { WIDTH = 16 };

/* A bit for each of the bytes at `at` that is not in the set. */
__attribute__((target("sse4.2"))) static inline unsigned outside(const struct http1_set *set,
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

__attribute__((target("sse4.2"))) const uint8_t *http1_run_sse42(const struct http1_set *set,
								 const uint8_t *base,
								 const uint8_t *at,
								 const uint8_t *end)
{
	unsigned found;

	for (; end - at >= WIDTH; at += WIDTH) {
		found = outside(set, at);
		if (found)
			return at + __builtin_ctz(found);
	}
	if (end - base < WIDTH)
		return http1_run_scalar(set, base, at, end);
	/* The last bytes, seen in a vector that ends with them. */
	if (at == end)
		return end;
	found = outside(set, end - WIDTH) >> (at - (end - WIDTH));
	return found ? at + __builtin_ctz(found) : end;
}
