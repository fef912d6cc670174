#include "dataplane/handlers/cache_rules.h"

#include "dataplane/core/clock.h"
#include "dataplane/proto/http1_date.h"

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
	fields_put(text, request->http->host);
	fields_put_text(text, " "); /* stands in no host */
	fields_put(text, request->path);
	fields_put_text(text, "?");
	fields_put(text, request->query);
}

/* What an answer's Cache-Control says. */
struct control {
	bool forbids;
	bool has_age;
	bool shared; /* the age is s-maxage's, which goes before max-age */
	uint64_t age_seconds;
};

/* Whether a directive is `name=N`; what cannot be read is no lifetime at all. */
static bool directive_seconds(struct span directive, const char *name, uint64_t *seconds_out)
{
	size_t bytes = strlen(name);
	struct span value;

	if (directive.bytes < bytes || !fields_same((struct span){directive.base, bytes}, name))
		return false;
	value = (struct span){directive.base + bytes, directive.bytes - bytes};
	if (value.bytes >= 2 && value.base[0] == '"' && value.base[value.bytes - 1] == '"')
		value = (struct span){value.base + 1, value.bytes - 2};
	if (!fields_number(value, UINT64_MAX, seconds_out))
		*seconds_out = 0;
	if (*seconds_out > SECONDS_MAX)
		*seconds_out = SECONDS_MAX;
	return true;
}

/* A directive with or without an argument: `private="name"` forbids as `private` does. */
static bool directive_is(struct span directive, const char *name)
{
	const uint8_t *end = memchr(directive.base, '=', directive.bytes);

	if (end)
		directive.bytes = (size_t)(end - directive.base);
	return fields_same(directive, name);
}

static void read_directive(struct span directive, struct control *control)
{
	uint64_t seconds;

	if (directive_is(directive, "no-store") || directive_is(directive, "no-cache") ||
	    directive_is(directive, "private"))
		control->forbids = true;
	if (directive_seconds(directive, "s-maxage=", &seconds)) {
		control->has_age = control->shared = true;
		control->age_seconds = seconds;
	} else if (!control->shared && directive_seconds(directive, "max-age=", &seconds)) {
		control->has_age = true;
		control->age_seconds = seconds;
	}
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

static bool date_of(struct fields_walk walk, const char *name, int64_t *seconds_out)
{
	struct span text;

	return fields_next(&walk, name, &text) && http1_date_parse(text, seconds_out) == 0;
}

/* RFC 9111 section 5.3: Expires less Date; what is no date has expired. */
static uint64_t expiry_seconds(struct fields_walk fields)
{
	int64_t expires, date;

	if (!date_of(fields, "expires", &expires) || !date_of(fields, "date", &date) ||
	    expires <= date)
		return 0;
	return expires - date < SECONDS_MAX ? (uint64_t)(expires - date) : SECONDS_MAX;
}

static uint64_t age_of(struct fields_walk fields)
{
	struct span text;
	uint64_t seconds = 0;

	if (fields_next(&fields, "age", &text) && !fields_number(text, SECONDS_MAX, &seconds))
		seconds = SECONDS_MAX;
	return seconds;
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
	if (control.has_age)
		lifetime_ns = control.age_seconds * CLOCK_SECOND_NS;
	else if (fields_have(fields, "expires"))
		lifetime_ns = expiry_seconds(fields) * CLOCK_SECOND_NS;
	return lifetime_ns > age_ns ? lifetime_ns - age_ns : 0;
}
