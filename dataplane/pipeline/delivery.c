#include "dataplane/pipeline/delivery.h"

#include "dataplane/core/limits.h"
#include "dataplane/core/units.h"

#include <errno.h>
#include <string.h>

_Static_assert(LIMIT_SEND_BYTES / 2 == 32 * 1024, "delivery_usage says so");

const char delivery_usage[] =
	"immediate, coalesce or flush-at:N (N from 1 to 32KiB, like 2048 or 2KiB)";

/* A size in [1, max]; 0 if it is not one. */
static uint32_t parse_bytes(const char *text, uint32_t max)
{
	uint64_t bytes;

	return units_parse_bytes(text, max, &bytes) < 0 ? 0 : (uint32_t)bytes;
}

int delivery_parse(const char *name, struct delivery *delivery_out)
{
	static const char flush_at[] = "flush-at:";
	uint32_t threshold = 0;

	if (strcmp(name, "immediate") == 0)
		threshold = 1;
	else if (strcmp(name, "coalesce") == 0)
		threshold = LIMIT_COALESCE_BYTES;
	else if (strncmp(name, flush_at, sizeof(flush_at) - 1) == 0)
		threshold = parse_bytes(name + sizeof(flush_at) - 1, LIMIT_SEND_BYTES / 2);
	if (threshold == 0)
		return -EINVAL;
	delivery_out->threshold_bytes = threshold;
	return 0;
}
