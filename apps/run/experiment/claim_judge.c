#include "apps/run/experiment/claim_judge.h"

#include "apps/run/experiment/axis_judge.h"
#include "apps/run/experiment/experiment_judge.h"
#include "apps/run/experiment/kind_judge.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum claim_kind {
	CLAIM_RATIO,
	CLAIM_BOUND,
	CLAIM_MONOTONE,
	CLAIM_EQUIVALENCE,
	CLAIM_KINDS,
};

static const char *const kinds[CLAIM_KINDS] = {
	[CLAIM_RATIO] = "ratio",
	[CLAIM_BOUND] = "bound",
	[CLAIM_MONOTONE] = "monotone",
	[CLAIM_EQUIVALENCE] = "equivalence",
};

/* Bit (1 << enum claim_kind) of each kind that a key goes with. */
enum {
	WITH_TWO_CELLS = 1 << CLAIM_RATIO | 1 << CLAIM_EQUIVALENCE,
	WITH_BOUNDS = 1 << CLAIM_RATIO | 1 << CLAIM_BOUND,
	WITH_WHERE = 1 << CLAIM_BOUND | 1 << CLAIM_MONOTONE,
	WITH_ALL = WITH_TWO_CELLS | WITH_BOUNDS | WITH_WHERE,
};

static const struct kind_key keys[] = {
	{"name", WITH_ALL},
	{"says", WITH_ALL},
	{"kind", WITH_ALL},
	{"metric", WITH_ALL},
	{"of", WITH_TWO_CELLS},
	{"against", WITH_TWO_CELLS},
	{"at_least", WITH_BOUNDS},
	{"at_most", WITH_BOUNDS},
	{"where", WITH_WHERE},
	{"along", 1 << CLAIM_MONOTONE},
	{"direction", 1 << CLAIM_MONOTONE},
	{"margin", 1 << CLAIM_EQUIVALENCE},
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* What a result has of every cell as a median over its samples, or as a percentile. */
static const char *const metrics[] = {
	"rps",
	"os_cpu_us_per_request",
	"busy_us_per_request",
	"core_us_per_request",
	"responses_per_write",
	"bytes_per_write",
	"syscalls_per_request",
	"segments_out_per_request",
	"rss_peak_kib",
	"service_p50_us",
	"service_p99_us",
	"service_p999_us",
	"intended_p50_us",
	"intended_p99_us",
};
enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };

static const char *const directions[] = {"rising", "falling"};

/* A claim being judged, and where it stands. */
struct claim {
	const struct judge *judge;
	struct way way;
	json_t *json;
	bool taken; /* the command line took one of its levels away */
};

static void judge_name(const struct claim *claim, size_t index)
{
	const json_t *claims = json_object_get(claim->judge->experiment->json, "claims");
	const json_t *value = json_object_get(claim->json, "name");
	struct way way = way_down(claim->way, "name", 0);
	const char *name = json_string_value(value);

	if (!value)
		complain(claim->judge, claim->way, false, "'name' is missing; accepted: %s",
			 experiment_slug);
	else if (!experiment_is_slug(name))
		complain_value(claim->judge, way, "name", value, experiment_slug);
	for (size_t i = 0; name && i < index; i++) {
		const json_t *before = json_object_get(json_array_get(claims, i), "name");

		if (json_equal(before, value))
			complain(claim->judge, way, false, "there are two claims '%.64s'", name);
	}
}

static void judge_texts(const struct claim *claim)
{
	const json_t *says = json_object_get(claim->json, "says");

	if (says && !json_is_string(says))
		complain_value(claim->judge, way_down(claim->way, "says", 0), "says", says,
			       "a sentence");
	if (json_object_get(claim->json, "metric"))
		kind_judge_word(claim->judge, claim->way, claim->json, "metric", metrics, METRICS);
}

/* The factor that an axis' name means; NULL if it is none. */
static const struct axis *find_factor(const struct experiment *experiment, const char *name)
{
	enum setting_id id = setting_find(name);

	for (unsigned i = 0; i < experiment->axis_count; i++) {
		const struct axis *axis = &experiment->axes[i];

		if (axis->kind == AXIS_FACTOR && axis->setting == id)
			return axis;
	}
	return NULL;
}

static bool is_level_name(const char *axis)
{
	return strcmp(axis, "scenario") == 0 || strcmp(axis, "variant") == 0;
}

