#include "dataplane/pipeline/date.h"

#include "dataplane/core/clock.h"

#include <string.h>
#include <time.h>

enum { DAY_SECONDS = 24 * 60 * 60 };

void date_init(struct date *date)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	*date = (struct date){0};
	date->ahead_ns = (uint64_t)wall.tv_sec * CLOCK_SECOND_NS + (uint64_t)wall.tv_nsec -
			 clock_now_ns();
}

static void put_two(char *to, unsigned value)
{
	to[0] = (char)('0' + value / 10);
	to[1] = (char)('0' + value % 10);
}

/*
 * The day of the era as day, month (0 is January) and year. Years are counted from March, so that
 * the leap day is a year's last.
 */
static void split_days(uint64_t days, unsigned *day, unsigned *month, unsigned *year)
{
	uint64_t shifted = days + 719468; /* since 1 March of the year 0 */
	uint64_t era = shifted / 146097, within = shifted % 146097;
	uint64_t era_year = (within - within / 1460 + within / 36524 - within / 146096) / 365;
	uint64_t year_day = within - (365 * era_year + era_year / 4 - era_year / 100);
	uint64_t from_march = (5 * year_day + 2) / 153;

	*day = (unsigned)(year_day - (153 * from_march + 2) / 5 + 1);
	*month = (unsigned)((from_march + 2) % 12);
	*year = (unsigned)(era * 400 + era_year + (*month < 2));
}

/* "Tue, 01 Dec 2026 07:38:03 GMT" */
static void write_text(char *text, uint64_t seconds)
{
	static const char days[] = "ThuFriSatSunMonTueWed"; /* the first day was a Thursday */
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	unsigned day, month, year, time = (unsigned)(seconds % DAY_SECONDS);

	split_days(seconds / DAY_SECONDS, &day, &month, &year);
	memcpy(text, "Xxx, 00 Xxx 0000 00:00:00 GMT", DATE_BYTES + 1);
	memcpy(text, days + seconds / DAY_SECONDS % 7 * 3, 3);
	put_two(text + 5, day);
	memcpy(text + 8, months + (size_t)month * 3, 3);
	put_two(text + 12, year / 100);
	put_two(text + 14, year % 100);
	put_two(text + 17, time / 3600);
	put_two(text + 20, time / 60 % 60);
	put_two(text + 23, time % 60);
}

void date_renew(struct date *date, uint64_t now_ns)
{
	uint64_t wall_ns = now_ns + date->ahead_ns;

	write_text(date->text, wall_ns / CLOCK_SECOND_NS);
	date->until_ns = now_ns + CLOCK_SECOND_NS - wall_ns % CLOCK_SECOND_NS;
}
