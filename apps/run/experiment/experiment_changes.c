#include "apps/run/experiment/experiment_changes.h"

#include "apps/run/experiment/experiment_judge.h"
#include "apps/run/experiment/setting.h"
#include "dataplane/core/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 64, PIECE_BYTES = 512 };

/* A value as JSON if it is that, else as a word. A new reference. */
static json_t *override_value(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	return value ? value : json_string(text);
}

/* The object at a top key, made if it is not there; NULL if something else is. */
static json_t *object_at(json_t *experiment, const char *key)
{
	json_t *object = json_object_get(experiment, key);

	if (object)
		return json_is_object(object) ? object : NULL;
	object = json_object();
	json_object_set_new(experiment, key, object);
	return object;
}

/* A setting's levels, or its one value; a list makes a factor of what was fixed. */
static void override_setting(json_t *experiment, const char *key, json_t *value)
{
	json_t *factors = json_object_get(experiment, "factors");

	if (json_is_array(value)) {
		json_object_del(json_object_get(experiment, "fixed"), key);
		json_object_set_new(object_at(experiment, "factors"), key, value);
	} else if (json_object_get(factors, key)) {
		json_object_set_new(factors, key, json_pack("[o]", value));
	} else {
		json_object_set_new(object_at(experiment, "fixed"), key, value);
	}
}

static bool is_utf8(const char *text)
{
	json_t *json = json_string(text);

	json_decref(json);
	return json != NULL;
}

/*
 * The value of KEY=VALUE, whose key is copied; NULL, and a problem, if it is not of that form, or
 * nothing that JSON can carry.
 */
static const char *split(const char *text, const char *flag, const char *form, char key[KEY_BYTES],
			 struct problems *problems)
{
	size_t bytes = strcspn(text, "=");

	if (!is_utf8(text))
		problems_add(problems, "%s %.60s: not UTF-8", flag, text);
	else if (text[bytes] != '=' || bytes == 0 || bytes >= KEY_BYTES)
		problems_add(problems, "%s %.60s: %s is expected", flag, text, form);
	else {
		snprintf(key, KEY_BYTES, "%.*s", (int)bytes, text);
		return text + bytes + 1;
	}
	return NULL;
}

/* A key that is none of those that may be set: one of the file's, or unknown. */
static void refuse_key(const char *override, const char *key, struct problems *problems)
{
	const char *names[64], *const *plain;
	char ask[NEAREST_TEXT];
	unsigned count;

	if (experiment_is_top_key(key)) {
		problems_add(problems, "--set %.80s: '%s' cannot be set from here%s", override, key,
			     strcmp(key, "profiles") == 0   ? "; give --profile A,B"
			     : strcmp(key, "variants") == 0 ? "; give --variant NAME=COMMIT"
							    : ": write it in the file");
		return;
	}
	plain = experiment_plain_keys(&count);
	memcpy(names, plain, count * sizeof(*names));
	memcpy(names + count, setting_names(), SETTING_COUNT * sizeof(*names));
	nearest_ask(key, names, count + SETTING_COUNT, "", ask);
	if (ask[0])
		ask[strlen(ask) - 1] = '\0'; /* ends the line */
	problems_add(problems, "--set %.80s: unknown key '%s'%s%s", override, key,
		     ask[0] ? "; " : "", ask);
}

/* The list that "a,b" or "[a, b]" was meant to be. A new reference. */
static json_t *guess_list(const char *text)
{
	static const char between[] = "[], ";
	json_t *list = json_array();
	char piece[PIECE_BYTES];

	for (text += strspn(text, between); *text; text += strspn(text, between)) {
		size_t bytes = strcspn(text, between);

		snprintf(piece, sizeof(piece), "%.*s", (int)bytes, text);
		json_array_append_new(list, override_value(piece));
		text += bytes;
	}
	return list;
}

static bool is_accepted(enum setting_id id, const json_t *json)
{
	struct setting_value ignored;
	char why[512];

	return setting_read(id, json, &ignored, why, sizeof(why)) == 0;
}

/* Whether a word is rather a list, whose parts would be accepted by themselves. */
static bool is_list_meant(enum setting_id id, const char *text, const json_t *list)
{
	size_t index;
	json_t *level;

	if (json_array_size(list) == 0)
		return false;
	json_array_foreach((json_t *)list, index, level)
	{
		if (!is_accepted(id, level))
			return false;
	}
	return text[0] == '[' || json_array_size(list) > 1;
}

/* True, and a problem, for a list that is not written as one. */
static bool refuse_list(const char *override, const char *key, const char *text,
			struct problems *problems)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
	json_t *list = value ? json_array() : guess_list(text);
	bool meant = is_list_meant(setting_find(key), text, list);
	char *written = json_dumps(list, JSON_COMPACT);

	if (meant)
		problems_add(problems, "--set %.80s: a list is JSON, with quotes: '%s=%s'",
			     override, key, written ? written : "[...]");
	free(written);
	json_decref(list);
	json_decref(value);
	return meant;
}

/*
 * Puts KEY=VALUE where it belongs: a factor gets it as its only level, or a list of them as its
 * levels; a plain key is replaced, a setting is fixed. What is none of these is a problem, and
 * changes nothing.
 */
static int override_key(json_t *json, const char *override, struct problems *problems)
{
	char key[KEY_BYTES];
	const char *value = split(override, "--set", "KEY=VALUE", key, problems);

	if (!value)
		return -EINVAL;
	if (experiment_is_plain_key(key))
		json_object_set_new(json, key, override_value(value));
	else if (setting_find(key) == SETTING_COUNT)
		refuse_key(override, key, problems);
	else if (!refuse_list(override, key, value, problems))
		override_setting(json, key, override_value(value));
	return 0;
}

/* Makes the variant, or another of the same name. */
static int set_variant(json_t *json, const char *variant, struct problems *problems)
{
	static const char flag[] = "--variant (or VARIANTS)", form[] = "NAME=COMMIT";
	char name[KEY_BYTES];
	const char *commit = split(variant, flag, form, name, problems);
	json_t *variants = object_at(json, "variants");

	if (!commit)
		return -EINVAL;
	if (variants)
		json_object_set_new(variants, name, json_pack("{ss}", "commit", commit));
	return 0;
}

static void set_profiles(json_t *json, const char *profiles)
{
	json_t *list = json_array();
	size_t bytes;

	for (;; profiles += bytes + 1) {
		bytes = strcspn(profiles, ",");
		json_array_append_new(list, json_stringn(profiles, bytes));
		if (!profiles[bytes])
			break;
	}
	json_object_set_new(json, "profiles", list);
}

int experiment_changes_make(const struct experiment_changes *changes, json_t *json,
			    struct problems *problems)
{
	for (unsigned i = 0; i < changes->override_count; i++)
		if (override_key(json, changes->overrides[i], problems) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < changes->variant_count; i++)
		if (set_variant(json, changes->variants[i], problems) < 0)
			return -EINVAL;
	if (changes->profiles && !is_utf8(changes->profiles)) {
		problems_add(problems, "--profile %.60s: not UTF-8", changes->profiles);
		return -EINVAL;
	}
	if (changes->profiles)
		set_profiles(json, changes->profiles);
	return 0;
}
