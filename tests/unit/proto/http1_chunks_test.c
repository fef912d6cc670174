#include "dataplane/proto/http1.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What decoding a text came to. */
struct decoded {
	enum http1_status status;
	size_t taken;
	size_t body_bytes;
	char body[256];
};

/* Takes what is there of a chunk's data; at most `most` at a time. */
static void take_data(struct http1_chunks *chunks, struct span_reader *reader, size_t most,
		      struct decoded *decoded)
{
	size_t bytes = reader->left < most ? reader->left : most;

	bytes = chunks->left < bytes ? (size_t)chunks->left : bytes;
	CU_ASSERT_FATAL(decoded->body_bytes + bytes <= sizeof(decoded->body));
	span_reader_copy(reader, (uint8_t *)decoded->body + decoded->body_bytes, bytes);
	decoded->body_bytes += bytes;
	chunks->left -= bytes;
}

/* Decodes what the reader has, with the state of earlier visits. */
static void decode_on(struct http1_chunks *chunks, struct span_reader *reader, size_t most,
		      struct decoded *decoded)
{
	size_t before = reader->left;

	do {
		decoded->status = http1_chunks_next(chunks, reader);
		if (decoded->status != HTTP1_OK || chunks->state == HTTP1_CHUNK_END)
			break;
		CU_ASSERT_EQUAL_FATAL(chunks->state, HTTP1_CHUNK_DATA);
		CU_ASSERT(chunks->left > 0);
		take_data(chunks, reader, most, decoded);
	} while (reader->left > 0);
	if (decoded->status == HTTP1_OK && chunks->state == HTTP1_CHUNK_DATA)
		decoded->status = HTTP1_MORE;
	decoded->taken += before - reader->left;
}

static struct decoded decode_whole(const void *text, size_t bytes)
{
	struct span span = {(const uint8_t *)text, bytes};
	struct span_reader reader = span_reader_of(&span, 1);
	struct http1_chunks chunks = {0};
	struct decoded decoded = {0};

	decode_on(&chunks, &reader, SIZE_MAX, &decoded);
	return decoded;
}

/* In visits of the given lengths, the last one as long as what is left. */
static struct decoded decode_cut(const uint8_t *text, size_t bytes, size_t first, size_t step)
{
	struct http1_chunks chunks = {0};
	struct decoded decoded = {.status = HTTP1_MORE};

	for (size_t at = 0;
	     at < bytes && decoded.status <= HTTP1_MORE && chunks.state != HTTP1_CHUNK_END;) {
		size_t visit = at == 0 ? first : step;
		struct span span = {text + at, visit < bytes - at ? visit : bytes - at};
		struct span_reader reader = span_reader_of(&span, 1);

		decode_on(&chunks, &reader, 3, &decoded);
		at += span.bytes;
	}
	return decoded;
}

static bool same(const struct decoded *one, const struct decoded *other)
{
	return one->status == other->status && one->taken == other->taken &&
	       one->body_bytes == other->body_bytes &&
	       memcmp(one->body, other->body, one->body_bytes) == 0;
}

/* At every split, and a byte at a time, and in two pieces of one visit. */
static struct decoded decode(const void *text, size_t bytes)
{
	struct decoded whole = decode_whole(text, bytes), other;

	for (size_t cut = 1; cut < bytes; cut++) {
		struct span spans[2] = {{text, cut}, {(const uint8_t *)text + cut, bytes - cut}};
		struct span_reader reader = span_reader_of(spans, 2);
		struct http1_chunks chunks = {0};

		other = decode_cut(text, bytes, cut, bytes);
		CU_ASSERT(same(&whole, &other));
		memset(&other, 0, sizeof(other));
		decode_on(&chunks, &reader, SIZE_MAX, &other);
		CU_ASSERT(same(&whole, &other));
	}
	if (bytes > 0) {
		other = decode_cut(text, bytes, 1, 1);
		CU_ASSERT(same(&whole, &other));
	}
	return whole;
}

