#include "apps/run/experiment/axis_judge.h"

#include "dataplane/core/nearest.h"

#include <stdio.h>
#include <string.h>

/* Where each setting stands: `count` is 0 for one that was not met yet. */
struct owners {
	struct way of[SETTING_COUNT];
};

/* The setting a key names; SETTING_COUNT, and a problem, if it is none. */
static enum setting_id judge_setting(const struct judge *judge, struct way way, const char *key)
{
	enum setting_id id = setting_find(key);

	if (id == SETTING_COUNT)
		complain_unknown(judge, way, "key", key, setting_names(), SETTING_COUNT);
	return id;
}

bool axis_judge_value(const struct judge *judge, struct way way, enum setting_id id,
		      const json_t *json, struct setting_value *value_out)
{
	char why[512];

	if (setting_read(id, json, value_out, why, sizeof(why)) == 0)
		return true;
	complain(judge, way, false, "'%s' %s", setting_name(id), why);
	return false;
}

/* Notes that the setting stands here; a problem if it stands in another part too. */
static void own(const struct judge *judge, struct owners *owners, enum setting_id id,
		struct way way)
{
	struct way *owner = &owners->of[id];
	const char *part = way.steps[0].key;
	char place[COMPLAINT_PLACE_BYTES];

	if (id == SETTING_TLS && strcmp(part, "variants") == 0)
		complain(judge, way, true,
			 "'tls' cannot be what variants differ in: plain and TLS are different "
			 "paths; give it in \"fixed\", \"factors\" or \"scenarios\"");
	if (owner->count && strcmp(owner->steps[0].key, part) != 0)
		complain(judge, way, true, "'%s' is set here and in \"%s\" %s; it may stand in one",
			 setting_name(id), owner->steps[0].key,
			 complaint_place(judge, *owner, place));
	else
		*owner = way;
}

static const json_t *judge_object(const struct judge *judge, const char *key)
{
	return judge_top(judge, key, JSON_OBJECT, false, "an object");
}

/* A level's settings, or those that are fixed: `mask_out` gets those that could be read. */
static void judge_settings(const struct judge *judge, struct owners *owners, struct way way,
			   json_t *settings, struct cell *cell, uint32_t *mask_out)
{
	const char *key;
	json_t *value;

	json_object_foreach(settings, key, value)
	{
		struct way here = way_down(way, key, 0);
		enum setting_id id = judge_setting(judge, here, key);

		if (id == SETTING_COUNT)
			continue;
		own(judge, owners, id, here);
		if (!axis_judge_value(judge, here, id, value, &cell->of[id]))
			continue;
		*mask_out |= 1u << id;
		if (setting_kind(id) == SETTING_IS_NUMBER)
			json_object_set_new(settings, key, setting_to_json(id, cell->of[id]));
	}
}

static void judge_fixed(const struct judge *judge, struct owners *owners)
{
	json_t *fixed = (json_t *)judge_object(judge, "fixed");
	uint32_t ignored = 0;

	judge_settings(judge, owners, way_key("fixed"), fixed, &judge->experiment->fixed, &ignored);
}

bool axis_factor_has(const struct axis *factor, struct setting_value value)
{
	for (unsigned i = 0; i < factor->count; i++)
		if (setting_equal(factor->setting, factor->levels[i].cell.of[factor->setting],
				  value))
			return true;
	return false;
}

static void judge_levels(const struct judge *judge, struct way way, struct axis *factor,
			 const json_t *levels)
{
	enum setting_id id = factor->setting;
	size_t index;
	json_t *json;

	if (!json_is_array(levels) || json_array_size(levels) == 0 ||
	    json_array_size(levels) > AXIS_LEVELS_MAX) {
		complain(judge, way, false, "'%s' must be a list [...] of 1 to %d levels",
			 setting_name(id), AXIS_LEVELS_MAX);
		return;
	}
	json_array_foreach(levels, index, json)
	{
		struct axis_level *level = &factor->levels[factor->count];
		struct way here = way_down(way, NULL, index);
		struct setting_value value;

		if (!axis_judge_value(judge, here, id, json, &value))
			continue;
		if (axis_factor_has(factor, value)) {
			complain(judge, here, false, "'%s' has this level twice", setting_name(id));
			continue;
		}
		level->mask = 1u << id;
		level->cell.of[id] = value;
		factor->count++;
		if (setting_kind(id) == SETTING_IS_NUMBER)
			json_array_set_new((json_t *)levels, index, setting_to_json(id, value));
	}
}

