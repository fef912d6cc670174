#include "dataplane/core/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t size;
};

/* Each is a multiple of the one before; minutes and hours are read, but not printed. */
enum { BYTE_UNITS = 4, TIME_UNITS = 6, TIME_UNITS_PRINTED = 4 };

static const struct unit byte_units[BYTE_UNITS] = {
	{"", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

static const struct unit time_units[TIME_UNITS] = {{"ns", 1},
						   {"us", 1000},
						   {"ms", 1000 * 1000},
						   {"s", 1000 * 1000 * 1000},
						   {"m", 60ull * 1000 * 1000 * 1000},
						   {"h", 3600ull * 1000 * 1000 * 1000}};

/* Reads digits up to the first other character; NULL if there are none or the sum passes `max`. */
static const char *read_digits(const char *text, uint64_t max, uint64_t *value_out)
{
	uint64_t value = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (digit > max || value > (max - digit) / 10)
			return NULL;
		value = value * 10 + digit;
	}
	if (at == text || (text[0] == '0' && at > text + 1))
		return NULL;
	*value_out = value;
	return at;
}

static const struct unit *find_unit(const struct unit *units, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

int units_parse_count(const char *text, uint64_t max, uint64_t *count_out)
{
	uint64_t count;
	const char *end = read_digits(text, max, &count);

	if (!end || *end)
		return -EINVAL;
	*count_out = count;
	return 0;
}

int units_parse_bytes(const char *text, uint64_t max, uint64_t *bytes_out)
{
	uint64_t count;
	const char *end = read_digits(text, max, &count);
	const struct unit *unit = end ? find_unit(byte_units, BYTE_UNITS, end) : NULL;

	if (!unit || count > max / unit->size)
		return -EINVAL;
	*bytes_out = count * unit->size;
	return 0;
}

/* Reads ".5" as half a unit: what it adds, ns. NULL if the point has no digit behind it. */
static const char *read_fraction(const char *text, double *fraction_out)
{
	double scale = 0.1;
	const char *at = text + 1;

	*fraction_out = 0;
	for (; *at >= '0' && *at <= '9'; at++, scale /= 10)
		*fraction_out += scale * (*at - '0');
	return at == text + 1 ? NULL : at;
}

int units_parse_duration(const char *text, uint64_t *ns_out)
{
	double fraction = 0;
	uint64_t whole;
	const char *end = read_digits(text, INT64_MAX, &whole);
	const struct unit *unit;

	if (end && *end == '.')
		end = read_fraction(end, &fraction);
	unit = end ? find_unit(time_units, TIME_UNITS, end) : NULL;
	if (!unit || whole >= INT64_MAX / unit->size)
		return -EINVAL;
	*ns_out = whole * unit->size + (uint64_t)(fraction * (double)unit->size + 0.5);
	return 0;
}

/* In the largest unit of which `value` is a whole number. */
static const char *print(uint64_t value, const struct unit *units, unsigned count,
			 char text[UNITS_TEXT])
{
	const struct unit *unit = &units[count - 1];

	while (value % unit->size != 0)
		unit--;
	snprintf(text, UNITS_TEXT, "%" PRIu64 "%s", value / unit->size, unit->name);
	return text;
}

const char *units_print_duration(uint64_t ns, char text[UNITS_TEXT])
{
	return print(ns, time_units, TIME_UNITS_PRINTED, text);
}

const char *units_print_bytes(uint64_t bytes, char text[UNITS_TEXT])
{
	return print(bytes, byte_units, bytes ? BYTE_UNITS : 1, text);
}
