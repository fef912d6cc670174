#include "dataplane/handlers/conditions.h"

#include "dataplane/handlers/fields.h"
#include "dataplane/proto/http1_date.h"

#include <string.h>

static bool is_weak(struct span tag)
{
	return tag.bytes > 2 && tag.base[0] == 'W' && tag.base[1] == '/';
}

/* RFC 9110 section 8.8.3.2; ours is strong, so that one `W/` decides. */
static bool same_tag(struct span theirs, struct span ours, bool strongly)
{
	if (is_weak(theirs)) {
		if (strongly)
			return false;
		theirs.base += 2;
		theirs.bytes -= 2;
	}
	return theirs.bytes == ours.bytes && memcmp(theirs.base, ours.base, ours.bytes) == 0;
}

/* Whether some field of this name lists our tag, or "*". */
static bool lists_tag(const struct http1_request *request, const char *name, struct span tag,
		      bool strongly)
{
	struct fields_walk walk = FIELDS_WALK(request);
	struct span list, member;

	while (fields_next(&walk, name, &list)) {
		while (fields_member(&list, &member)) {
			if (fields_same(member, "*") || same_tag(member, tag, strongly))
				return true;
		}
	}
	return false;
}

/* RFC 9110 section 13.2.2, in its order. */
unsigned conditions_judge(const struct http1_request *request, const struct validators *validators)
{
	struct fields_walk fields = FIELDS_WALK(request);
	int64_t seconds;

	if (fields_have(fields, "if-match")) {
		if (!lists_tag(request, "if-match", validators->tag, true))
			return 412;
	} else if (fields_date(FIELDS_WALK(request), "if-unmodified-since", &seconds) &&
		   validators->modified_seconds > seconds) {
		return 412;
	}
	if (fields_have(fields, "if-none-match"))
		return lists_tag(request, "if-none-match", validators->tag, false) ? 304 : 0;
	if (fields_date(FIELDS_WALK(request), "if-modified-since", &seconds) &&
	    validators->modified_seconds <= seconds)
		return 304;
	return 0;
}

/* RFC 9110 section 13.1.5: without If-Range, or where it names just what we have. */
static bool range_counts(const struct http1_request *request, const struct validators *validators,
			 int64_t now_seconds)
{
	struct fields_walk walk = FIELDS_WALK(request);
	struct span value, another;
	int64_t seconds;

	if (!fields_next(&walk, "if-range", &value))
		return true;
	if (fields_next(&walk, "if-range", &another))
		return false;
	if (http1_date_parse(value, &seconds) == 0)
		return seconds == validators->modified_seconds && seconds < now_seconds;
	return same_tag(value, validators->tag, true);
}

static const struct range whole = {.kind = RANGE_WHOLE};

/* "-N": the last N bytes. */
static struct range range_of_suffix(struct span text, uint64_t bytes)
{
	uint64_t count;

	if (!fields_number(text, UINT64_MAX, &count))
		return whole;
	if (count == 0 || bytes == 0)
		return (struct range){.kind = RANGE_UNSATISFIABLE};
	count = count < bytes ? count : bytes;
	return (struct range){.kind = RANGE_PART, .first = bytes - count, .bytes = count};
}

/* "FIRST-" or "FIRST-LAST". */
static struct range range_between(struct span first_text, struct span last_text, uint64_t bytes)
{
	uint64_t first, last = UINT64_MAX;

	if (!fields_number(first_text, UINT64_MAX, &first) ||
	    (last_text.bytes > 0 && !fields_number(last_text, UINT64_MAX, &last)) || last < first)
		return whole;
	if (first >= bytes)
		return (struct range){.kind = RANGE_UNSATISFIABLE};
	last = last < bytes ? last : bytes - 1;
	return (struct range){.kind = RANGE_PART, .first = first, .bytes = last - first + 1};
}

/* RFC 9110 section 14.1.1; what is malformed is as if it were not there. */
static struct range range_of(struct span set, uint64_t bytes)
{
	static const char unit[] = "bytes=";
	size_t unit_bytes = sizeof(unit) - 1;
	const uint8_t *dash;
	struct span first, last;

	if (set.bytes <= unit_bytes || !fields_same((struct span){set.base, unit_bytes}, unit))
		return whole;
	first = (struct span){set.base + unit_bytes, set.bytes - unit_bytes};
	dash = memchr(first.base, '-', first.bytes);
	if (!dash)
		return whole;
	last = (struct span){dash + 1, (size_t)(first.base + first.bytes - dash) - 1};
	first.bytes = (size_t)(dash - first.base);
	return first.bytes == 0 ? range_of_suffix(last, bytes) : range_between(first, last, bytes);
}

struct range conditions_range(const struct http1_request *request,
			      const struct validators *validators, uint64_t bytes,
			      int64_t now_seconds)
{
	struct fields_walk walk = FIELDS_WALK(request);
	struct span set, another;

	if (request->method != HTTP1_GET || !fields_next(&walk, "range", &set) ||
	    fields_next(&walk, "range", &another) ||
	    !range_counts(request, validators, now_seconds))
		return whole;
	return range_of(set, bytes);
}
