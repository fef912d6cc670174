#include "apps/run/experiment/experiment_judge.h"

#include "apps/common/pipeline_flags.h"
#include "apps/common/stack.h"
#include "apps/run/experiment/axis_judge.h"
#include "apps/run/experiment/claim_judge.h"
#include "apps/run/experiment/complaint.h"
#include "apps/run/experiment/gate_judge.h"
#include "apps/run/experiment/served.h"
#include "apps/run/hosts/hosts.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/units.h"

#include <stdio.h>
#include <string.h>

/* Longest warm-up or measured window: an hour. */
#define DURATION_MAX_NS (3600 * CLOCK_SECOND_NS)

static const char *const top_keys[] = {
	"schema",   "name",	"question",	 "fixed",	  "factors", "scenarios",
	"profiles", "variants", "excludes",	 "runs",	  "order",   "seed",
	"warmup",   "duration", "worker_counts", "response_kib",  "form",    "hosts",
	"gate",	    "claims",	"upstream",	 "server_config",
};
enum { TOP_KEYS = sizeof(top_keys) / sizeof(top_keys[0]) };

static const char *const plain_keys[] = {"runs",     "order", "seed",	       "warmup",
					 "duration", "form",  "worker_counts", "response_kib"};
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

const char *const *experiment_plain_keys(unsigned *count_out)
{
	*count_out = PLAIN_KEYS;
	return plain_keys;
}

bool experiment_is_top_key(const char *key)
{
	return is_one_of(key, top_keys, TOP_KEYS);
}

static void judge_top_keys(const struct judge *judge)
{
	const char *key;
	json_t *value;

	json_object_foreach(judge->experiment->json, key, value)
	{
		if (!experiment_is_top_key(key))
			complain_unknown(judge, way_key(key), "key", key, top_keys, TOP_KEYS);
	}
}

static void judge_schema(const struct judge *judge)
{
	static const char accepted[] = "\"" EXPERIMENT_SCHEMA "\"";
	const json_t *value = judge_top(judge, "schema", JSON_STRING, true, accepted);

	if (value && strcmp(json_string_value(value), EXPERIMENT_SCHEMA) != 0)
		complain(judge, way_key("schema"), false,
			 "'schema' is \"%.60s\"; this version reads %s only",
			 json_string_value(value), accepted);
}

const char experiment_slug[] = "1 to 64 of a-z, 0-9 and '-', but no '-' first";

bool experiment_is_slug(const char *name)
{
	size_t bytes = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;

	return bytes >= 1 && bytes <= 64 && !name[bytes] && name[0] != '-';
}

/* The name becomes part of a folder's. */
static void judge_name(const struct judge *judge)
{
	const json_t *value = judge_top(judge, "name", JSON_STRING, true, experiment_slug);
	const char *name = value ? json_string_value(value) : NULL;

	judge->experiment->name = name;
	if (name && !experiment_is_slug(name))
		complain(judge, way_key("name"), false, "'name' is \"%.60s\"; accepted: %s", name,
			 experiment_slug);
}

static void judge_question(const struct judge *judge)
{
	const json_t *value = judge_top(judge, "question", JSON_STRING, false, "a sentence");

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
	value = judge_top(judge, key, JSON_INTEGER, false, accepted);
	if (!value)
		return fallback;
	number = json_integer_value(value);
	if (number >= 0 && (uint64_t)number >= least && (uint64_t)number <= most)
		return (uint64_t)number;
	complain(judge, way_key(key), false, "'%s' is %lld; accepted: %s", key, (long long)number,
		 accepted);
	return fallback;
}

/* The seed stands behind "random" or in "seed"; where in both, they must agree. */
static void judge_order(const struct judge *judge)
{
	struct order *order = &judge->experiment->order;
	const json_t *value = judge_top(judge, "order", JSON_STRING, false, order_usage);
	uint64_t seed = judge_number(judge, "seed", 0, INT64_MAX, 1);
	bool seeded = false;

	if (value && order_parse(json_string_value(value), order, &seeded) < 0)
		complain_value(judge, way_key("order"), "order", value, order_usage);
	if (seeded && order->seed != seed && json_object_get(judge->experiment->json, "seed"))
		complain(judge, way_key("seed"), false,
			 "'seed' is %llu, but 'order' says %llu; give one of them",
			 (unsigned long long)seed, (unsigned long long)order->seed);
	else if (!seeded)
		order->seed = seed;
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
	value = judge_top(judge, key, JSON_STRING, false, accepted);
	*text_out = value ? json_string_value(value) : fallback;
	if (units_parse_duration(*text_out, &ns) < 0 || ns < least_ns || ns > DURATION_MAX_NS)
		complain(judge, way_key(key), false, "'%s' is \"%.60s\"; accepted: %s", key,
			 *text_out, accepted);
	return ns;
}

