#include "apps/provenance/drift.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 512 };

/* Patterns of fnmatch(3), in which a `*` also stands for several steps of the way. */
static const char *const moving[] = {
	"cpu_ticks.*",
	"hugepages.free",
	"loadavg.*",
	"memory_available_kib",
	"memory_nodes.*.hugepages.*.free",
	"memory_nodes.*.memory_free_kib",
	"pressure.*",
};

static const char *const immaterial[] = {
	"environment_bytes", "hostname",     "limits.*",
	"memory_total_kib",  "process_nice", "memory_nodes.*.memory_total_kib",
};

/* When it was looked at, and what the runner adds to the first snapshot alone. */
static const char *const left_out[] = {
	"autogroup.in_effect", "autogroup.nice_before", "autogroup.raised", "schema", "taken_at",
};

#define IS_ONE_OF(name, patterns) \
	is_one_of(name, patterns, sizeof(patterns) / sizeof((patterns)[0]))

static bool is_one_of(const char *name, const char *const *patterns, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

struct walk {
	json_t *changed;
	json_t *moved;
};

static void walk(struct walk *walk, const char *name, const json_t *before, const json_t *after);

/* What a snapshot says, for a reader: of a thing that is there, only that it is. */
static json_t *said(const json_t *value)
{
	if (!value)
		return json_string("absent");
	if (json_is_object(value))
		return json_string("present");
	return json_incref((json_t *)value);
}

static void note_moved(struct walk *walk, const char *name, const json_t *before,
		       const json_t *after)
{
	json_t *entry =
		json_pack("{ss so so}", "fact", name, "before", said(before), "after", said(after));

	if (json_is_integer(before) && json_is_integer(after))
		fact_set(entry, "delta",
			 json_integer(json_integer_value(after) - json_integer_value(before)));
	else if (json_is_number(before) && json_is_number(after))
		fact_set(entry, "delta",
			 json_number(json_number_value(after) - json_number_value(before)));
	else
		fact_unknown(entry, "delta", "it is not known at both ends");
	json_array_append_new(walk->moved, entry);
}

static void note_changed(struct walk *walk, const char *name, const json_t *before,
			 const json_t *after)
{
	json_array_append_new(walk->changed, json_pack("{ss so so sb}", "fact", name, "before",
						       said(before), "after", said(after),
						       "matters", !IS_ONE_OF(name, immaterial)));
}

static void note(struct walk *walk, const char *name, const json_t *before, const json_t *after)
{
	if (IS_ONE_OF(name, left_out) || json_equal(before, after))
		return;
	if (IS_ONE_OF(name, moving))
		note_moved(walk, name, before, after);
	else
		note_changed(walk, name, before, after);
}

static bool is_reason(const char *key)
{
	size_t bytes = strlen(key), suffix = strlen("_reason");

	return bytes > suffix && strcmp(key + bytes - suffix, "_reason") == 0;
}

static void step(struct walk *path, const char *name, const char *key, const json_t *before,
		 const json_t *after)
{
	char below[NAME_BYTES];

	snprintf(below, sizeof(below), "%s%s%s", name, name[0] ? "." : "", key);
	walk(path, below, before, after);
}

static void walk_objects(struct walk *path, const char *name, const json_t *before,
			 const json_t *after)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)before, key, value)
	{
		if (!is_reason(key))
			step(path, name, key, value, json_object_get(after, key));
	}
	json_object_foreach((json_t *)after, key, value)
	{
		if (!is_reason(key) && !json_object_get(before, key))
			step(path, name, key, NULL, value);
	}
}

/* What a member of a list is called: by its name, its node, or else its place. `text`. */
static const char *key_of(const json_t *member, size_t place, char text[64])
{
	const json_t *name = json_object_get(member, "name");
	const json_t *node = json_object_get(member, "node");

	if (json_is_string(name))
		snprintf(text, 64, "%s", json_string_value(name));
	else if (json_is_integer(node) && !json_object_get(member, "cpus"))
		snprintf(text, 64, "%" JSON_INTEGER_FORMAT, json_integer_value(node));
	else
		snprintf(text, 64, "%zu", place);
	return text;
}

/* A list as an object, by what its members are called. */
static json_t *by_key(const json_t *list)
{
	json_t *object = json_object(), *member;
	char text[64];
	size_t i;

	json_array_foreach(list, i, member)
	{
		json_object_set(object, key_of(member, i, text), member);
	}
	return object;
}

static void walk(struct walk *path, const char *name, const json_t *before, const json_t *after)
{
	json_t *one, *other;

	if (json_is_object(before) && json_is_object(after)) {
		walk_objects(path, name, before, after);
	} else if (json_is_array(before) && json_is_array(after)) {
		one = by_key(before);
		other = by_key(after);
		walk_objects(path, name, one, other);
		json_decref(one);
		json_decref(other);
	} else {
		note(path, name, before, after);
	}
}

static struct walk walk_all(const json_t *before, const json_t *after)
{
	struct walk path = {json_array(), json_array()};

	if (json_is_object(before) && json_is_object(after))
		walk(&path, "", before, after);
	return path;
}

json_t *drift_make(const json_t *before, const json_t *after)
{
	struct walk path = walk_all(before, after);

	json_decref(path.moved);
	return path.changed;
}

/* All ticks of a snapshot; -1 if it has none. */
static double ticks_of(const json_t *snapshot)
{
	static const char *const names[] = {"user",   "nice", "system",	 "idle",
					    "iowait", "irq",  "softirq", "steal"};
	const json_t *ticks = json_object_get(snapshot, "cpu_ticks");
	double sum = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const json_t *value = json_object_get(ticks, names[i]);

		if (!json_is_integer(value))
			return -1;
		sum += (double)json_integer_value(value);
	}
	return sum;
}

static double steal_of(const json_t *snapshot)
{
	return json_number_value(json_object_get(json_object_get(snapshot, "cpu_ticks"), "steal"));
}

static void add_steal(json_t *drift, const json_t *before, const json_t *after)
{
	double first = ticks_of(before), last = ticks_of(after);

	if (first >= 0 && last > first)
		fact_set(drift, "steal_share",
			 json_number((steal_of(after) - steal_of(before)) / (last - first)));
	else
		fact_unknown(drift, "steal_share", "no CPU time is known to have passed");
}

json_t *drift_to_json(const json_t *before, const json_t *after)
{
	struct walk path = walk_all(before, after);
	json_t *drift = json_pack("{ss so so}", "schema", "weir.drift/1", "drift", path.changed,
				  "moved", path.moved);

	add_steal(drift, before, after);
	return drift;
}
