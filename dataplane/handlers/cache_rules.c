#include "dataplane/handlers/cache_rules.h"

#include "dataplane/core/clock.h"
#include "dataplane/handlers/proxy_head.h"

#include <string.h>

/* A lifetime beyond this, RFC 9111 section 1.2.2, is as good as for ever. */
enum { SECONDS_MAX = 1u << 31 };

bool cache_may_answer(const struct request *request)
{
	static const char *const reasons[] = {"authorization",
					      "range",
					      "if-match",
					      "if-none-match",
					      "if-modified-since",
					      "if-range",
					      "if-unmodified-since",
					      "cache-control",
					      "pragma"};
	struct fields_walk fields = FIELDS_WALK(request->http);

	if ((request->method != HTTP1_GET && request->method != HTTP1_HEAD) ||
	    request->body_bytes > 0 || request->http->form == HTTP1_ASTERISK)
		return false;
	for (unsigned i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (fields_have(fields, reasons[i]))
			return false;
	}
	return true;
}

void cache_put_key(const struct request *request, struct fields_text *text)
{
	fields_put_lower(text, request->http->host);
	fields_put_text(text, " "); /* stands in no host */
	proxy_head_target(request, text);
}

/* A lifetime that a directive gives; two that differ, or one that cannot be read, are none. */
struct lifetime {
	bool given;
	uint64_t seconds;
};

/* What an answer's Cache-Control says. */
struct control {
	bool forbids;
	struct lifetime shared; /* s-maxage, which goes before */
	struct lifetime any;	/* max-age */
};

static void read_lifetime(struct span value, struct lifetime *lifetime)
{
	uint64_t seconds = 0;

	if (value.bytes >= 2 && value.base[0] == '"' && value.base[value.bytes - 1] == '"')
		value = (struct span){value.base + 1, value.bytes - 2};
	if (!fields_number(value, UINT64_MAX, &seconds))
		seconds = 0;
	if (seconds > SECONDS_MAX)
		seconds = SECONDS_MAX;
	if (lifetime->given && lifetime->seconds != seconds)
		seconds = 0;
	*lifetime = (struct lifetime){.given = true, .seconds = seconds};
}

/* What is made of anything else is no directive, and may mean any of them. */
static bool is_name(struct span name)
{
	for (size_t i = 0; i < name.bytes; i++) {
		uint8_t byte = name.base[i], letter = byte | 32;

		if ((letter < 'a' || letter > 'z') && (byte < '0' || byte > '9') && byte != '-' &&
		    byte != '_')
			return false;
	}
	return name.bytes > 0;
}

/* A directive with or without an argument: `private="name"` forbids as `private` does. */
static void read_directive(struct span directive, struct control *control)
{
	const uint8_t *equals = memchr(directive.base, '=', directive.bytes);
	size_t name_bytes = equals ? (size_t)(equals - directive.base) : directive.bytes;
	struct span name = {directive.base, name_bytes}, value = {0};

	if (equals)
		value = (struct span){equals + 1, directive.bytes - name_bytes - 1};
	if (!is_name(name) || fields_same(name, "no-store") || fields_same(name, "no-cache") ||
	    fields_same(name, "private"))
		control->forbids = true;
	else if (fields_same(name, "s-maxage"))
		read_lifetime(value, &control->shared);
	else if (fields_same(name, "max-age"))
		read_lifetime(value, &control->any);
}

static struct control read_control(const struct http1_response *response)
{
	struct fields_walk walk = FIELDS_WALK(response);
	struct control control = {0};
	struct span list, directive;

	while (fields_next(&walk, "cache-control", &list)) {
		while (fields_member(&list, &directive))
			read_directive(directive, &control);
	}
	return control;
}

/* RFC 9111 section 5.3: Expires less Date; what is no date has expired. */
static uint64_t expiry_seconds(struct fields_walk fields)
{
	int64_t expires, date;

	if (!fields_date(fields, "expires", &expires) || !fields_date(fields, "date", &date) ||
	    expires <= date)
		return 0;
	return expires - date < SECONDS_MAX ? (uint64_t)(expires - date) : SECONDS_MAX;
}

/* The oldest of all that it says; what is no number is as old as can be. */
static uint64_t age_of(struct fields_walk fields)
{
	struct span text;
	uint64_t oldest = 0, seconds;

	while (fields_next(&fields, "age", &text)) {
		if (!fields_number(text, SECONDS_MAX, &seconds))
			seconds = SECONDS_MAX;
		if (seconds > oldest)
			oldest = seconds;
	}
	return oldest;
}

uint64_t cache_lifetime_ns(const struct http1_response *response, uint64_t ttl_ns,
			   uint64_t *age_seconds_out)
{
	struct fields_walk fields = FIELDS_WALK(response);
	struct control control = read_control(response);
	uint64_t lifetime_ns = ttl_ns, age_ns;

	*age_seconds_out = age_of(fields);
	age_ns = *age_seconds_out * CLOCK_SECOND_NS;
	if (response->status != 200 || control.forbids || fields_have(fields, "set-cookie") ||
	    fields_have(fields, "vary"))
		return 0;
	if (control.shared.given)
		lifetime_ns = control.shared.seconds * CLOCK_SECOND_NS;
	else if (control.any.given)
		lifetime_ns = control.any.seconds * CLOCK_SECOND_NS;
	else if (fields_have(fields, "expires"))
		lifetime_ns = expiry_seconds(fields) * CLOCK_SECOND_NS;
	return lifetime_ns > age_ns ? lifetime_ns - age_ns : 0;
}