static void decodes_a_body(void)
{
	static const char text[] = "5\r\nhello\r\n"
				   "00A;a=b;c=\"d \\\" e\";f\r\n, my world\r\n"
				   "1\r\n!\r\n"
				   "0\r\nTrailer: x\r\nOther:\r\n\r\n"
				   "GET ";
	struct decoded decoded = decode(text, strlen(text));

	CU_ASSERT_EQUAL(decoded.status, HTTP1_OK);
	CU_ASSERT_EQUAL(decoded.taken, strlen(text) - strlen("GET "));
	CU_ASSERT_EQUAL(decoded.body_bytes, strlen("hello, my world!"));
	CU_ASSERT_EQUAL(memcmp(decoded.body, "hello, my world!", decoded.body_bytes), 0);
}

static const struct {
	const char *text;
	enum http1_status status;
} cases[] = {
	{"0\r\n\r\n", HTTP1_OK},
	{"0000000000000000\r\n\r\n", HTTP1_OK},
	{"0;a\r\n\r\n", HTTP1_OK},
	{"fF\r\n", HTTP1_MORE},
	{"7FFFFFFFFFFFFFFF\r\n", HTTP1_MORE},
	{"8000000000000000\r\n", HTTP1_BAD_CHUNK},
	{"FFFFFFFFFFFFFFFF\r\n", HTTP1_BAD_CHUNK},
	{"10000000000000000\r\n", HTTP1_BAD_CHUNK}, /* 17 digits */
	{"00000000000000001\r\n", HTTP1_BAD_CHUNK},
	{"0x5\r\n", HTTP1_BAD_CHUNK},
	{"-1\r\n", HTTP1_BAD_CHUNK},
	{"+1\r\n", HTTP1_BAD_CHUNK},
	{"5_\r\n", HTTP1_BAD_CHUNK},
	{"\r\n", HTTP1_BAD_CHUNK},
	{";a\r\n", HTTP1_BAD_CHUNK},
	{" 5\r\n", HTTP1_BAD_CHUNK},
	{"5 \r\n", HTTP1_BAD_CHUNK},
	{"5\t\r\n", HTTP1_BAD_CHUNK},
	{"5 ;a\r\n", HTTP1_BAD_CHUNK},
	{"5; a\r\n", HTTP1_BAD_CHUNK},
	{"5;\r\n", HTTP1_BAD_CHUNK},
	{"5;a=\r\n", HTTP1_BAD_CHUNK},
	{"5;a=b c\r\n", HTTP1_BAD_CHUNK},
	{"5;a=\"b\r\n", HTTP1_BAD_CHUNK},
	{"5;a=\"b\"c\r\n", HTTP1_BAD_CHUNK},
	{"5;a=\"\\\x01", HTTP1_BAD_CHUNK},
	{"5;a\n", HTTP1_BAD_CHUNK},
	{"5\n", HTTP1_BAD_CHUNK},
	{"5\rX", HTTP1_BAD_CHUNK},
	{"5\r\r\n", HTTP1_BAD_CHUNK},
	{"1\r\nab", HTTP1_BAD_CHUNK}, /* longer than its size */
	{"1\r\na\n", HTTP1_BAD_CHUNK},
	{"1\r\na\rX", HTTP1_BAD_CHUNK},
	{"1\r\na0\r\n\r\n", HTTP1_BAD_CHUNK},	  /* no CRLF behind the data */
	{"2\r\na\r\n0\r\n\r\n", HTTP1_BAD_CHUNK}, /* shorter than its size */
	{"0\r\nX", HTTP1_MORE},
	{"0\r\n\r", HTTP1_MORE},
	{"0\r\n\n", HTTP1_BAD_CHUNK},
	{"0\r\n\rX", HTTP1_BAD_CHUNK},
	{"0\r\nGET / HTTP/1.1\r\n", HTTP1_BAD_CHUNK},
	{"0\r\n: a\r\n", HTTP1_BAD_CHUNK},
	{"0\r\nA : b\r\n", HTTP1_BAD_CHUNK},
	{"0\r\nA: b\r\n c\r\n", HTTP1_BAD_CHUNK},
	{"0\r\nA: b\n", HTTP1_BAD_CHUNK},
	{"0\r\nA: \x01", HTTP1_BAD_CHUNK},
	{"0\r\nA\r\n", HTTP1_BAD_CHUNK},
	{"0\r\nContent-Length:", HTTP1_BAD_CHUNK},
	{"0\r\nA: b\r\ntransfer-ENCODING:", HTTP1_BAD_CHUNK},
	{"0\r\nHOsT:", HTTP1_BAD_CHUNK},
	{"0\r\nConnection:", HTTP1_BAD_CHUNK},
	{"0\r\nContent-Length", HTTP1_MORE},
	{"0\r\nHos: a\r\nHosts: a\r\nXHost: a\r\nContent-Lengt: 5\r\n\r\n", HTTP1_OK},
	{"0\r\nContent_Length: 5\r\nTransfer-Encodings: chunked\r\n\r\n", HTTP1_OK},
};

