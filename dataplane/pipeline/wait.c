#include "dataplane/pipeline/wait.h"

#include "dataplane/core/clock.h"
#include "dataplane/core/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SPIN_DEFAULT_NS (50ull * 1000)
#define SPIN_MIN_NS 1000ull
#define SPIN_MAX_NS CLOCK_SECOND_NS

const char wait_usage[] =
	"block, spin or adaptive[:T] (spin for T, from 1us to 1s with its unit, then block)";

static int parse_adaptive(const char *rest, struct wait *wait_out)
{
	uint64_t spin_ns = SPIN_DEFAULT_NS;

	if (*rest && (*rest != ':' || units_parse_duration(rest + 1, &spin_ns) < 0))
		return -EINVAL;
	if (spin_ns < SPIN_MIN_NS || spin_ns > SPIN_MAX_NS)
		return -EINVAL;
	*wait_out = (struct wait){.kind = WAIT_ADAPTIVE, .spin_ns = spin_ns};
	return 0;
}

int wait_parse(const char *name, struct wait *wait_out)
{
	static const char adaptive[] = "adaptive";
	size_t bytes = sizeof(adaptive) - 1;

	if (strcmp(name, "block") == 0)
		*wait_out = (struct wait){.kind = WAIT_BLOCK};
	else if (strcmp(name, "spin") == 0)
		*wait_out = (struct wait){.kind = WAIT_SPIN};
	else if (strncmp(name, adaptive, bytes) == 0)
		return parse_adaptive(name + bytes, wait_out);
	else
		return -EINVAL;
	return 0;
}

const char *wait_print(const struct wait *wait, char text[WAIT_TEXT])
{
	char time[UNITS_TEXT];

	if (wait->kind == WAIT_ADAPTIVE)
		snprintf(text, WAIT_TEXT, "adaptive:%s", units_print_duration(wait->spin_ns, time));
	else
		snprintf(text, WAIT_TEXT, "%s", wait->kind == WAIT_BLOCK ? "block" : "spin");
	return text;
}
