#include "dataplane/pipeline/date.h"

#include <time.h>

void date_init(struct date *date)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	*date = (struct date){0};
	date->ahead_ns =
		(uint64_t)wall.tv_sec * CLOCK_SECOND_NS + (uint64_t)wall.tv_nsec - clock_now_ns();
}

void date_renew(struct date *date, uint64_t now_ns)
{
	uint64_t wall_ns = now_ns + date->ahead_ns;

	http1_date_print((int64_t)(wall_ns / CLOCK_SECOND_NS), date->text);
	date->until_ns = now_ns + CLOCK_SECOND_NS - wall_ns % CLOCK_SECOND_NS;
}
