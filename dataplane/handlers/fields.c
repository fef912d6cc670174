#include "dataplane/handlers/fields.h"

#include "dataplane/proto/http1_date.h"

#include <string.h>

static uint8_t lower_of(uint8_t byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte | 32 : byte;
}

bool fields_same(struct span text, const char *lower)
{
	return fields_alike(text, (struct span){(const uint8_t *)lower, strlen(lower)});
}

bool fields_alike(struct span a, struct span b)
{
	if (a.bytes != b.bytes)
		return false;
	for (size_t i = 0; i < a.bytes; i++) {
		if (lower_of(a.base[i]) != lower_of(b.base[i]))
			return false;
	}
	return true;
}

bool fields_next(struct fields_walk *walk, const char *name, struct span *value_out)
{
	while (walk->left > 0) {
		const struct http1_field *field = walk->field++;

		walk->left--;
		if (fields_same(field->name, name)) {
			*value_out = field->value;
			return true;
		}
	}
	return false;
}

bool fields_have(struct fields_walk walk, const char *name)
{
	struct span value;

	return fields_next(&walk, name, &value);
}

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t';
}

static struct span trim(struct span text)
{
	while (text.bytes > 0 && is_blank(text.base[0])) {
		text.base++;
		text.bytes--;
	}
	while (text.bytes > 0 && is_blank(text.base[text.bytes - 1]))
		text.bytes--;
	return text;
}

/* Where the first member ends: at a comma that stands in no quoted string. */
static size_t member_end(struct span list)
{
	bool quoted = false;
	size_t at = 0;

	for (; at < list.bytes && (quoted || list.base[at] != ','); at++) {
		if (list.base[at] == '"')
			quoted = !quoted;
		else if (quoted && list.base[at] == '\\' && at + 1 < list.bytes)
			at++;
	}
	return at;
}

bool fields_member(struct span *list, struct span *member_out)
{
	while (list->bytes > 0) {
		size_t end = member_end(*list);
		size_t taken = end < list->bytes ? end + 1 : end;
		struct span member = trim((struct span){list->base, end});

		list->base += taken;
		list->bytes -= taken;
		if (member.bytes > 0) {
			*member_out = member;
			return true;
		}
	}
	return false;
}

bool fields_number(struct span text, uint64_t max, uint64_t *number_out)
{
	uint64_t number = 0;

	if (text.bytes == 0)
		return false;
	for (size_t i = 0; i < text.bytes; i++) {
		unsigned digit = text.base[i] - '0';

		if (digit > 9 || digit > max || number > (max - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	*number_out = number;
	return true;
}

bool fields_date(struct fields_walk walk, const char *name, int64_t *seconds_out)
{
	struct span text, another;

	return fields_next(&walk, name, &text) && !fields_next(&walk, name, &another) &&
	       http1_date_parse(text, seconds_out) == 0;
}

void fields_put(struct fields_text *text, struct span piece)
{
	if (piece.bytes > text->room - text->bytes)
		text->full = true;
	if (text->full || piece.bytes == 0)
		return;
	memcpy(text->base + text->bytes, piece.base, piece.bytes);
	text->bytes += piece.bytes;
}

void fields_put_lower(struct fields_text *text, struct span piece)
{
	size_t begin = text->bytes;

	fields_put(text, piece);
	for (size_t i = begin; i < text->bytes; i++)
		text->base[i] = lower_of(text->base[i]);
}

void fields_put_text(struct fields_text *text, const char *piece)
{
	fields_put(text, (struct span){(const uint8_t *)piece, strlen(piece)});
}

void fields_put_number(struct fields_text *text, uint64_t number)
{
	uint8_t digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (uint8_t)('0' + number % 10);
	while ((number /= 10) > 0);
	fields_put(text, (struct span){digits + at, sizeof(digits) - at});
}

void fields_put_line(struct fields_text *text, struct span name, struct span value)
{
	fields_put(text, name);
	fields_put_text(text, ": ");
	fields_put(text, value);
	fields_put_text(text, "\r\n");
}