static struct axis *add_axis(struct experiment *experiment, enum axis_kind kind)
{
	struct axis *axis = &experiment->axes[experiment->axis_count++];

	axis->kind = kind;
	return axis;
}

static void judge_factors(const struct judge *judge, struct owners *owners)
{
	const json_t *factors = judge_object(judge, "factors");
	const char *key;
	json_t *levels;

	json_object_foreach((json_t *)factors, key, levels)
	{
		struct way way = way_down(way_key("factors"), key, 0);
		enum setting_id id = judge_setting(judge, way, key);
		struct axis *factor;

		if (id == SETTING_COUNT)
			continue;
		own(judge, owners, id, way);
		factor = add_axis(judge->experiment, AXIS_FACTOR);
		factor->setting = id;
		judge_levels(judge, way, factor, levels);
	}
}

/* Names become part of a folder's. */
static void judge_level_name(const struct judge *judge, struct way way, const char *name)
{
	static const char accepted[] = "abcdefghijklmnopqrstuvwxyz0123456789"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
	size_t bytes = strspn(name, accepted);

	if (bytes == 0 || name[bytes] || bytes >= AXIS_NAME_BYTES || name[0] == '-')
		complain(judge, way, true,
			 "the name '%.60s' is not accepted; wanted: 1 to %d letters, digits, '-' "
			 "and '_'",
			 name, AXIS_NAME_BYTES - 1);
}

/* The levels of an axis whose levels have names; NULL, and a problem, if there are none. */
static const json_t *judge_named(const struct judge *judge, const char *key)
{
	const json_t *levels = judge_object(judge, key);

	if (!levels)
		return NULL;
	if (json_object_size(levels) >= 1 && json_object_size(levels) <= AXIS_LEVELS_MAX)
		return levels;
	complain(judge, way_key(key), false, "'%s' has %zu levels; accepted: 1 to %d", key,
		 json_object_size(levels), AXIS_LEVELS_MAX);
	return NULL;
}

static void judge_scenarios(const struct judge *judge, struct owners *owners)
{
	const json_t *scenarios = judge_named(judge, "scenarios");
	struct axis *axis = scenarios ? add_axis(judge->experiment, AXIS_SCENARIOS) : NULL;
	const char *name;
	json_t *settings;

	json_object_foreach((json_t *)scenarios, name, settings)
	{
		struct way way = way_down(way_key("scenarios"), name, 0);
		struct axis_level *level = &axis->levels[axis->count++];

		level->name = name;
		judge_level_name(judge, way, name);
		if (!json_is_object(settings) || json_object_size(settings) == 0)
			complain(judge, way, false,
				 "the scenario '%.40s' must be an object with at least one setting",
				 name);
		judge_settings(judge, owners, way, settings, &level->cell, &level->mask);
	}
}

static void own_profile(const struct judge *judge, struct owners *owners,
			const struct axis_level *level, struct way way)
{
	char place[COMPLAINT_PLACE_BYTES];

	for (unsigned id = 0; id < SETTING_COUNT; id++) {
		const struct way *owner = &owners->of[id];

		if (!(level->mask & 1u << id))
			continue;
		if (owner->count && strcmp(owner->steps[0].key, "profiles") != 0 &&
		    strcmp(owner->steps[0].key, "scenarios") != 0)
			complain(judge, way, false,
				 "the profile sets '%s', and so does \"%s\" %s; a profile's "
				 "numbers are its own: take it out, or plan "
				 "experiments/profiles",
				 setting_name(id), owner->steps[0].key,
				 complaint_place(judge, *owner, place));
		owners->of[id] = way;
	}
}

