#include "apps/run/bound.h"

#include "apps/common/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LIST_TEXT_BYTES = 200 };

__attribute__((format(printf, 2, 3))) static void blame(json_t *reasons, const char *format, ...)
{
	char text[600];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(reasons, json_text(text));
}

/* "0, 1" */
static const char *print_list(const json_t *list, char text[LIST_TEXT_BYTES])
{
	size_t used = 0, index;
	json_t *value;

	text[0] = '\0';
	json_array_foreach((json_t *)list, index, value)
	{
		if (used < LIST_TEXT_BYTES)
			used += (size_t)snprintf(text + used, LIST_TEXT_BYTES - used, "%s%lld",
						 index ? ", " : "",
						 (long long)json_integer_value(value));
	}
	return text;
}

/* Whether a list is there and has another number than this, or none. */
static bool differs(const json_t *list, unsigned cpu)
{
	return json_is_array(list) &&
	       (json_array_size(list) != 1 ||
		json_integer_value(json_array_get(list, 0)) != (json_int_t)cpu);
}

static void judge_memory(const struct bound_side *side, unsigned index, const json_t *worker,
			 json_t *reasons)
{
	const json_t *memory = json_object_get(side->said, "memory");
	const json_t *bound_to = json_object_get(memory, "nodes");
	const json_t *nodes = json_object_get(worker, "memory_nodes");
	char got[LIST_TEXT_BYTES], wanted[LIST_TEXT_BYTES];

	if (!json_is_array(bound_to) || !json_is_array(nodes) ||
	    json_equal((json_t *)bound_to, (json_t *)nodes))
		return;
	blame(reasons,
	      "the %s's worker %u takes memory from node %s, but was bound to that of node %s",
	      side->name, index, print_list(nodes, got), print_list(bound_to, wanted));
}

static void judge_worker(const struct bound_side *side, unsigned index, const json_t *worker,
			 json_t *reasons)
{
	const json_t *affinity = json_object_get(worker, "affinity");
	const json_t *seen = json_object_get(worker, "seen_on");
	json_int_t moves = json_integer_value(json_object_get(worker, "migrations"));
	unsigned cpu = side->pins->cpu[index];
	char list[LIST_TEXT_BYTES];

	if (differs(affinity, cpu))
		blame(reasons, "the %s's worker %u may run on CPU %s, but was put on CPU %u",
		      side->name, index, print_list(affinity, list), cpu);
	if (differs(seen, cpu))
		blame(reasons, "the %s's worker %u was seen on CPU %s, but was put on CPU %u",
		      side->name, index, print_list(seen, list), cpu);
	if (moves > 0)
		blame(reasons,
		      "the %s's worker %u, put on CPU %u, went from one CPU to another %lld times",
		      side->name, index, cpu, (long long)moves);
	judge_memory(side, index, worker, reasons);
}

json_t *bound_judge(const struct bound_side *sides, unsigned count, json_t *reasons)
{
	size_t before = json_array_size(reasons);
	json_t *binding = json_object();
	const char *unknown = NULL;

	for (unsigned i = 0; i < count; i++) {
		const struct bound_side *side = &sides[i];
		const json_t *workers = json_object_get(side->said, "workers");

		if (json_is_array(workers)) {
			json_object_set(binding, side->name, (json_t *)side->said);
		} else {
			unknown = side->lacking;
			json_set_unknown(binding, side->name, side->lacking);
		}
		for (unsigned at = 0; at < json_array_size(workers) && at < side->pins->count; at++)
			judge_worker(side, at, json_array_get(workers, at), reasons);
	}
	if (json_array_size(reasons) > before)
		json_object_set_new(binding, "kept", json_false());
	else if (unknown)
		json_set_unknown(binding, "kept", unknown);
	else
		json_object_set_new(binding, "kept", json_true());
	return binding;
}
