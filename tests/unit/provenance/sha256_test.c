#include "apps/provenance/sha256.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void digest(const char *text, size_t bytes, size_t piece, char hex[SHA256_HEX_BYTES])
{
	struct sha256 sha;

	sha256_init(&sha);
	for (size_t at = 0; at < bytes; at += piece)
		sha256_update(&sha, text + at, bytes - at < piece ? bytes - at : piece);
	CU_ASSERT_EQUAL(sha256_finish(&sha, hex), 0);
}

/* FIPS 180-4's examples, and the empty message. */
static void matches_the_standard(void)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char hex[SHA256_HEX_BYTES];

	digest("", 0, 1, hex);
	CU_ASSERT_STRING_EQUAL(hex,
			       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	digest("abc", 3, 3, hex);
	CU_ASSERT_STRING_EQUAL(hex,
			       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	digest(two_blocks, strlen(two_blocks), 64, hex);
	CU_ASSERT_STRING_EQUAL(hex,
			       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* Every length around one and two blocks, since the padding changes there. */
static void pieces_do_not_matter(void)
{
	char text[200], whole[SHA256_HEX_BYTES], cut[SHA256_HEX_BYTES];

	memset(text, 'a', sizeof(text));
	for (size_t bytes = 0; bytes <= sizeof(text); bytes++) {
		digest(text, bytes, sizeof(text), whole);
		for (size_t piece = 1; piece < 70; piece += 7) {
			digest(text, bytes, piece, cut);
			CU_ASSERT_STRING_EQUAL(whole, cut);
		}
	}
}

/*
 * 119 and 120 bytes: the last length whose padding fits two blocks, and the first that needs a
 * third.
 */
static void padding_crosses_blocks(void)
{
	char text[120], hex[SHA256_HEX_BYTES];

	memset(text, 'a', sizeof(text));
	digest(text, 119, 119, hex);
	CU_ASSERT_STRING_EQUAL(hex,
			       "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
	digest(text, 120, 120, hex);
	CU_ASSERT_STRING_EQUAL(hex,
			       "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c");
}

static void write_file(const char *path, size_t bytes)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	for (size_t i = 0; i < bytes; i++)
		fputc('a', file);
	fclose(file);
}

/* FIPS 180-4's million of them, which take many reads. */
static void files_are_read_to_their_end(void)
{
	char path[] = "/tmp/weir-sha256-XXXXXX", hex[SHA256_HEX_BYTES];
	uint64_t bytes = 0;
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	write_file(path, 1000 * 1000);
	CU_ASSERT_EQUAL(sha256_file(path, &bytes, hex), 0);
	CU_ASSERT_EQUAL(bytes, 1000 * 1000);
	CU_ASSERT_STRING_EQUAL(hex,
			       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	unlink(path);
	CU_ASSERT_EQUAL(sha256_file(path, &bytes, hex), -ENOENT);
	CU_ASSERT_EQUAL(sha256_file("/tmp", &bytes, hex), -EINVAL);
	CU_ASSERT_EQUAL(bytes, 1000 * 1000);
}

/* What has ended stands for what failed: both are without a context. */
static void no_digest_is_said(void)
{
	char hex[SHA256_HEX_BYTES] = "as it was";
	struct sha256 sha;

	sha256_init(&sha);
	sha256_update(&sha, "abc", 3);
	sha256_fini(&sha);
	sha256_update(&sha, "abc", 3);
	CU_ASSERT_EQUAL(sha256_finish(&sha, hex), -ENOMEM);
	CU_ASSERT_STRING_EQUAL(hex, "as it was");
	sha256_fini(&sha);
}

static const struct suite_test tests[] = {
	{"digests are the standard's", matches_the_standard},
	{"the same bytes in other pieces have the same digest", pieces_do_not_matter},
	{"padding that crosses a block is right", padding_crosses_blocks},
	{"a file is hashed to its end, and what is none is refused", files_are_read_to_their_end},
	{"a digest that there is not is said, and nothing written", no_digest_is_said},
};

SUITE_MAIN("provenance sha256", tests)
