/* What single fields mean: framing, host, connection, expectation. */
#include "dataplane/core/bytes.h"
#include "dataplane/proto/http1_head.h"
#include "dataplane/proto/http1_run.h"

bool http1_is_word(struct span text, const char *word)
{
	size_t i = 0;

	while (i < text.bytes && (text.base[i] | 0x20) == (uint8_t)word[i])
		i++;
	return i == text.bytes && !word[i];
}

struct span http1_take_token(struct span *list)
{
	const uint8_t *comma = list->bytes > 0 ? memchr(list->base, ',', list->bytes) : NULL;
	struct span member = *list;

	if (comma)
		member.bytes = (size_t)(comma - list->base);
	list->base += member.bytes + (comma != NULL);
	list->bytes -= member.bytes + (comma != NULL);
	return http1_trim(member);
}

/* Exactly one, and a good one (RFC 9112 section 3.2). */
static enum http1_status judge_host(struct http1_walk *walk, const struct http1_field *field)
{
	if ((walk->seen & HTTP1_SEEN_HOST) || !http1_is_host(field->value, false))
		return HTTP1_BAD_HOST;
	walk->seen |= HTTP1_SEEN_HOST;
	walk->host = field;
	return HTTP1_OK;
}

/* Digits alone, and a number that any reader's 64 bits hold (RFC 9110 section 8.6). */
static enum http1_status judge_length(struct http1_walk *walk, struct span value)
{
	enum { DIGITS_MAX = 19 };
	uint64_t length_bytes = 0;

	if ((walk->seen & (HTTP1_SEEN_LENGTH | HTTP1_SEEN_CODING)) || value.bytes == 0 ||
	    value.bytes > DIGITS_MAX)
		return HTTP1_BAD_FRAMING;
	for (size_t i = 0; i < value.bytes; i++) {
		if (value.base[i] < '0' || value.base[i] > '9')
			return HTTP1_BAD_FRAMING;
		length_bytes = length_bytes * 10 + (value.base[i] - '0');
	}
	if (length_bytes > INT64_MAX)
		return HTTP1_BAD_FRAMING;
	walk->seen |= HTTP1_SEEN_LENGTH;
	walk->length_bytes = length_bytes;
	return HTTP1_OK;
}

/* A list of codings that is well formed and names one besides chunked is not implemented. */
static enum http1_status judge_codings(struct span value)
{
	bool others = false;

	do {
		struct span coding = http1_take_token(&value);
		const uint8_t *end = coding.base + coding.bytes;

		if (coding.bytes == 0 ||
		    http1_run_scalar(&http1_set_token, coding.base, coding.base, end) != end)
			return HTTP1_BAD_FRAMING;
		others |= !http1_is_word(coding, "chunked");
	} while (value.bytes > 0);
	return others ? HTTP1_CODING_UNKNOWN : HTTP1_BAD_FRAMING;
}

/* RFC 9112 section 6.1: chunked, once, without a length beside it, and not in HTTP/1.0. */
static enum http1_status judge_coding(struct http1_walk *walk, struct span value)
{
	if ((walk->seen & (HTTP1_SEEN_LENGTH | HTTP1_SEEN_CODING)) || walk->minor == 0)
		return HTTP1_BAD_FRAMING;
	if (!http1_is_word(value, "chunked"))
		return judge_codings(value);
	walk->seen |= HTTP1_SEEN_CODING;
	return HTTP1_OK;
}

static enum http1_status judge_connection(struct http1_walk *walk, struct span value)
{
	while (value.bytes > 0) {
		struct span option = http1_take_token(&value);

		if (http1_is_word(option, "close"))
			walk->seen |= HTTP1_SEEN_CLOSE;
		else if (http1_is_word(option, "keep-alive"))
			walk->seen |= HTTP1_SEEN_KEEP_ALIVE;
	}
	return HTTP1_OK;
}

/* Once: whether the client waits must not depend on which of two is read. */
static enum http1_status judge_expectation(struct http1_walk *walk, struct span value)
{
	if (walk->seen & HTTP1_SEEN_EXPECT)
		return HTTP1_BAD_FIELD;
	walk->seen |= HTTP1_SEEN_EXPECT;
	if (!http1_is_word(http1_trim(value), "100-continue"))
		return walk->minor == 0 ? HTTP1_OK : HTTP1_EXPECTATION;
	walk->seen |= HTTP1_SEEN_CONTINUE;
	return HTTP1_OK;
}

/* Letters of a name in lower case; its other characters stay what they are. */
static inline uint64_t lower_of_8(const uint8_t *text)
{
	return bytes_get_le64(text) | 0x2020202020202020;
}

static inline uint64_t word_of_8(const char *word)
{
	return bytes_get_le64((const uint8_t *)word);
}

static inline bool is_connection(const uint8_t *name)
{
	return lower_of_8(name) == word_of_8("connecti") &&
	       lower_of_8(name + 2) == word_of_8("nnection");
}

static inline bool is_content_length(const uint8_t *name)
{
	return lower_of_8(name) == word_of_8("content-") &&
	       lower_of_8(name + 6) == word_of_8("t-length");
}

static inline bool is_transfer_encoding(const uint8_t *name)
{
	return lower_of_8(name) == word_of_8("transfer") &&
	       lower_of_8(name + 8) == word_of_8("-encodin") && (name[16] | 0x20) == 'g';
}

/* Told apart by the length of its name first, which few other fields share. */
enum http1_status http1_judge_field(struct http1_walk *walk, const struct http1_field *field)
{
	const uint8_t *name = field->name.base;

	switch (field->name.bytes) {
	case sizeof("host") - 1:
		if (walk->is_request && http1_is_host_name(name))
			return judge_host(walk, field);
		break;
	case sizeof("expect") - 1:
		if (walk->is_request && http1_is_word(field->name, "expect"))
			return judge_expectation(walk, field->value);
		break;
	case sizeof("connection") - 1:
		if (is_connection(name))
			return judge_connection(walk, field->value);
		break;
	case sizeof("content-length") - 1:
		if (is_content_length(name))
			return judge_length(walk, field->value);
		break;
	case sizeof("transfer-encoding") - 1:
		if (is_transfer_encoding(name))
			return judge_coding(walk, field->value);
		break;
	}
	return HTTP1_OK;
}
