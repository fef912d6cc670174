#include "apps/run/store/differ.h"

#include "apps/common/json.h"
#include "apps/run/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a value in a message. */
enum { VALUE_BYTES = 160 };

/* What is the plan's as a whole, and changes what is measured. */
static const char *const plan_facts[] = {"experiment", "effective", "runs",	"cells",
					 "order",      "seed",	    "degraded", "files"};

/* What makes a host another one for measurements. */
static const char *const identity[] = {
	"hostname",  "kernel",	     "kernel_build", "architecture",
	"cpu_model", "cpus_logical", "cpus_allowed", "cores_allowed",
	"packages",  "numa_nodes",   "smt_active",   "memory_total_kib",
};

static void add(json_t *differences, const char *what, const json_t *was, const json_t *now)
{
	json_array_append_new(differences, json_pack("{so sO? sO?}", "what", json_text(what), "was",
						     (json_t *)was, "now", (json_t *)now));
}

/*
 * Whether `now` does not know the member yet, which is null with its reason; or the member is such
 * a reason. Then there is nothing to compare.
 */
static bool is_later(const json_t *now, const char *key)
{
	static const char reason[] = "_reason";
	size_t bytes = strlen(key), behind = sizeof(reason) - 1;
	char name[96];

	if (bytes > behind && strcmp(key + bytes - behind, reason) == 0)
		snprintf(name, sizeof(name), "%.*s", (int)(bytes - behind), key);
	else
		snprintf(name, sizeof(name), "%s", key);
	if (!json_is_null(json_object_get(now, name)))
		return false;
	strncat(name, reason, sizeof(name) - strlen(name) - 1);
	return json_is_string(json_object_get(now, name));
}

/* Whether two argument lists are alike, but for CPUs that are chosen later. */
static bool is_alike_list(const json_t *was, const json_t *now)
{
	if (!json_is_array(was) || json_array_size(was) != json_array_size(now))
		return false;
	for (size_t i = 0; i < json_array_size(was); i++) {
		const json_t *a = json_array_get(was, i), *b = json_array_get(now, i);
		const char *text = json_string_value(b);

		if (!json_alike(a, b) && !(text && strcmp(text, PLAN_CPUS_LATER) == 0))
			return false;
	}
	return true;
}

/* Adds a difference if the two differ; either may be NULL. */
static void judge(json_t *differences, const char *what, const json_t *was, const json_t *now)
{
	if (was != now && (!was || !now || !json_alike(was, now)))
		add(differences, what, was, now);
}

/* The members in which two objects differ, each on its own. */
static void judge_members(json_t *differences, const char *what, const json_t *was,
			  const json_t *now)
{
	const char *key;
	json_t *value;
	char path[96];

	json_object_foreach((json_t *)was, key, value)
	{
		snprintf(path, sizeof(path), "%s.%s", what, key);
		judge(differences, path, value, json_object_get(now, key));
	}
	json_object_foreach((json_t *)now, key, value)
	{
		snprintf(path, sizeof(path), "%s.%s", what, key);
		if (!json_object_get(was, key))
			add(differences, path, NULL, value);
	}
}

static const char *id_of(const json_t *sample)
{
	const char *id = json_string_value(json_object_get(sample, "sample_id"));

	return id ? id : "?";
}

/* Says of one member of all samples what differs first, and in how many samples more. */
static void judge_sample_member(json_t *differences, const char *key, const json_t *was,
				const json_t *now)
{
	const json_t *first_was = NULL, *first_now = NULL;
	const char *first_id = NULL;
	unsigned more = 0;
	char what[128];

	for (size_t i = 0; i < json_array_size(was); i++) {
		const json_t *a = json_object_get(json_array_get(was, i), key);
		const json_t *b = json_object_get(json_array_get(now, i), key);

		if (a == b || (a && b && json_alike(a, b)) || is_alike_list(a, b) ||
		    is_later(json_array_get(now, i), key))
			continue;
		if (first_id) {
			more++;
			continue;
		}
		first_id = id_of(json_array_get(was, i));
		first_was = a;
		first_now = b;
	}
	if (!first_id)
		return;
	snprintf(what, sizeof(what), "%s of %s", key, first_id);
	if (more)
		snprintf(what, sizeof(what), "%s of %s and %u more", key, first_id, more);
	add(differences, what, first_was, first_now);
}