/* Adds one profile, or all, to the axis of scenarios. */
static void add_profile(const struct judge *judge, struct owners *owners, struct way way,
			const char *name, const struct profile_matrix *matrix, struct axis *axis)
{
	const struct profile *profile = profile_find(name);
	unsigned first = axis->count, count;
	const char *const *names = profile_names(&count);
	char ask[NEAREST_TEXT];

	if (!profile && strcmp(name, "all") != 0) {
		complain(judge, way, false, "unknown profile '%.60s'; %saccepted: %s", name,
			 nearest_ask(name, names, count, "", ask), profile_usage());
		return;
	}
	for (unsigned i = 0; profile_at(i); i++) {
		if (profile && profile_at(i) != profile)
			continue;
		if (!profile_add(profile_at(i), matrix, axis, judge->experiment->names))
			complain(judge, way, false, "the profiles have more than %d scenarios",
				 AXIS_LEVELS_MAX);
	}
	for (unsigned i = first; i < axis->count; i++) {
		const struct axis_level *level = &axis->levels[i];

		if (axis_find(axis, level->name) != level)
			complain(judge, way, false, "there are two scenarios '%s'", level->name);
	}
	if (axis->count > first)
		own_profile(judge, owners, &axis->levels[first], way);
}

static void judge_profiles(const struct judge *judge, struct owners *owners,
			   const struct profile_matrix *matrix)
{
	static const char accepted[] = "a list of profiles, like [\"min-rtt\"]";
	struct experiment *experiment = judge->experiment;
	const json_t *profiles = judge_top(judge, "profiles", JSON_ARRAY, false, accepted);
	struct axis *axis = (struct axis *)experiment_axis(experiment, AXIS_SCENARIOS);
	size_t index;
	json_t *name;

	if (!profiles)
		return;
	if (json_array_size(profiles) == 0)
		complain_value(judge, way_key("profiles"), "profiles", profiles, accepted);
	if (!axis)
		axis = add_axis(experiment, AXIS_SCENARIOS);
	json_array_foreach(profiles, index, name)
	{
		struct way way = way_down(way_key("profiles"), NULL, index);

		if (json_is_string(name))
			add_profile(judge, owners, way, json_string_value(name), matrix, axis);
		else
			complain_value(judge, way, "profiles", name, "a profile's name");
	}
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The build that the variant asks for: one that there is already, or another. */
static unsigned find_build(const struct judge *judge, struct way way, const struct build *wanted)
{
	struct experiment *experiment = judge->experiment;

	if (!wanted->commit && !wanted->options[0] && !wanted->c_args[0])
		return 0;
	for (unsigned i = 1; i < experiment->build_count; i++) {
		const struct build *build = &experiment->builds[i];

		if (is_same_text(build->commit, wanted->commit) &&
		    strcmp(build->options, wanted->options) == 0 &&
		    strcmp(build->c_args, wanted->c_args) == 0)
			return i;
	}
	if (experiment->build_count == EXPERIMENT_BUILDS_MAX) {
		complain(judge, way, true, "the variants want more than %d builds",
			 EXPERIMENT_BUILDS_MAX - 1);
		return 0;
	}
	experiment->builds[experiment->build_count] = *wanted;
	return experiment->build_count++;
}

/* A text of a variant, or `fallback`. */
static const char *judge_text(const struct judge *judge, struct way way, json_t *variant,
			      const char *key, const char *accepted, const char *fallback)
{
	json_t *value = json_object_get(variant, key);
	const char *text = json_string_value(value);
	bool is_line = true;

	for (const char *at = text; at && *at; at++)
		is_line &= (unsigned char)*at >= ' ' && *at != 0x7F;
	if (!value || (text && is_line && (fallback || (text[0] && text[0] != '-'))))
		return value ? text : fallback;
	complain_value(judge, way_down(way, key, 0), key, value, accepted);
	return fallback;
}

static void judge_variant(const struct judge *judge, struct owners *owners, struct way way,
			  json_t *json, struct axis_level *level)
{
	static const char *const keys[] = {"commit", "options", "c_args", "set"};
	enum { KEYS = sizeof(keys) / sizeof(keys[0]) };
	struct build build = {.variant = level->name};
	json_t *set = json_object_get(json, "set"), *value;
	const char *key;

	json_object_foreach(json, key, value)
	{
		bool known = false;

		for (unsigned i = 0; i < KEYS; i++)
			known |= strcmp(keys[i], key) == 0;
		if (!known)
			complain_unknown(judge, way_down(way, key, 0), "key", key, keys, KEYS);
	}
	build.commit = judge_text(judge, way, json, "commit",
				  "a commit, a branch or a tag, in one line", NULL);
	build.options = judge_text(judge, way, json, "options",
				   "options of meson in one line, like \"-During=disabled\"", "");
	build.c_args =
		judge_text(judge, way, json, "c_args",
			   "arguments of the compiler in one line, like \"-march=native\"", "");
	level->build = find_build(judge, way, &build);
	if (set && !json_is_object(set))
		complain_value(judge, way_down(way, "set", 0), "set", set, "an object of settings");
	judge_settings(judge, owners, way_down(way, "set", 0), set, &level->cell, &level->mask);
}

static void judge_variants(const struct judge *judge, struct owners *owners)
{
	const json_t *variants = judge_named(judge, "variants");
	struct axis *axis = variants ? add_axis(judge->experiment, AXIS_VARIANTS) : NULL;
	const char *name;
	json_t *json;

	json_object_foreach((json_t *)variants, name, json)
	{
		struct way way = way_down(way_key("variants"), name, 0);
		struct axis_level *level = &axis->levels[axis->count++];

		level->name = name;
		judge_level_name(judge, way, name);
		if (json_is_object(json))
			judge_variant(judge, owners, way, json, level);
		else
			complain_value(judge, way, name, json, "an object {...}, perhaps empty");
	}
}

/* A setting that has no default must come from every level of some axis. */
static void judge_missing(const struct judge *judge, const struct owners *owners)
{
	struct experiment *experiment = judge->experiment;

	for (unsigned id = 0; id < SETTING_COUNT; id++) {
		const struct way *owner = &owners->of[id];
		const char *part = owner->count ? owner->steps[0].key : "";

		if (strcmp(part, "fixed") == 0 || strcmp(part, "factors") == 0 ||
		    setting_default(id, &experiment->fixed.of[id]))
			continue;
		for (unsigned i = 0; owner->count && i < experiment->axis_count; i++) {
			const struct axis *axis = &experiment->axes[i];

			for (unsigned k = 0; axis_varies(axis, id) && k < axis->count; k++)
				if (!(axis->levels[k].mask & 1u << id))
					complain(judge, way_key(part), false,
						 "'%s' is missing in '%s'", setting_name(id),
						 axis->levels[k].name);
		}
		if (owner->count == 0)
			complain(judge, way_key("fixed"), false,
				 "'%s' is missing: give it in \"fixed\" or in \"factors\"",
				 setting_name(id));
	}
}

static bool is_varied(const struct experiment *experiment, enum setting_id id)
{
	for (unsigned i = 0; i < experiment->axis_count; i++)
		if (axis_varies(&experiment->axes[i], id))
			return true;
	return false;
}

static bool has_value(const struct experiment *experiment, enum setting_id id,
		      struct setting_value value)
{
	for (unsigned i = 0; i < experiment->axis_count; i++) {
		const struct axis *axis = &experiment->axes[i];

		if (axis_varies(axis, id) && axis_has(axis, id, value, experiment->fixed.of[id]))
			return true;
	}
	return false;
}

static void judge_exclude_setting(const struct judge *judge, struct way way, const char *key,
				  const json_t *value, struct exclude *exclude)
{
	enum setting_id id = judge_setting(judge, way, key);

	if (id == SETTING_COUNT || !axis_judge_value(judge, way, id, value, &exclude->cell.of[id]))
		return;
	exclude->mask |= 1u << id;
	if (judge_is_changed(judge, key))
		return;
	if (!is_varied(judge->experiment, id))
		complain(judge, way, true, "'%s' is not varied, so nothing can be excluded by it",
			 key);
	else if (!has_value(judge->experiment, id, exclude->cell.of[id]))
		complain(judge, way, false, "'%s' never has this level, so this excludes nothing",
			 key);
}

enum level_found axis_judge_name(const struct judge *judge, struct way way, const char *key,
				 const char *name, const char *so)
{
	bool variant = strcmp(key, "variant") == 0;
	const struct axis *axis =
		experiment_axis(judge->experiment, variant ? AXIS_VARIANTS : AXIS_SCENARIOS);
	const char *names[AXIS_LEVELS_MAX];

	if (!axis) {
		complain(judge, way, true, "there is no %s, so %s", key, so);
		return LEVEL_WRONG;
	}
	if (axis_find(axis, name))
		return LEVEL_FOUND;
	if (judge->changes->profiles && !variant)
		return LEVEL_TAKEN; /* --variant adds to those of the file */
	for (unsigned i = 0; i < axis->count; i++)
		names[i] = axis->levels[i].name;
	complain_unknown(judge, way, key, name, names, axis->count);
	return LEVEL_WRONG;
}

/* By a scenario's or a variant's name. */
static const char *judge_exclude_level(const struct judge *judge, struct way way, const char *key,
				       const json_t *value)
{
	const char *name = json_string_value(value);

	if (name)
		axis_judge_name(judge, way, key, name, "nothing can be excluded by one");
	else
		complain_value(judge, way, key, value, "the name of a level");
	return name;
}

static void judge_exclude(const struct judge *judge, struct way way, const json_t *json,
			  struct exclude *exclude)
{
	const char *key;
	json_t *value;

	if (!json_is_object(json) || json_object_size(json) == 0)
		complain(judge, way, false,
			 "an exclude must be an object with at least one factor, scenario or "
			 "variant");
	json_object_foreach((json_t *)json, key, value)
	{
		struct way here = way_down(way, key, 0);

		if (strcmp(key, "scenario") == 0)
			exclude->scenario = judge_exclude_level(judge, here, key, value);
		else if (strcmp(key, "variant") == 0)
			exclude->variant = judge_exclude_level(judge, here, key, value);
		else
			judge_exclude_setting(judge, here, key, value, exclude);
	}
}

static void judge_excludes(const struct judge *judge)
{
	struct experiment *experiment = judge->experiment;
	const json_t *excludes =
		judge_top(judge, "excludes", JSON_ARRAY, false, "a list of objects");
	size_t index;
	json_t *json;

	if (json_array_size(excludes) > EXPERIMENT_EXCLUDES_MAX) {
		complain(judge, way_key("excludes"), false,
			 "'excludes' has %zu, accepted are at most %d", json_array_size(excludes),
			 EXPERIMENT_EXCLUDES_MAX);
		return;
	}
	json_array_foreach(excludes, index, json)
	{
		judge_exclude(judge, way_down(way_key("excludes"), NULL, index), json,
			      &experiment->excludes[experiment->exclude_count++]);
	}
}

void axis_judge_all(const struct judge *judge, const struct profile_matrix *matrix)
{
	struct owners owners = {0};

	judge->experiment->build_count = 1;
	judge->experiment->builds[0] = (struct build){.options = "", .c_args = ""};
	judge_fixed(judge, &owners);
	judge_factors(judge, &owners);
	judge_scenarios(judge, &owners);
	judge_profiles(judge, &owners, matrix);
	judge_variants(judge, &owners);
	judge_missing(judge, &owners);
	judge_excludes(judge);
}
