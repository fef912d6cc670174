#include "apps/run/experiment/complaint.h"

#include "dataplane/core/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct way way_key(const char *key)
{
	return (struct way){.steps = {{.key = key}}, .count = 1};
}

struct way way_down(struct way way, const char *key, size_t index)
{
	way.steps[way.count++] = (struct place_step){key, index};
	return way;
}

/* The last of several KEY=VALUE texts of this key, or NULL. */
static const char *find_pair(const char *const *pairs, unsigned count, const char *key)
{
	for (unsigned i = count; i-- > 0;) {
		size_t bytes = strcspn(pairs[i], "=");

		if (strlen(key) == bytes && strncmp(pairs[i], key, bytes) == 0)
			return pairs[i];
	}
	return NULL;
}

static const char *find_override(const struct judge *judge, const char *key)
{
	const struct experiment_changes *changes = judge->changes;

	return find_pair(changes->overrides, changes->override_count, key);
}

bool judge_is_changed(const struct judge *judge, const char *key)
{
	return find_override(judge, key) != NULL;
}

/* The flag and its text, if the value at the way is from the command line; else NULL. */
static const char *find_change(const struct judge *judge, const struct way *way,
			       const char **flag_out)
{
	const struct experiment_changes *changes = judge->changes;
	const char *top = way->steps[0].key, *key = NULL;

	if (strcmp(top, "profiles") == 0 && changes->profiles) {
		*flag_out = "--profile";
		return changes->profiles;
	}
	if (strcmp(top, "variants") == 0 && way->count > 1) {
		*flag_out = "--variant (or VARIANTS)";
		return find_pair(changes->variants, changes->variant_count, way->steps[1].key);
	}
	if (way->count == 1)
		key = top;
	else if (strcmp(top, "fixed") == 0 || strcmp(top, "factors") == 0)
		key = way->steps[1].key;
	*flag_out = "--set";
	return key ? find_override(judge, key) : NULL;
}

void complain(const struct judge *judge, struct way way, bool at_key, const char *format, ...)
{
	const char *flag, *change = find_change(judge, &way, &flag);
	struct place place;
	char text[768];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (change) {
		problems_add(judge->problems, "%s %.80s: %s", flag, change, text);
		return;
	}
	place = place_find(judge->experiment->text, way.steps, way.count, at_key);
	problems_add(judge->problems, "%s:%u:%u: %s", judge->experiment->path, place.line,
		     place.column, text);
}

void complain_unknown(const struct judge *judge, struct way way, const char *noun, const char *name,
		      const char *const *names, unsigned count)
{
	char ask[NEAREST_TEXT];

	nearest_ask(name, names, count, "", ask);
	if (ask[0])
		ask[strlen(ask) - 1] = '\0'; /* ends the line */
	complain(judge, way, strcmp(noun, "key") == 0, "unknown %s '%.60s'%s%s", noun, name,
		 ask[0] ? "; " : "", ask);
}

const char *complaint_place(const struct judge *judge, struct way way,
			    char text[COMPLAINT_PLACE_BYTES])
{
	const char *flag, *change = find_change(judge, &way, &flag);

	if (change)
		snprintf(text, COMPLAINT_PLACE_BYTES, "by %s %.80s", flag, change);
	else
		snprintf(text, COMPLAINT_PLACE_BYTES, "in line %u",
			 place_find(judge->experiment->text, way.steps, way.count, true).line);
	return text;
}

void complain_value(const struct judge *judge, struct way way, const char *name,
		    const json_t *value, const char *accepted)
{
	/* 0.98 as it was written, and not its 17 digits */
	char *given = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));

	complain(judge, way, false, "'%.40s' is %.60s; accepted: %s", name,
		 given ? given : "(unprintable)", accepted);
	free(given);
}

const json_t *judge_top(const struct judge *judge, const char *key, json_type type, bool needed,
			const char *accepted)
{
	const json_t *value = json_object_get(judge->experiment->json, key);

	if (!value && needed)
		complain(judge, way_key(key), false, "'%s' is missing; accepted: %s", key,
			 accepted);
	if (!value || json_typeof(value) == type)
		return value;
	complain_value(judge, way_key(key), key, value, accepted);
	return NULL;
}
