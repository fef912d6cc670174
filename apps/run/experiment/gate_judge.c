#include "apps/run/experiment/gate_judge.h"

#include "apps/run/experiment/axis_judge.h"
#include "apps/run/experiment/kind_judge.h"

#include <float.h>
#include <math.h>

enum gate_kind {
	GATE_NONE,
	GATE_POINT,
	GATE_INTERVAL,
	GATE_CATEGORY,
	GATE_KINDS,
};

static const char *const kinds[GATE_KINDS] = {
	[GATE_NONE] = "none",
	[GATE_POINT] = "point",
	[GATE_INTERVAL] = "interval",
	[GATE_CATEGORY] = "category",
};

/* The categories that a scenario may be of; each is the key of its own threshold. */
static const char *const categories[] = {"default", "critical", "allocator"};
enum { CATEGORIES = sizeof(categories) / sizeof(categories[0]) };

/* Bit (1 << enum gate_kind) of each kind that a key goes with. */
enum {
	WITH_RATIOS = 1 << GATE_POINT | 1 << GATE_INTERVAL,
	WITH_CATEGORIES = 1 << GATE_CATEGORY,
	WITH_ALL = 1 << GATE_NONE | WITH_RATIOS | WITH_CATEGORIES,
};

static const struct kind_key keys[] = {
	{"kind", WITH_ALL},
	{"rps", WITH_RATIOS},
	{"cpu", WITH_RATIOS},
	{"default", WITH_CATEGORIES},
	{"critical", WITH_CATEGORIES},
	{"allocator", WITH_CATEGORIES},
	{"categories", WITH_CATEGORIES},
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

static void judge_categories(const struct judge *judge, json_t *gate)
{
	json_t *object = json_object_get(gate, "categories"), *value;
	struct way here = way_down(way_key("gate"), "categories", 0);
	const char *scenario;
	void *next;

	if (object && !json_is_object(object))
		complain_value(judge, here, "categories", object, "an object, each key a scenario");
	json_object_foreach_safe(object, next, scenario, value)
	{
		kind_judge_word(judge, here, object, scenario, categories, CATEGORIES);
		if (axis_judge_name(judge, way_down(here, scenario, 0), "scenario", scenario,
				    "there is nothing to put into a category") == LEVEL_TAKEN)
			json_object_del(object, scenario);
	}
}

/* A gate sets variants beside each other. */
static void judge_use(const struct judge *judge)
{
	const struct axis *variants = experiment_axis(judge->experiment, AXIS_VARIANTS);

	if (!variants || variants->count < 2)
		complain(judge, way_key("gate"), true,
			 "'gate' judges variants against the first of them, and there %s",
			 variants ? "is one alone" : "are none");
}

void gate_judge(const struct judge *judge)
{
	static const char accepted[] = "an object like {\"kind\": \"point\"}";
	static const char threshold[] = "a share above 0 and below 1, like 0.15";
	json_t *gate = (json_t *)judge_top(judge, "gate", JSON_OBJECT, false, accepted);
	struct way way = way_key("gate");
	unsigned kind;

	if (!gate)
		return;
	kind = kind_judge_word(judge, way, gate, "kind", kinds, GATE_KINDS);
	if (kind == GATE_KINDS)
		return;
	kind_judge_keys(judge, way, gate, keys, KEYS, kind, kinds[kind]);
	kind_judge_number(judge, way, gate, "rps", DBL_TRUE_MIN, 1,
			  "a ratio above 0, at most 1, like 0.98");
	kind_judge_number(judge, way, gate, "cpu", 1, DBL_MAX, "a ratio of 1 or more, like 1.02");
	for (unsigned i = 0; i < CATEGORIES; i++)
		kind_judge_number(judge, way, gate, categories[i], DBL_TRUE_MIN, nextafter(1, 0),
				  threshold);
	judge_categories(judge, gate);
	if (kind != GATE_NONE)
		judge_use(judge);
	judge->experiment->gate = kinds[kind];
}
