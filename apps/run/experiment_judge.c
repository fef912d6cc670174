#include "apps/run/experiment_judge.h"

#include "dataplane/core/units.h"
#include "apps/run/hosts.h"
#include "apps/run/place.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest warm-up or measured window: an hour. */
#define DURATION_MAX_NS (3600 * CLOCK_SECOND_NS)

/* The way to the value being judged: at most factors / KEY / [i] or excludes / [i] / KEY. */
struct way {
	struct place_step steps[3];
	unsigned count;
};

struct judge {
	struct experiment *experiment;
	struct problems *problems;
	const char *const *overrides;
	unsigned override_count;
};

static const char *const top_keys[] = {"schema",  "name",     "question", "fixed",
				       "factors", "excludes", "runs",	  "order",
				       "seed",	  "warmup",   "duration", "hosts"};
enum { TOP_KEYS = sizeof(top_keys) / sizeof(top_keys[0]) };

static const char *const plain_keys[] = {"runs", "order", "seed", "warmup", "duration"};
enum { PLAIN_KEYS = sizeof(plain_keys) / sizeof(plain_keys[0]) };

static bool is_one_of(const char *key, const char *const *keys, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

bool experiment_is_plain_key(const char *key)
{
	return is_one_of(key, plain_keys, PLAIN_KEYS);
}

static struct way way_key(const char *key)
{
	return (struct way){.steps = {{.key = key}}, .count = 1};
}

static struct way way_down(struct way way, const char *key, size_t index)
{
	way.steps[way.count++] = (struct place_step){key, index};
	return way;
}

/* The override that set this key, the last of several; or NULL. */
static const char *override_of(const struct judge *judge, const char *key)
{
	for (unsigned i = judge->override_count; i-- > 0;) {
		const char *override = judge->overrides[i];
		size_t bytes = strcspn(override, "=");

		if (strlen(key) == bytes && strncmp(override, key, bytes) == 0)
			return override;
	}
	return NULL;
}

static const char *way_override(const struct judge *judge, const struct way *way)
{
	for (unsigned i = 0; i < way->count; i++) {
		const char *key = way->steps[i].key;
		const char *override = key ? override_of(judge, key) : NULL;

		if (override && strcmp(way->steps[0].key, "excludes") != 0)
			return override;
	}
	return NULL;
}

/* Adds a problem that begins with where it is: file, line and column, or the override. */
__attribute__((format(printf, 4, 5))) static void
complain(const struct judge *judge, struct way way, bool at_key, const char *format, ...)
{
	const char *override = way_override(judge, &way);
	struct place place;
	char text[768];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (override) {
		problems_add(judge->problems, "--set %.80s: %s", override, text);
		return;
	}
	place = place_find(judge->experiment->text, way.steps, way.count, at_key);
	problems_add(judge->problems, "%s:%u:%u: %s", judge->experiment->path, place.line,
		     place.column, text);
}

static void complain_unknown(const struct judge *judge, struct way way, const char *key,
			     const char *const *names, unsigned count)
{
	char ask[NEAREST_TEXT];

	nearest_ask(key, names, count, "", ask);
	if (ask[0])
		ask[strlen(ask) - 1] = '\0'; /* ends the line */
	complain(judge, way, true, "unknown key '%s'%s%s", key, ask[0] ? "; " : "", ask);
}

static void judge_top_keys(const struct judge *judge)
{
	const char *key;
	json_t *value;

	json_object_foreach(judge->experiment->json, key,
			    value) if (!is_one_of(key, top_keys, TOP_KEYS))
		complain_unknown(judge, way_key(key), key, top_keys, TOP_KEYS);
}

/*
 * The value at a top key if it is there and of the type, else NULL; a wrong type, or a lack where
 * needed, is a problem.
 */
static const json_t *top_value(const struct judge *judge, const char *key, json_type type,
			       bool needed, const char *accepted)
{
	const json_t *value = json_object_get(judge->experiment->json, key);
	char *given;

	if (!value && needed)
		complain(judge, way_key(key), false, "'%s' is missing; accepted: %s", key,
			 accepted);
	if (!value || json_typeof(value) == type)
		return value;
	given = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	complain(judge, way_key(key), false, "'%s' is %.60s; accepted: %s", key, given, accepted);
	free(given);
	return NULL;
}

static void judge_schema(const struct judge *judge)
{
	static const char accepted[] = "\"" EXPERIMENT_SCHEMA "\"";
	const json_t *value = top_value(judge, "schema", JSON_STRING, true, accepted);

	if (value && strcmp(json_string_value(value), EXPERIMENT_SCHEMA) != 0)
		complain(judge, way_key("schema"), false,
			 "'schema' is \"%.60s\"; this version reads %s only",
			 json_string_value(value), accepted);
}

/* The name becomes part of a folder's. */
static void judge_name(const struct judge *judge)
{
	static const char accepted[] = "1 to 64 of a-z, 0-9 and '-'";
	const json_t *value = top_value(judge, "name", JSON_STRING, true, accepted);
	const char *name = value ? json_string_value(value) : NULL;
	size_t bytes = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;

	judge->experiment->name = name;
	if (name && (bytes == 0 || bytes > 64 || name[bytes] || name[0] == '-'))
		complain(judge, way_key("name"), false, "'name' is \"%.60s\"; accepted: %s", name,
			 accepted);
}

static void judge_question(const struct judge *judge)
{
	const json_t *value = top_value(judge, "question", JSON_STRING, false, "a sentence");

	judge->experiment->question = value ? json_string_value(value) : "";
}

/* A whole number of a top key, or `fallback`. */
static uint64_t judge_number(const struct judge *judge, const char *key, uint64_t least,
			     uint64_t most, uint64_t fallback)
{
	const json_t *value;
	char accepted[80];
	json_int_t number;

	snprintf(accepted, sizeof(accepted), "a whole number from %llu to %llu",
		 (unsigned long long)least, (unsigned long long)most);
	value = top_value(judge, key, JSON_INTEGER, false, accepted);
	if (!value)
		return fallback;
	number = json_integer_value(value);
	if (number >= 0 && (uint64_t)number >= least && (uint64_t)number <= most)
		return (uint64_t)number;
	complain(judge, way_key(key), false, "'%s' is %lld; accepted: %s", key, (long long)number,
		 accepted);
	return fallback;
}

static enum experiment_order judge_order(const struct judge *judge)
{
	static const char accepted[] = "\"rotate\", \"shuffle\" or \"abba\"";
	const json_t *value = top_value(judge, "order", JSON_STRING, false, accepted);
	const char *order = value ? json_string_value(value) : "rotate";

	for (enum experiment_order known = 0; known <= EXPERIMENT_ABBA; known++)
		if (strcmp(order, experiment_order_name(known)) == 0)
			return known;
	complain(judge, way_key("order"), false, "'order' is \"%.60s\"; accepted: %s", order,
		 accepted);
	return EXPERIMENT_ROTATE;
}

/* A time of at least `least_ns`; the text as written goes to `text_out`. */
static uint64_t judge_duration(const struct judge *judge, const char *key, const char *fallback,
			       uint64_t least_ns, const char **text_out)
{
	char accepted[80];
	const json_t *value;
	uint64_t ns = 0;

	snprintf(accepted, sizeof(accepted),
		 "%llums to 60m, with its unit, e.g. \"2s\" or \"500ms\"",
		 (unsigned long long)(least_ns / CLOCK_MS_NS));
	value = top_value(judge, key, JSON_STRING, false, accepted);
	*text_out = value ? json_string_value(value) : fallback;
	if (units_parse_duration(*text_out, &ns) < 0 || ns < least_ns || ns > DURATION_MAX_NS)
		complain(judge, way_key(key), false, "'%s' is \"%.60s\"; accepted: %s", key,
			 *text_out, accepted);
	return ns;
}

/* The setting a key names; SETTING_COUNT, and a problem, if it is none. */
static enum setting_id judge_setting(const struct judge *judge, struct way way, const char *key)
{
	enum setting_id id = setting_find(key);

	if (id == SETTING_COUNT)
		complain_unknown(judge, way, key, setting_names(), SETTING_COUNT);
	return id;
}

static bool judge_value(const struct judge *judge, struct way way, enum setting_id id,
			const json_t *json, struct setting_value *value_out)
{
	char why[512];

	if (setting_read(id, json, value_out, why, sizeof(why)) == 0)
		return true;
	complain(judge, way, false, "'%s' %s", setting_name(id), why);
	return false;
}

/* A size in words becomes its number, so that all who read what was in effect find that. */
static void judge_fixed(const struct judge *judge)
{
	const json_t *fixed = top_value(judge, "fixed", JSON_OBJECT, false, "an object");
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)fixed, key, value)
	{
		struct way way = way_down(way_key("fixed"), key, 0);
		enum setting_id id = judge_setting(judge, way, key);

		if (id < SETTING_COUNT &&
		    judge_value(judge, way, id, value, &judge->experiment->fixed.of[id]) &&
		    setting_kind(id) == SETTING_IS_NUMBER)
			json_object_set_new((json_t *)fixed, key,
					    setting_to_json(id, judge->experiment->fixed.of[id]));
	}
}

