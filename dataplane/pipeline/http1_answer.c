#include "dataplane/pipeline/http1_answer.h"

#include "dataplane/core/check.h"
#include "dataplane/pipeline/codec.h"
#include "dataplane/proto/http1_date.h"

#include <string.h>

enum { TYPE_BYTES_MAX = 128 };

static uint8_t *put(uint8_t *to, const char *text, size_t bytes)
{
	memcpy(to, text, bytes);
	return to + bytes;
}

static uint8_t *put_text(uint8_t *to, const char *text)
{
	return put(to, text, strlen(text));
}

/* A literal, whose length the compiler knows. */
#define PUT(to, literal) put(to, "" literal, sizeof(literal) - 1)

static uint8_t *put_number(uint8_t *to, uint64_t value)
{
	char digits[20];
	unsigned at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	return put(to, digits + at, sizeof(digits) - at);
}

static uint8_t *put_status(uint8_t *to, unsigned status)
{
	if (status == 200)
		return PUT(to, "HTTP/1.1 200 OK\r\nDate: ");
	to = PUT(to, "HTTP/1.1 ");
	to = put_number(to, status);
	to = PUT(to, " ");
	to = put_text(to, http1_reason(status));
	return PUT(to, "\r\nDate: ");
}

static uint8_t *put_framing(uint8_t *to, uint64_t body_bytes)
{
	if (body_bytes == BODY_UNKNOWN)
		return PUT(to, "\r\nTransfer-Encoding: chunked");
	to = PUT(to, "\r\nContent-Length: ");
	return put_number(to, body_bytes);
}

size_t http1_answer_head(uint8_t *to, const struct response *response,
			 const struct http1_answer *answer)
{
	uint8_t *at = put_status(to, response->status);

	ASSERT(response->fields.bytes <= EXCHANGE_FIELDS_BYTES);
	at = put(at, answer->date, HTTP1_DATE_BYTES);
	if (response->type) {
		ASSERT(strlen(response->type) <= TYPE_BYTES_MAX);
		at = PUT(at, "\r\nContent-Type: ");
		at = put_text(at, response->type);
	}
	if (!answer->unframed)
		at = put_framing(at, response->body_bytes);
	if (answer->close)
		at = PUT(at, "\r\nConnection: close");
	else if (answer->keep_alive)
		at = PUT(at, "\r\nConnection: keep-alive");
	at = PUT(at, "\r\n");
	if (response->fields.bytes > 0)
		at = put(at, (const char *)response->fields.base, response->fields.bytes);
	at = PUT(at, "\r\n");
	return (size_t)(at - to);
}
