#include "dataplane/core/siphash.h"

#include "tests/support/suite.h"

static struct siphash_key counting_key(void)
{
	uint8_t secret[16];

	for (unsigned i = 0; i < 16; i++)
		secret[i] = (uint8_t)i;
	return siphash_key_of(secret);
}

/* The reference vectors of the SipHash paper's authors: key 00..0f, message 00, 01, 02 ... */
static void matches_reference(void)
{
	struct siphash_key key = counting_key();
	uint64_t words[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

	CU_ASSERT(siphash_words(&key, words, 0) == 0x726fdb47dd0e0e31u);
	CU_ASSERT(siphash_words(&key, words, 1) == 0x93f5f5799a932462u);
	CU_ASSERT(siphash_words(&key, words, 2) == 0x3f2acc7f57c29bdbu);
}

static void key_and_message_matter(void)
{
	struct siphash_key key = counting_key(), other = key;
	uint64_t word = 1, near = 2;

	other.k1 ^= 1;
	CU_ASSERT(siphash_words(&key, &word, 1) != siphash_words(&other, &word, 1));
	CU_ASSERT(siphash_words(&key, &word, 1) != siphash_words(&key, &near, 1));
}

static const struct suite_test tests[] = {
	{"the hash equals the authors' reference vectors", matches_reference},
	{"one bit of key or message changes the hash", key_and_message_matter},
};

SUITE_MAIN("siphash", tests)