/* Windows that a form may set: what the file says is kept. */
static void judge_windows(const struct judge *judge)
{
	struct experiment *experiment = judge->experiment;

	experiment->runs = (unsigned)judge_number(judge, "runs", 1, EXPERIMENT_RUNS_MAX, 1);
	experiment->warmup_ns = judge_duration(judge, "warmup", "1s", 0, &experiment->warmup);
	experiment->duration_ns =
		judge_duration(judge, "duration", "3s", 100 * CLOCK_MS_NS, &experiment->duration);
}

static void judge_form(const struct judge *judge)
{
	static const char accepted[] = "\"full\", \"short\" or \"auto\"";
	struct experiment *experiment = judge->experiment;
	const json_t *value = judge_top(judge, "form", JSON_STRING, false, accepted);
	bool profiles = json_object_get(experiment->json, "profiles") != NULL;

	experiment->form = profiles ? EXPERIMENT_FORM_AUTO : EXPERIMENT_FORM_NONE;
	for (unsigned form = EXPERIMENT_FORM_FULL; value && form <= EXPERIMENT_FORM_AUTO; form++) {
		if (strcmp(experiment_form_name(form), json_string_value(value)) != 0)
			continue;
		experiment->form = form;
		return;
	}
	if (value)
		complain_value(judge, way_key("form"), "form", value, accepted);
}

/* A list of different whole numbers in place of what `numbers` has. */
static void judge_numbers(const struct judge *judge, const char *key, uint32_t least, uint32_t most,
			  uint32_t *numbers, unsigned *count)
{
	const json_t *list;
	char accepted[112];
	size_t index;
	json_t *value;

	snprintf(accepted, sizeof(accepted),
		 "a list of 1 to %d different whole numbers from %u to %u", PROFILE_LIST_MAX, least,
		 most);
	list = judge_top(judge, key, JSON_ARRAY, false, accepted);
	if (!list)
		return;
	if (json_array_size(list) == 0 || json_array_size(list) > PROFILE_LIST_MAX) {
		complain_value(judge, way_key(key), key, list, accepted);
		return;
	}
	*count = 0;
	json_array_foreach(list, index, value)
	{
		json_int_t number = json_integer_value(value);
		bool accepts = json_is_integer(value) && number >= least && number <= most;

		for (unsigned i = 0; accepts && i < *count; i++)
			accepts = numbers[i] != (uint32_t)number;
		if (accepts)
			numbers[(*count)++] = (uint32_t)number;
		else
			complain_value(judge, way_down(way_key(key), NULL, index), key, value,
				       accepted);
	}
}

static void judge_matrix(const struct judge *judge, struct profile_matrix *matrix)
{
	*matrix = profile_matrix_default;
	judge_numbers(judge, "worker_counts", 1, STACK_WORKERS_MAX, matrix->worker_counts,
		      &matrix->worker_count_count);
	judge_numbers(judge, "response_kib", 0, BODY_BYTES_MAX / 1024, matrix->response_kib,
		      &matrix->response_kib_count);
}

/* What the matrix spans is for capacity alone, and would do nothing without it. */
static void judge_matrix_use(const struct judge *judge)
{
	static const char *const keys[] = {"worker_counts", "response_kib"};
	const struct axis *axis = experiment_axis(judge->experiment, AXIS_SCENARIOS);
	bool used = false;

	for (unsigned i = 0; axis && i < axis->count; i++)
		used |= axis->levels[i].of_matrix;
	for (unsigned i = 0; !used && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(judge->experiment->json, keys[i]))
			complain(judge, way_key(keys[i]), true,
				 "'%s' is for the profile \"capacity\", which is not asked for",
				 keys[i]);
}

/* What they make of workers and CPUs is made of one host's. */
static void judge_hosts(const struct judge *judge)
{
	static const char *const here[] = {"upstream", "server_config"};
	const struct experiment *experiment = judge->experiment;
	const json_t *hosts = json_object_get(experiment->json, "hosts");

	hosts_judge(hosts, experiment->path, experiment->text, judge->problems);
	for (unsigned i = 0; hosts && i < sizeof(here) / sizeof(here[0]); i++)
		if (json_object_get(experiment->json, here[i]))
			complain(judge, way_key(here[i]), true,
				 "'%s' is for servers on this host, and the experiment has "
				 "'hosts'; leave out one of them",
				 here[i]);
	if (hosts && json_object_get(experiment->json, "profiles"))
		complain(judge, way_key("hosts"), true,
			 "profiles are for one host, whose CPUs they are cut to, and the "
			 "experiment has 'hosts'; write their settings as scenarios");
}

void experiment_judge(struct experiment *experiment, const struct experiment_changes *changes,
		      struct problems *problems)
{
	struct judge judge = {experiment, changes, problems};
	struct profile_matrix matrix;

	experiment->names = json_array();
	judge_top_keys(&judge);
	judge_schema(&judge);
	judge_name(&judge);
	judge_question(&judge);
	judge_matrix(&judge, &matrix);
	axis_judge_all(&judge, &matrix);
	judge_matrix_use(&judge);
	upstream_judge(&judge);
	served_judge(&judge);
	judge_hosts(&judge);
	judge_windows(&judge);
	judge_order(&judge);
	judge_form(&judge);
	gate_judge(&judge);
	claim_judge_all(&judge);
}
