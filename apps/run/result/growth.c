#include "apps/run/result/growth.h"

#include "apps/common/json.h"

#include <stdio.h>

const char growth_no_snapshots[] = "the server's snapshots of the measured window are lacking";

const json_t *growth_find(const json_t *snapshot, struct growth_source source)
{
	const json_t *in = source.section[0] ? json_object_get(snapshot, source.section) : snapshot;

	return json_object_get(in, source.name);
}

/* Why a snapshot lacks a number. */
static const char *reason_of(const json_t *snapshot, struct growth_source source)
{
	const json_t *in = source.section[0] ? json_object_get(snapshot, source.section) : snapshot;
	const char *said;
	char key[96];

	snprintf(key, sizeof(key), "%s_reason", source.name);
	said = json_string_value(json_object_get(in, key));
	return said ? said : "not counted by this stack or host";
}

bool growth_of(const json_t *before, const json_t *after, struct growth_source source,
	       double *growth_out, const char **reason_out)
{
	const json_t *first = growth_find(before, source), *last = growth_find(after, source);

	*reason_out = json_is_number(last) ? reason_of(before, source) : reason_of(after, source);
	if (!before || !after)
		*reason_out = growth_no_snapshots;
	if (!json_is_number(first) || !json_is_number(last))
		return false;
	*reason_out = "the counter went backwards";
	*growth_out = json_number_value(last) - json_number_value(first);
	return *growth_out >= 0;
}

void growth_set(json_t *to, const char *name, const json_t *before, const json_t *after,
		struct growth_source source)
{
	const char *reason;
	double value;

	if (growth_of(before, after, source, &value, &reason))
		json_object_set_new(to, name, json_integer((json_int_t)value));
	else
		json_set_unknown(to, name, reason);
}

void growth_set_ratio(json_t *to, const char *name, bool known, double over, double under,
		      double scale, const char *reason)
{
	if (known && under > 0)
		json_object_set_new(to, name, json_real(over / under * scale));
	else
		json_set_unknown(to, name,
				 known ? "nothing to divide by: none in the window" : reason);
}

void growth_set_level(json_t *to, const char *name, const json_t *snapshot,
		      struct growth_source source)
{
	const json_t *value = growth_find(snapshot, source);

	if (json_is_number(value))
		json_object_set(to, name, (json_t *)value);
	else
		json_set_unknown(to, name,
				 snapshot ? reason_of(snapshot, source) : growth_no_snapshots);
}
