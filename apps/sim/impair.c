#include "apps/sim/impair.h"

#include "dataplane/core/units.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 256, DELAYS_HELD = 5 };

#define MS 1000000ull
#define TIME_MAX_NS (100 * MS)
#define HOLD_NS (5 * MS) /* where a list does not say */
#define WITNESS(total) offsetof(struct world_totals, total)

/*
 * Initial numbers are fixed here, so that they stand just under the wrap, and fixed numbers do not
 * tell a late duplicate of an old connection from a new one, as those of RFC 6528 do. So where
 * frames are duplicated, none is held back for longer than the shortest connection lasts: five
 * times the delay.
 */
const struct impair_kind impair_kinds[] = {
	{"clean", WITNESS(bytes), {{.delay_ns = 50000}, 0}},
	{"loss", WITNESS(fast_retransmits), {{.loss = 100, .delay_ns = 50000}, 0}},
	{"reorder",
	 WITNESS(kept_out_of_order),
	 {{.reorder = 200, .reorder_ns = 5 * MS, .delay_ns = 200000}, 0}},
	{"duplicate",
	 WITNESS(dropped),
	 {{.duplicate = 200, .reorder = 50, .reorder_ns = 5 * MS, .delay_ns = 2 * MS}, 0}},
	{"corrupt", WITNESS(dropped), {{.corrupt = 150, .delay_ns = 50000}, 0}},
	{"mark", WITNESS(marked), {{.mark = 200, .delay_ns = 1 * MS}, 0}},
	{"delay", WITNESS(probes), {{.delay_ns = 20 * MS, .jitter_ns = 80 * MS}, 0}},
	{"stall", WITNESS(timeouts), {{.delay_ns = 1 * MS}, 10}},
	{"all",
	 WITNESS(retransmits),
	 {{.loss = 50,
	   .duplicate = 50,
	   .corrupt = 50,
	   .reorder = 100,
	   .mark = 100,
	   .reorder_ns = 15 * MS,
	   .delay_ns = 8 * MS,
	   .jitter_ns = 8 * MS},
	  1}},
};
const unsigned impair_kinds_count = sizeof(impair_kinds) / sizeof(impair_kinds[0]);

/* "1%" or "0.1%" in thousandths. */
static int parse_share(const char *text, unsigned *permille_out)
{
	char *end;
	double permille = strtod(text, &end) * 10;

	if (end == text || strcmp(end, "%") != 0 || !(permille >= 0 && permille <= 1000) ||
	    fabs(permille - round(permille)) > 1e-6)
		return -EINVAL;
	*permille_out = (unsigned)round(permille);
	return 0;
}

static int parse_time(const char *text, uint64_t *ns_out)
{
	uint64_t ns;

	if (units_parse_duration(text, &ns) < 0 || ns > TIME_MAX_NS)
		return -EINVAL;
	*ns_out = ns;
	return 0;
}

/* One "name=value" of a list. */
static int parse_part(char *part, struct impair *impair)
{
	struct {
		const char *name;
		unsigned *share;
		uint64_t *ns;
	} fields[] = {
		{"loss", &impair->faults.loss, NULL},
		{"duplicate", &impair->faults.duplicate, NULL},
		{"corrupt", &impair->faults.corrupt, NULL},
		{"reorder", &impair->faults.reorder, NULL},
		{"mark", &impair->faults.mark, NULL},
		{"stall", &impair->stall_permille, NULL},
		{"delay", NULL, &impair->faults.delay_ns},
		{"jitter", NULL, &impair->faults.jitter_ns},
		{"hold", NULL, &impair->faults.reorder_ns},
	};
	char *value = strchr(part, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(fields[i].name, part) == 0)
			return fields[i].share ? parse_share(value, fields[i].share)
					       : parse_time(value, fields[i].ns);
	return -EINVAL;
}

/* Whether late duplicates end before what they are of (see above). */
static bool is_sound(const struct wire_faults *faults)
{
	uint64_t late_ns = faults->jitter_ns + (faults->reorder > 0 ? faults->reorder_ns : 0);

	return faults->duplicate == 0 || late_ns <= DELAYS_HELD * faults->delay_ns;
}

int impair_parse(const char *text, struct impair *impair_out)
{
	struct impair impair = {.faults.reorder_ns = HOLD_NS};
	char copy[TEXT_MAX], *rest;

	for (unsigned i = 0; i < impair_kinds_count; i++)
		if (strcmp(impair_kinds[i].name, text) == 0) {
			*impair_out = impair_kinds[i].impair;
			return 0;
		}
	if (strlen(text) >= TEXT_MAX)
		return -EINVAL;
	strcpy(copy, text);
	for (char *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
		if (parse_part(part, &impair) < 0)
			return -EINVAL;
	if (*text == '\0' || !is_sound(&impair.faults))
		return -EINVAL;
	*impair_out = impair;
	return 0;
}
