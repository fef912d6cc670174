#include "dataplane/proto/http1_date.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
				   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

enum { DAY_SECONDS = 24 * 60 * 60, DAYS_OF_400_YEARS = 146097, DAYS_BEFORE_1970 = 719468 };

struct civil {
	int64_t year;
	unsigned month; /* 1 to 12 */
	unsigned day;	/* 1 to 31 */
};

/*
 * Both count days from 0000-03-01, so that a leap day is the last of its year; an era has 400 years
 * (Hinnant, "chrono-compatible low-level date algorithms").
 */
static struct civil civil_of(int64_t days_since_1970)
{
	int64_t day = days_since_1970 + DAYS_BEFORE_1970;
	int64_t era = (day >= 0 ? day : day - (DAYS_OF_400_YEARS - 1)) / DAYS_OF_400_YEARS;
	unsigned of_era = (unsigned)(day - era * DAYS_OF_400_YEARS);
	unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
	unsigned shifted = (5 * of_year + 2) / 153;
	unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;

	return (struct civil){.year = (int64_t)year + era * 400 + (month <= 2),
			      .month = month,
			      .day = of_year - (153 * shifted + 2) / 5 + 1};
}

static int64_t days_of(const struct civil *civil)
{
	int64_t year = civil->year - (civil->month <= 2);
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	unsigned in_era = (unsigned)(year - era * 400);
	unsigned shifted = civil->month > 2 ? civil->month - 3 : civil->month + 9;
	unsigned of_year = (153 * shifted + 2) / 5 + civil->day - 1;

	return era * DAYS_OF_400_YEARS + in_era * 365 + in_era / 4 - in_era / 100 + of_year -
	       DAYS_BEFORE_1970;
}

static char *put_digits(char *to, unsigned value, unsigned digits)
{
	for (unsigned i = digits; i-- > 0; value /= 10)
		to[i] = (char)('0' + value % 10);
	return to + digits;
}

static char *put_text(char *to, const char *text)
{
	size_t bytes = strlen(text);

	memcpy(to, text, bytes);
	return to + bytes;
}

void http1_date_print(int64_t seconds, char *to)
{
	int64_t rest = (seconds % DAY_SECONDS + DAY_SECONDS) % DAY_SECONDS;
	int64_t day = (seconds - rest) / DAY_SECONDS;
	struct civil civil = civil_of(day);

	to = put_text(to, days[((day + 4) % 7 + 7) % 7]);
	to = put_text(to, ", ");
	to = put_digits(to, civil.day, 2);
	to = put_text(to, " ");
	to = put_text(to, months[civil.month - 1]);
	to = put_text(to, " ");
	to = put_digits(to, (unsigned)civil.year, 4);
	to = put_text(to, " ");
	to = put_digits(to, (unsigned)(rest / 3600), 2);
	to = put_text(to, ":");
	to = put_digits(to, (unsigned)(rest / 60 % 60), 2);
	to = put_text(to, ":");
	to = put_digits(to, (unsigned)(rest % 60), 2);
	put_text(to, " GMT");
}

/* --- reading: a form is a pattern of which each letter says what stands there --- */

struct reading {
	struct civil civil;
	unsigned hour, minute, second;
};

static bool digits_of(const uint8_t *text, unsigned digits, bool spaced, unsigned *value_out)
{
	unsigned value = 0;

	for (unsigned i = 0; i < digits; i++) {
		if (spaced && i == 0 && text[0] == ' ')
			continue;
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*value_out = value;
	return true;
}

static bool month_of(const uint8_t *text, unsigned *month_out)
{
	for (unsigned i = 0; i < 12; i++) {
		if (memcmp(text, months[i], 3) == 0) {
			*month_out = i + 1;
			return true;
		}
	}
	return false;
}

static bool year_of(const uint8_t *text, unsigned digits, int64_t *year_out)
{
	unsigned year = 0;

	if (!digits_of(text, digits, false, &year))
		return false;
	if (digits == 2)
		year += year < 70 ? 2000 : 1900;
	*year_out = year;
	return true;
}

/* One part of a pattern at `text`; how many bytes it is long, 0 if it is not there. */
static unsigned read_part(char part, const uint8_t *text, struct reading *reading)
{
	switch (part) {
	case 'D':
		return digits_of(text, 2, false, &reading->civil.day) ? 2 : 0;
	case 'd':
		return digits_of(text, 2, true, &reading->civil.day) ? 2 : 0;
	case 'M':
		return month_of(text, &reading->civil.month) ? 3 : 0;
	case 'Y':
		return year_of(text, 4, &reading->civil.year) ? 4 : 0;
	case 'y':
		return year_of(text, 2, &reading->civil.year) ? 2 : 0;
	case 'h':
		return digits_of(text, 2, false, &reading->hour) ? 2 : 0;
	case 'm':
		return digits_of(text, 2, false, &reading->minute) ? 2 : 0;
	case 's':
		return digits_of(text, 2, false, &reading->second) ? 2 : 0;
	case 'Z':
		return memcmp(text, "GMT", 3) == 0 ? 3 : 0;
	default:
		return *text == (uint8_t)part;
	}
}

static bool read_pattern(const char *pattern, struct span text, struct reading *reading)
{
	uint8_t padded[HTTP1_DATE_BYTES + 4] = {0}; /* so that no part reads beyond */
	size_t at = 0;

	if (text.bytes > HTTP1_DATE_BYTES)
		return false;
	memcpy(padded, text.base, text.bytes);
	for (; *pattern; pattern++) {
		unsigned bytes = read_part(*pattern, padded + at, reading);

		if (bytes == 0)
			return false;
		at += bytes;
	}
	return at == text.bytes;
}

/* The number of letters before the first that is none: a day's name. */
static size_t letters(struct span text)
{
	size_t count = 0;

	while (count < text.bytes && (text.base[count] | 32) >= 'a' &&
	       (text.base[count] | 32) <= 'z')
		count++;
	return count;
}

static bool in_range(const struct reading *reading)
{
	return reading->civil.day >= 1 && reading->civil.day <= 31 && reading->hour < 24 &&
	       reading->minute < 60 && reading->second <= 60;
}

int http1_date_parse(struct span text, int64_t *seconds_out)
{
	static const char *const patterns[] = {", D M Y h:m:s Z", ", D-M-y h:m:s Z",
					       " M d h:m:s Y"};
	size_t name = letters(text);
	struct span rest = {text.base + name, text.bytes - name};

	if (name < 3)
		return -EINVAL;
	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct reading reading = {0};

		if (!read_pattern(patterns[i], rest, &reading) || !in_range(&reading))
			continue;
		*seconds_out = days_of(&reading.civil) * DAY_SECONDS + reading.hour * 3600 +
			       reading.minute * 60 + reading.second;
		return 0;
	}
	return -EINVAL;
}