static bool has_level(const struct factor *factor, struct setting_value value)
{
	for (unsigned i = 0; i < factor->count; i++)
		if (setting_equal(factor->setting, factor->levels[i], value))
			return true;
	return false;
}

static void judge_levels(const struct judge *judge, struct way way, struct factor *factor,
			 const json_t *levels)
{
	const char *name = setting_name(factor->setting);
	size_t index;
	json_t *level;

	if (!json_is_array(levels) || json_array_size(levels) == 0 ||
	    json_array_size(levels) > EXPERIMENT_LEVELS_MAX) {
		complain(judge, way, false, "'%s' must be a list [...] of 1 to %d levels", name,
			 EXPERIMENT_LEVELS_MAX);
		return;
	}
	json_array_foreach(levels, index, level)
	{
		struct way here = way_down(way, NULL, index);
		struct setting_value value;

		if (!judge_value(judge, here, factor->setting, level, &value))
			continue;
		if (has_level(factor, value)) {
			complain(judge, here, false, "'%s' has this level twice", name);
			continue;
		}
		factor->levels[factor->count++] = value;
		if (setting_kind(factor->setting) == SETTING_IS_NUMBER)
			json_array_set_new((json_t *)levels, index,
					   setting_to_json(factor->setting, value));
	}
}

