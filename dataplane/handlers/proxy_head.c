#include "dataplane/handlers/proxy_head.h"

#include "dataplane/proto/http1_date.h"

#include <string.h>

static const char *const hop_by_hop[] = {"connection", "keep-alive",	    "te",
					 "trailer",    "transfer-encoding", "upgrade",
					 "expect",     "content-length",    NULL};

static bool is_among(struct span name, const char *const *names)
{
	for (; *names; names++) {
		if (fields_same(name, *names))
			return true;
	}
	return false;
}

static bool names_proxy(struct span name)
{
	static const char prefix[] = "proxy-";
	size_t bytes = sizeof(prefix) - 1;

	return name.bytes > bytes && fields_same((struct span){name.base, bytes}, prefix);
}

/* Whether the message's Connection fields name this one, as the parser reads them. */
static bool is_named(struct fields_walk connection, struct span name)
{
	struct span list;

	while (fields_next(&connection, "connection", &list)) {
		while (list.bytes > 0) {
			if (fields_alike(http1_take_token(&list), name))
				return true;
		}
	}
	return false;
}

static bool stays_here(struct fields_walk all, struct span name)
{
	return is_among(name, hop_by_hop) || names_proxy(name) || is_named(all, name);
}

/* Whether the Connection fields are few enough to be heeded. */
static bool connection_fits(struct fields_walk walk)
{
	struct span list;
	size_t bytes = 0;

	while (fields_next(&walk, "connection", &list))
		bytes += list.bytes;
	return bytes <= PROXY_CONNECTION_BYTES;
}

/* The fields that go on, but for those named. */
static void put_fields(struct fields_walk all, const char *const *but, struct fields_text *text)
{
	text->full |= !connection_fits(all);
	for (unsigned i = 0; i < all.left; i++) {
		const struct http1_field *field = &all.field[i];

		if (!is_among(field->name, but) && !stays_here(all, field->name))
			fields_put_line(text, field->name, field->value);
	}
}

static void put_via(struct fields_text *text, unsigned minor)
{
	fields_put_text(text, minor == 0 ? "Via: 1.0 weir\r\n" : "Via: 1.1 weir\r\n");
}

/* RFC 9112 section 3.2: an upstream gets origin-form, or "*". */
void proxy_head_target(const struct request *request, struct fields_text *text)
{
	struct span target = request->http->target;

	if (request->http->form == HTTP1_ABSOLUTE) {
		const uint8_t *behind = request->http->host.base + request->http->host.bytes;

		target.bytes -= (size_t)(behind - target.base);
		target.base = behind;
		if (target.bytes == 0 || *behind == '?')
			fields_put_text(text, "/");
	}
	fields_put(text, target);
}

static void put_framing(const struct request *request, struct fields_text *text)
{
	if (request->body_bytes == BODY_UNKNOWN) {
		fields_put_text(text, "Transfer-Encoding: chunked\r\n");
	} else if (request->http->framing.has_length) {
		fields_put_text(text, "Content-Length: ");
		fields_put_number(text, request->body_bytes);
		fields_put_text(text, "\r\n");
	}
}

void proxy_head_request(const struct request *request, struct fields_text *text)
{
	static const char *const but[] = {"host", NULL};
	const struct http1_request *http = request->http;

	fields_put_text(text, http1_method_name(request->method));
	fields_put_text(text, " ");
	proxy_head_target(request, text);
	fields_put_text(text, " HTTP/1.1\r\n");
	fields_put_line(text, (struct span){(const uint8_t *)"Host", 4}, http->host);
	put_fields(FIELDS_WALK(http), but, text);
	put_via(text, http->minor);
	put_framing(request, text);
	fields_put_text(text, "\r\n");
}

void proxy_head_fields(const struct http1_response *response, const char *const *but,
		       struct fields_text *text)
{
	put_fields(FIELDS_WALK(response), but, text);
	put_via(text, response->minor);
}

const char *proxy_head_date(const struct http1_response *response, const char *ours)
{
	struct fields_walk walk = FIELDS_WALK(response);
	struct span text, another;
	int64_t seconds;

	if (!fields_next(&walk, "date", &text) || fields_next(&walk, "date", &another) ||
	    text.bytes != HTTP1_DATE_BYTES || http1_date_parse(text, &seconds) < 0)
		return ours;
	return (const char *)text.base;
}