/* That nothing of this name varies. */
static void complain_axis(const struct claim *claim, struct way way, bool at_key, const char *name)
{
	const struct experiment *experiment = claim->judge->experiment;
	const char *names[AXIS_COUNT_MAX];

	for (unsigned i = 0; i < experiment->axis_count; i++) {
		const struct axis *axis = &experiment->axes[i];

		names[i] = axis_key(axis) ? axis_key(axis) : setting_name(axis->setting);
	}
	if (setting_find(name) != SETTING_COUNT || is_level_name(name))
		complain(claim->judge, way, at_key,
			 "'%s' does not vary, so no claim can be made by it", name);
	else
		complain_unknown(claim->judge, way, at_key ? "key" : "axis", name, names,
				 experiment->axis_count);
}

/* A level of a factor; a size in words becomes its number in the JSON. */
static enum level_found judge_value(const struct claim *claim, struct way way,
				    const struct axis *factor, json_t *cells, const char *key,
				    const json_t *value)
{
	struct setting_value level;

	if (!axis_judge_value(claim->judge, way, factor->setting, value, &level))
		return LEVEL_WRONG;
	if (setting_kind(factor->setting) == SETTING_IS_NUMBER)
		json_object_set_new(cells, key, setting_to_json(factor->setting, level));
	if (axis_factor_has(factor, level))
		return LEVEL_FOUND;
	if (judge_is_changed(claim->judge, key))
		return LEVEL_TAKEN;
	complain(claim->judge, way, false,
		 "'%s' never has this level, so no claim can be made on it", key);
	return LEVEL_WRONG;
}

static enum level_found judge_level(const struct claim *claim, struct way way, json_t *cells,
				    const char *key, const json_t *value)
{
	const struct axis *factor = find_factor(claim->judge->experiment, key);

	if (factor)
		return judge_value(claim, way, factor, cells, key, value);
	if (!is_level_name(key))
		complain_axis(claim, way, true, key);
	else if (json_is_string(value))
		return axis_judge_name(claim->judge, way, key, json_string_value(value),
				       "no claim can be made by one");
	else
		complain_value(claim->judge, way, key, value, "the name of a level");
	return LEVEL_WRONG;
}

/* The cells at "of", "against" or "where": levels by the axis. NULL, and a problem, for none. */
static const json_t *judge_cells(struct claim *claim, const char *which, bool needed)
{
	static const char accepted[] = "an object of levels, like {\"depth\": 8}";
	struct way way = way_down(claim->way, which, 0);
	json_t *cells = json_object_get(claim->json, which), *value;
	const char *key;
	void *next;

	if (!cells && needed)
		complain(claim->judge, claim->way, false, "'%s' is missing; accepted: %s", which,
			 accepted);
	else if (cells && (!json_is_object(cells) || (needed && json_object_size(cells) == 0)))
		complain_value(claim->judge, way, which, cells, accepted);
	json_object_foreach_safe(cells, next, key, value)
	{
		claim->taken |=
			judge_level(claim, way_down(way, key, 0), cells, key, value) == LEVEL_TAKEN;
	}
	return json_object_size(cells) ? cells : NULL;
}

static void judge_two_cells(struct claim *claim)
{
	const json_t *of = judge_cells(claim, "of", true);
	const json_t *against = judge_cells(claim, "against", true);

	if (of && against && json_equal(of, against))
		complain(claim->judge, way_down(claim->way, "against", 0), false,
			 "'against' names the same cells as 'of'");
}

static void judge_bounds(const struct claim *claim)
{
	static const char accepted[] = "a number above 0 and below 1e15";
	const json_t *at_least = json_object_get(claim->json, "at_least");
	const json_t *at_most = json_object_get(claim->json, "at_most");
	double most = nextafter(1e15, 0);
	bool has_least = kind_judge_number(claim->judge, claim->way, claim->json, "at_least",
					   DBL_TRUE_MIN, most, accepted);
	bool has_most = kind_judge_number(claim->judge, claim->way, claim->json, "at_most",
					  DBL_TRUE_MIN, most, accepted);

	if (!has_least && !has_most)
		complain(claim->judge, claim->way, false,
			 "neither 'at_least' nor 'at_most' is given: nothing is claimed");
	else if (json_is_number(at_least) && json_is_number(at_most) &&
		 json_number_value(at_least) > json_number_value(at_most))
		complain(claim->judge, way_down(claim->way, "at_most", 0), false,
			 "'at_most' is below 'at_least', which nothing can be");
}

