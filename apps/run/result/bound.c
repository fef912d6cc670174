#include "apps/run/result/bound.h"

#include "apps/common/json.h"

#include <stdio.h>
#include <string.h>

enum { LIST_TEXT_BYTES = 200 };

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

/* Whether a list has this number and no other. */
static bool is_only(const json_t *list, unsigned cpu)
{
	return json_array_size(list) == 1 &&
	       json_integer_value(json_array_get(list, 0)) == (json_int_t)cpu;
}

/* What is found out about all sides. */
struct verdict {
	json_t *reasons;   /* what is against it, lent */
	char unknown[400]; /* the first thing that nobody can tell; "" if there is none */
};

/* Notes that a fact of a worker is not known, with the reason that stands beside it. */
static void miss(struct verdict *verdict, const struct bound_side *side, unsigned index,
		 const json_t *worker, const char *fact)
{
	char key[64];
	const char *reason;

	if (verdict->unknown[0])
		return;
	snprintf(key, sizeof(key), "%s_reason", fact);
	reason = json_string_value(json_object_get(worker, key));
	snprintf(verdict->unknown, sizeof(verdict->unknown),
		 "%s of the %s's worker %u is not known: %.200s", fact, side->name, index,
		 reason ? reason : "it did not say");
}

/* Whether the side's memory is where it was asked to be; notes it if not. */
static bool is_memory_bound(const struct bound_side *side, struct verdict *verdict)
{
	const json_t *memory = json_object_get(side->said, "memory");
	const char *reason = json_string_value(json_object_get(memory, "bound_reason"));

	if (json_is_array(json_object_get(memory, "nodes")))
		return true;
	if (!verdict->unknown[0])
		snprintf(verdict->unknown, sizeof(verdict->unknown),
			 "the %s's memory is bound to no node: %.200s", side->name,
			 reason ? reason : "it did not say");
	return false;
}

/* Whether nobody asked for memory of certain nodes. */
static bool is_memory_free(const struct bound_side *side)
{
	const json_t *memory = json_object_get(side->said, "memory");
	const char *asked = json_string_value(json_object_get(memory, "asked"));

	return asked && strcmp(asked, "none") == 0;
}

static void judge_memory(const struct bound_side *side, unsigned index, const json_t *worker,
			 struct verdict *verdict)
{
	const json_t *memory = json_object_get(side->said, "memory");
	const json_t *bound_to = json_object_get(memory, "nodes");
	const json_t *nodes = json_object_get(worker, "memory_nodes");
	char got[LIST_TEXT_BYTES], wanted[LIST_TEXT_BYTES];

	if (is_memory_free(side) || !is_memory_bound(side, verdict))
		return;
	if (!json_is_array(nodes))
		miss(verdict, side, index, worker, "memory_nodes");
	else if (!json_equal((json_t *)bound_to, (json_t *)nodes))
		json_append_text(verdict->reasons,
				 "the %s's worker %u takes memory from node %s, but was bound to "
				 "that of node "
				 "%s",
				 side->name, index, print_list(nodes, got),
				 print_list(bound_to, wanted));
}

static void judge_worker(const struct bound_side *side, unsigned index, const json_t *worker,
			 struct verdict *verdict)
{
	const json_t *affinity = json_object_get(worker, "affinity");
	const json_t *seen = json_object_get(worker, "seen_on");
	const json_t *moves = json_object_get(worker, "migrations");
	unsigned cpu = side->pins->cpu[index];
	char list[LIST_TEXT_BYTES];

	if (!json_is_array(affinity))
		miss(verdict, side, index, worker, "affinity");
	else if (!is_only(affinity, cpu))
		json_append_text(verdict->reasons,
				 "the %s's worker %u may run on CPU %s, but was put on CPU %u",
				 side->name, index, print_list(affinity, list), cpu);
	if (json_array_size(seen) == 0)
		miss(verdict, side, index, worker, "seen_on");
	else if (!is_only(seen, cpu))
		json_append_text(verdict->reasons,
				 "the %s's worker %u was seen on CPU %s, but was put on CPU %u",
				 side->name, index, print_list(seen, list), cpu);
	if (!json_is_integer(moves))
		miss(verdict, side, index, worker, "migrations");
	else if (json_integer_value(moves) > 0)
		json_append_text(verdict->reasons,
				 "the %s's worker %u, put on CPU %u, went from one CPU to another "
				 "%lld times",
				 side->name, index, cpu, (long long)json_integer_value(moves));
	judge_memory(side, index, worker, verdict);
}

static void judge_side(const struct bound_side *side, const json_t *workers,
		       struct verdict *verdict)
{
	unsigned planned = side->pins->count, told = (unsigned)json_array_size(workers);

	for (unsigned at = 0; at < told && at < planned; at++)
		judge_worker(side, at, json_array_get(workers, at), verdict);
	if (told < planned && !verdict->unknown[0])
		snprintf(verdict->unknown, sizeof(verdict->unknown),
			 "the %s told of %u of its %u workers", side->name, told, planned);
}

json_t *bound_judge(const struct bound_side *sides, unsigned count, json_t *reasons)
{
	struct verdict verdict = {.reasons = reasons};
	size_t before = json_array_size(reasons);
	json_t *binding = json_object();

	for (unsigned i = 0; i < count; i++) {
		const struct bound_side *side = &sides[i];
		const json_t *workers = json_object_get(side->said, "workers");

		if (json_is_array(workers)) {
			json_object_set(binding, side->name, (json_t *)side->said);
			judge_side(side, workers, &verdict);
		} else {
			snprintf(verdict.unknown, sizeof(verdict.unknown), "%s", side->lacking);
			json_set_unknown(binding, side->name, side->lacking);
		}
	}
	if (json_array_size(reasons) > before)
		json_object_set_new(binding, "kept", json_false());
	else if (verdict.unknown[0])
		json_set_unknown(binding, "kept", verdict.unknown);
	else
		json_object_set_new(binding, "kept", json_true());
	return binding;
}