static void judge_factors(const struct judge *judge)
{
	struct experiment *experiment = judge->experiment;
	const json_t *factors = top_value(judge, "factors", JSON_OBJECT, false, "an object");
	const json_t *fixed = json_object_get(experiment->json, "fixed");
	const char *key;
	json_t *levels;

	json_object_foreach((json_t *)factors, key, levels)
	{
		struct way way = way_down(way_key("factors"), key, 0);
		enum setting_id id = judge_setting(judge, way, key);
		struct factor *factor = &experiment->factors[experiment->factor_count];
		struct way other = way_down(way_key("fixed"), key, 0);

		if (id == SETTING_COUNT)
			continue;
		if (json_object_get(fixed, key))
			complain(judge, way, true, "'%s' is varied here but fixed in line %u", key,
				 place_find(experiment->text, other.steps, 2, true).line);
		experiment->factor_count++;
		factor->setting = id;
		judge_levels(judge, way, factor, levels);
	}
}

static const struct factor *find_factor(const struct experiment *experiment, enum setting_id id)
{
	for (unsigned i = 0; i < experiment->factor_count; i++)
		if (experiment->factors[i].setting == id)
			return &experiment->factors[i];
	return NULL;
}

static void judge_exclude(const struct judge *judge, struct way way, const json_t *json,
			  struct exclude *exclude)
{
	const char *key;
	json_t *value;

	if (!json_is_object(json) || json_object_size(json) == 0)
		complain(judge, way, false,
			 "an exclude must be an object with at least one factor");
	json_object_foreach((json_t *)json, key, value)
	{
		struct way here = way_down(way, key, 0);
		enum setting_id id = judge_setting(judge, here, key);
		const struct factor *factor = find_factor(judge->experiment, id);

		if (id == SETTING_COUNT)
			continue;
		if (!judge_value(judge, here, id, value, &exclude->cell.of[id]))
			continue;
		if (!factor && !override_of(judge, key))
			complain(judge, here, true,
				 "'%s' is not varied, so nothing can be excluded by it", key);
		else if (factor && !has_level(factor, exclude->cell.of[id]) &&
			 !override_of(judge, key))
			complain(judge, here, false,
				 "'%s' never has this level, so this excludes nothing", key);
		exclude->mask |= 1u << id;
	}
}

static void judge_excludes(const struct judge *judge)
{
	struct experiment *experiment = judge->experiment;
	const json_t *excludes =
		top_value(judge, "excludes", JSON_ARRAY, false, "a list of objects");
	size_t index;
	json_t *json;

	if (json_array_size(excludes) > EXPERIMENT_EXCLUDES_MAX) {
		complain(judge, way_key("excludes"), false,
			 "'excludes' has %zu, accepted are at most %d", json_array_size(excludes),
			 EXPERIMENT_EXCLUDES_MAX);
		return;
	}
	json_array_foreach(excludes, index, json)
		judge_exclude(judge, way_down(way_key("excludes"), NULL, index), json,
			      &experiment->excludes[experiment->exclude_count++]);
}

static void judge_missing(const struct judge *judge)
{
	struct experiment *experiment = judge->experiment;
	const json_t *fixed = json_object_get(experiment->json, "fixed");

	for (unsigned id = 0; id < SETTING_COUNT; id++) {
		const char *name = setting_name(id);

		if (json_object_get(fixed, name) || find_factor(experiment, id) ||
		    setting_default(id, &experiment->fixed.of[id]))
			continue;
		complain(judge, way_key("fixed"), false,
			 "'%s' is missing: give it in \"fixed\" or in \"factors\"", name);
	}
}

void experiment_judge(struct experiment *experiment, const char *const *overrides,
		      unsigned override_count, struct problems *problems)
{
	struct judge judge = {experiment, problems, overrides, override_count};

	judge_top_keys(&judge);
	judge_schema(&judge);
	judge_name(&judge);
	judge_question(&judge);
	judge_fixed(&judge);
	judge_factors(&judge);
	judge_excludes(&judge);
	judge_missing(&judge);
	hosts_judge(json_object_get(experiment->json, "hosts"), experiment->path, experiment->text,
		    problems);
	experiment->build_count = 1;
	experiment->runs = (unsigned)judge_number(&judge, "runs", 1, EXPERIMENT_RUNS_MAX, 1);
	experiment->order = judge_order(&judge);
	experiment->seed = judge_number(&judge, "seed", 0, INT64_MAX, 1);
	experiment->warmup_ns = judge_duration(&judge, "warmup", "1s", 0, &experiment->warmup);
	experiment->duration_ns =
		judge_duration(&judge, "duration", "3s", 100 * CLOCK_MS_NS, &experiment->duration);
}