/* The axis along which something rises or falls: two levels of it or more. */
static void judge_along(struct claim *claim)
{
	const struct experiment *experiment = claim->judge->experiment;
	const json_t *value = json_object_get(claim->json, "along");
	struct way way = way_down(claim->way, "along", 0);
	const char *name = json_string_value(value);
	const struct axis *axis = name ? find_factor(experiment, name) : NULL;

	if (name && is_level_name(name))
		axis = experiment_axis(experiment, strcmp(name, "variant") == 0 ? AXIS_VARIANTS
										: AXIS_SCENARIOS);
	if (!value)
		complain(claim->judge, claim->way, false,
			 "'along' is missing; accepted: the name of what varies, like \"depth\"");
	else if (!name)
		complain_value(claim->judge, way, "along", value,
			       "the name of what varies, like \"depth\"");
	else if (!axis)
		complain_axis(claim, way, false, name);
	else if (axis->count < 2 && judge_is_changed(claim->judge, name))
		claim->taken = true;
	else if (axis->count < 2)
		complain(claim->judge, way, false,
			 "'%s' has one level, so nothing rises or falls along it", name);
	if (name && json_object_get(json_object_get(claim->json, "where"), name))
		complain(claim->judge, way_down(way_down(claim->way, "where", 0), name, 0), true,
			 "'%s' is what the claim goes along; 'where' cannot hold it", name);
}

static void judge_kind(struct claim *claim, enum claim_kind kind)
{
	const struct judge *judge = claim->judge;

	switch (kind) {
	case CLAIM_RATIO:
		judge_two_cells(claim);
		judge_bounds(claim);
		break;
	case CLAIM_BOUND:
		judge_cells(claim, "where", false);
		judge_bounds(claim);
		break;
	case CLAIM_MONOTONE:
		judge_cells(claim, "where", false);
		judge_along(claim);
		kind_judge_word(judge, claim->way, claim->json, "direction", directions, 2);
		break;
	case CLAIM_EQUIVALENCE:
		judge_two_cells(claim);
		kind_judge_number(judge, claim->way, claim->json, "margin", DBL_TRUE_MIN, 1,
				  "a share above 0, at most 1, like 0.02");
		break;
	case CLAIM_KINDS:
		break;
	}
}

/* Whether the command line took away what it is about. */
static bool judge_claim(const struct judge *judge, size_t index, json_t *json)
{
	struct claim claim = {
		.judge = judge, .way = way_down(way_key("claims"), NULL, index), .json = json};
	unsigned kind;

	if (!json_is_object(json)) {
		complain(judge, claim.way, false, "a claim must be an object {...}");
		return false;
	}
	judge_name(&claim, index);
	judge_texts(&claim);
	kind = kind_judge_word(judge, claim.way, json, "kind", kinds, CLAIM_KINDS);
	if (kind == CLAIM_KINDS)
		return false;
	kind_judge_keys(judge, claim.way, json, keys, KEYS, kind, kinds[kind]);
	judge_kind(&claim, kind);
	return claim.taken;
}

void claim_judge_all(const struct judge *judge)
{
	static const char accepted[] = "a list of at most 64 claims";
	struct experiment *experiment = judge->experiment;
	json_t *claims = (json_t *)judge_top(judge, "claims", JSON_ARRAY, false, accepted);
	json_t *kept = json_array(), *json;
	size_t index;

	static_assert(EXPERIMENT_CLAIMS_MAX == 64, "as `accepted` says");
	if (json_array_size(claims) > EXPERIMENT_CLAIMS_MAX) {
		complain(judge, way_key("claims"), false, "'claims' has %zu; accepted: %s",
			 json_array_size(claims), accepted);
		claims = NULL;
	}
	json_array_foreach(claims, index, json)
	{
		if (judge_claim(judge, index, json))
			experiment->claims_taken++;
		else
			json_array_append(kept, json);
	}
	experiment->claim_count = (unsigned)json_array_size(kept);
	if (experiment->claims_taken)
		json_object_set(experiment->json, "claims", kept);
	json_decref(kept);
}