static void judge_samples(json_t *differences, const json_t *was, const json_t *now)
{
	size_t before = json_array_size(was), after = json_array_size(now);
	json_t *keys = json_object();
	const char *key;
	json_t *ignored;

	if (before != after) {
		json_t *a = json_integer((json_int_t)before), *b = json_integer((json_int_t)after);

		add(differences, "samples", a, b);
		json_decref(a);
		json_decref(b);
	}
	for (size_t i = 0; before == after && i < before; i++) {
		json_object_update(keys, json_array_get(was, i));
		json_object_update(keys, json_array_get(now, i));
	}
	json_object_foreach(keys, key, ignored)
	{
		judge_sample_member(differences, key, was, now);
	}
	json_decref(keys);
}

void differ_plans(const json_t *was, const json_t *now, json_t *differences)
{
	for (unsigned i = 0; i < sizeof(plan_facts) / sizeof(plan_facts[0]); i++) {
		const char *fact = plan_facts[i];
		const json_t *a = json_object_get(was, fact), *b = json_object_get(now, fact);

		if (json_is_object(a) && json_is_object(b))
			judge_members(differences, fact, a, b);
		else if (!is_later(now, fact))
			judge(differences, fact, a, b);
	}
	judge_samples(differences, json_object_get(was, "samples"),
		      json_object_get(now, "samples"));
}

void differ_hosts(const json_t *was, const json_t *now, json_t *differences)
{
	for (unsigned i = 0; i < sizeof(identity) / sizeof(identity[0]); i++)
		judge(differences, identity[i], json_object_get(was, identity[i]),
		      json_object_get(now, identity[i]));
}

void differ_programs(const json_t *was, const json_t *now, json_t *differences)
{
	size_t before = json_array_size(was), after = json_array_size(now);

	for (size_t i = 0; i < (before > after ? before : after); i++) {
		const json_t *a = json_array_get(was, i), *b = json_array_get(now, i);
		const char *variant = json_string_value(json_object_get(a ? a : b, "variant"));
		char what[128];

		snprintf(what, sizeof(what), "program%s%.80s", variant ? " of " : "",
			 variant ? variant : "");
		if (!b || json_is_string(json_object_get(b, "sha256")))
			judge(differences, what, json_object_get(a, "sha256"),
			      json_object_get(b, "sha256"));
	}
}

/* A value on one line, cut if it is long. */
static const char *print_value(const json_t *value, char text[VALUE_BYTES])
{
	char *whole = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	snprintf(text, VALUE_BYTES, "%s", whole ? whole : "nothing");
	if (whole && strlen(whole) >= VALUE_BYTES)
		strcpy(text + VALUE_BYTES - 4, "...");
	free(whole);
	return text;
}

/* Where two lists of texts part, as an argument and its value; else the two themselves. */
static void narrow(const json_t **was, const json_t **now)
{
	size_t count = json_array_size(*was);

	if (count < 8 || count != json_array_size(*now))
		return;
	for (size_t i = 0; i < count; i++) {
		const json_t *a = json_array_get(*was, i), *b = json_array_get(*now, i);

		if (json_equal(a, b))
			continue;
		*was = a;
		*now = b;
		return;
	}
}

void differ_say(const json_t *differences, struct problems *problems)
{
	char before[VALUE_BYTES], after[VALUE_BYTES];
	size_t index;
	json_t *one;

	json_array_foreach((json_t *)differences, index, one)
	{
		const json_t *was = json_object_get(one, "was");
		const json_t *now = json_object_get(one, "now");

		narrow(&was, &now);
		problems_add(problems, "%s: was %s, is now %s",
			     json_string_value(json_object_get(one, "what")),
			     print_value(was, before), print_value(now, after));
	}
}