static void judges_framing(void)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		enum http1_status got = decode(cases[i].text, strlen(cases[i].text)).status;

		CU_ASSERT_EQUAL(got, cases[i].status);
		if (got != cases[i].status)
			printf("# case %zu: %s\n", i, http1_status_text(got));
	}
}

/* A text of a beginning, `count` times one byte, and an end. */
static enum http1_status decode_long(const char *before, size_t count, const char *behind)
{
	static char text[HTTP1_TRAILER_BYTES + 100];
	size_t begin = strlen(before), end = strlen(behind);

	memcpy(text, before, begin);
	memset(text + begin, 'x', count);
	memcpy(text + begin + count, behind, end);
	return decode_whole(text, begin + count + end).status;
}

static void bounds_extensions_and_trailers(void)
{
	size_t extension = HTTP1_EXTENSION_BYTES - 1; /* and the semicolon */
	size_t trailer = HTTP1_TRAILER_BYTES - strlen("A:\r\n\r\n");

	CU_ASSERT_EQUAL(decode_long("0;", extension, "\r\n\r\n"), HTTP1_OK);
	CU_ASSERT_EQUAL(decode_long("0;", extension + 1, "\r\n\r\n"), HTTP1_BAD_CHUNK);
	CU_ASSERT_EQUAL(decode_long("0;", extension + 1, ""), HTTP1_BAD_CHUNK);
	CU_ASSERT_EQUAL(decode_long("0\r\nA:", trailer, "\r\n\r\n"), HTTP1_OK);
	CU_ASSERT_EQUAL(decode_long("0\r\nA:", trailer + 1, "\r\n\r\n"), HTTP1_BAD_CHUNK);
	CU_ASSERT_EQUAL(decode_long("0\r\nA:", trailer + 10, ""), HTTP1_BAD_CHUNK);
}

/* A bound of one line must not be one of all lines. */
static void bounds_each_chunk_by_itself(void)
{
	char text[2000] = "";

	for (int i = 0; i < 40; i++)
		strcat(text, "0000000000000001;name=value\r\na\r\n");
	strcat(text, "0\r\n\r\n");
	CU_ASSERT_EQUAL(decode_whole(text, strlen(text)).status, HTTP1_OK);
}

static void survives_mutations(void)
{
	static const char text[] = "5;a=\"b\"\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n";
	static const char alphabet[] = "\r\n\t ;=\"\\:0159afx\0\x7F";

	srand(13);
	for (int round = 0; round < 20000; round++) {
		char changed[sizeof(text)];

		memcpy(changed, text, sizeof(text));
		for (int changes = 1 + rand() % 3; changes > 0; changes--)
			changed[(size_t)rand() % (sizeof(text) - 1)] =
				alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		decode(changed, sizeof(text) - 1);
	}
}

static const struct suite_test tests[] = {
	{"a chunked body is decoded, and what is behind it left alone", decodes_a_body},
	{"framing is taken as the grammar has it and in no other way", judges_framing},
	{"extensions and trailers are bounded to the byte", bounds_extensions_and_trailers},
	{"many chunks within their bounds are no trouble", bounds_each_chunk_by_itself},
	{"mutated bodies come to the same at every split", survives_mutations},
};

SUITE_MAIN("http1_chunks", tests)
