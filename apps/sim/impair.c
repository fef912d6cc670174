#include "apps/sim/impair.h"

#include "dataplane/core/units.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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

/* Says what is wrong, and is what a parser then returns. */
static int __attribute__((format(printf, 2, 3)))
refuse(char wrong[IMPAIR_WRONG_BYTES], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(wrong, IMPAIR_WRONG_BYTES, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

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

/* What a list may have, and where it goes: a share or a time. */
struct field {
	const char *name;
	unsigned *share;
	uint64_t *ns;
	bool given;
};

enum { FIELDS = 9, REORDER = 3, HOLD = 8 };

/* One "name=value" of a list. */
static int parse_part(char *part, struct field fields[FIELDS], char wrong[IMPAIR_WRONG_BYTES])
{
	char *value = strchr(part, '=');
	struct field *field = fields;

	if (!value)
		return refuse(wrong,
			      "'%.40s' is neither a kind of fault nor NAME=VALUE; wanted: %s", part,
			      IMPAIR_ACCEPTS);
	*value++ = '\0';
	while (field < fields + FIELDS && strcmp(field->name, part) != 0)
		field++;
	if (field == fields + FIELDS)
		return refuse(wrong, "'%.40s' is no fault; a list may have " IMPAIR_LIST, part);
	if (field->given)
		return refuse(wrong, "%s is given twice", part);
	field->given = true;
	if (field->share && parse_share(value, field->share) < 0)
		return refuse(wrong,
			      "%s=%.40s: wanted is 0%% to 100%% with at most one digit behind the "
			      "point, like %s=0.5%%",
			      part, value, part);
	if (field->ns && parse_time(value, field->ns) < 0)
		return refuse(wrong, "%s=%.40s: wanted is a time of at most 100 ms, like %s=5ms",
			      part, value, part);
	return 0;
}

/* What parts of a list say together. */
static int judge_list(const struct wire_faults *faults, const struct field fields[FIELDS],
		      char wrong[IMPAIR_WRONG_BYTES])
{
	uint64_t late_ns = faults->jitter_ns + (faults->reorder > 0 ? faults->reorder_ns : 0);

	if (fields[HOLD].given && !fields[REORDER].given)
		return refuse(wrong, "hold is for frames that reorder strikes; add reorder, like "
				     "reorder=5%%");
	/* Late duplicates must end before what they are of (see above). */
	if (faults->duplicate > 0 && late_ns > DELAYS_HELD * faults->delay_ns)
		return refuse(wrong,
			      "with duplicate, hold (%g ms unless said) and jitter together may be "
			      "at most %d times the delay; they are %g ms, and the delay is %g ms",
			      (double)HOLD_NS / 1e6, DELAYS_HELD, (double)late_ns / 1e6,
			      (double)faults->delay_ns / 1e6);
	return 0;
}

static int parse_list(char *rest, struct impair *impair, char wrong[IMPAIR_WRONG_BYTES])
{
	struct field fields[FIELDS] = {
		{.name = "loss", .share = &impair->faults.loss},
		{.name = "duplicate", .share = &impair->faults.duplicate},
		{.name = "corrupt", .share = &impair->faults.corrupt},
		[REORDER] = {.name = "reorder", .share = &impair->faults.reorder},
		{.name = "mark", .share = &impair->faults.mark},
		{.name = "stall", .share = &impair->stall_permille},
		{.name = "delay", .ns = &impair->faults.delay_ns},
		{.name = "jitter", .ns = &impair->faults.jitter_ns},
		[HOLD] = {.name = "hold", .ns = &impair->faults.reorder_ns},
	};
	char *part;

	while ((part = strsep(&rest, ",")))
		if (parse_part(part, fields, wrong) < 0)
			return -EINVAL;
	return judge_list(&impair->faults, fields, wrong);
}

int impair_parse(const char *text, struct impair *impair_out, char wrong[IMPAIR_WRONG_BYTES])
{
	struct impair impair = {.faults.reorder_ns = HOLD_NS};
	char copy[TEXT_MAX];

	for (unsigned i = 0; i < impair_kinds_count; i++)
		if (strcmp(impair_kinds[i].name, text) == 0) {
			*impair_out = impair_kinds[i].impair;
			return 0;
		}
	if (strlen(text) >= TEXT_MAX)
		return refuse(wrong, "the list is longer than %d characters", TEXT_MAX - 1);
	strcpy(copy, text);
	if (parse_list(copy, &impair, wrong) < 0)
		return -EINVAL;
	*impair_out = impair;
	return 0;
}
