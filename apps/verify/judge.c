#include "apps/verify/judge.h"

#include "apps/common/json.h"
#include "apps/run/store/attempts.h"
#include "apps/run/store/manifest.h"
#include "apps/run/plan/plan.h"
#include "apps/run/result/result.h"
#include "apps/run/result/summary.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
	RESULT_BYTES_MAX = 4 * 1024 * 1024,
	FILE_BYTES_MAX = 256 * 1024 * 1024,
	NAME_BYTES = SETTING_TEXT_BYTES + 64,
};

/* A path within the result that does not lead out of it. */
static const char *join(const char *path, const char *name, char file[PATH_MAX])
{
	if (name[0] == '/' || strstr(name, "..") ||
	    snprintf(file, PATH_MAX, "%s/%s", path, name) >= PATH_MAX)
		file[0] = '\0';
	return file;
}

/* An object of the directory, or NULL with the fault noted. */
static json_t *read_object(const char *path, const char *name, size_t bytes_max, const char *schema,
			   json_t *faults)
{
	json_t *object = NULL;
	struct tp_error error;
	char file[PATH_MAX];

	if (json_read_file(join(path, name, file), bytes_max, schema, &object, &error) < 0)
		json_append_text(faults, "%s: %s", name, error.text);
	return object;
}

/* Whether the result says that it is of the sample which the plan has there. */
static bool is_of(const json_t *result, const json_t *sample)
{
	static const char *const same[] = {"sample_id", "order_index", "run", "variant"};

	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (!json_equal(json_object_get(result, same[i]), json_object_get(sample, same[i])))
			return false;
	return true;
}

/* The sample's own file, and its line among all. */
static void judge_sample(const char *path, const json_t *sample, const json_t *line, json_t *faults)
{
	const char *folder = json_string_value(json_object_get(sample, "folder"));
	char name[NAME_BYTES];
	json_t *result;

	if (!folder) {
		json_append_text(faults, "plan.json: has a sample without a folder");
		return;
	}
	snprintf(name, sizeof(name), "%s/result.json", folder);
	result = read_object(path, name, RESULT_BYTES_MAX, RESULT_SCHEMA, faults);
	if (result && !is_of(result, sample))
		json_append_text(faults, "%s: is not of the sample that plan.json has there", name);
	if (result && line && !json_equal(result, line))
		json_append_text(faults, "results.jsonl: differs from %s", name);
	json_decref(result);
}

static void judge_samples(const char *path, const json_t *plan, const json_t *results,
			  json_t *faults)
{
	const json_t *samples = json_object_get(plan, "samples");
	size_t index;
	json_t *sample;

	if (results && json_array_size(results) != json_array_size(samples))
		json_append_text(faults, "results.jsonl: has %zu samples, plan.json %zu",
				 json_array_size(results), json_array_size(samples));
	json_array_foreach((json_t *)samples, index, sample)
	{
		judge_sample(path, sample, json_array_get(results, index), faults);
	}
}

/* What the results come to, against what the run wrote of them. */
static void judge_summary(const char *path, const json_t *plan, const json_t *results,
			  json_t *faults)
{
	json_t *said = read_object(path, "summary.json", FILE_BYTES_MAX, SUMMARY_SCHEMA, faults);
	json_t *mismatch = attempts_mismatch(path), *value;
	json_t *found = summary_make(plan, results, attempts_failed(path), mismatch);
	const char *key;

	if (!json_is_null(mismatch))
		json_append_text(
			faults,
			"parity.json: the servers answered the same request differently: %s",
			json_string_value(mismatch));
	json_decref(mismatch);

	json_object_foreach(found, key, value)
	{
		if (said &&
		    (!json_object_get(said, key) || !json_alike(value, json_object_get(said, key))))
			json_append_text(faults,
					 "summary.json: `%s` is not what plan.json and "
					 "results.jsonl come to",
					 key);
	}
	json_decref(found);
	json_decref(said);
}

void judge_result(const char *path, json_t *faults)
{
	json_t *plan, *results = NULL;
	struct tp_error error;
	char file[PATH_MAX];

	manifest_check(path, faults);
	plan = read_object(path, "plan.json", FILE_BYTES_MAX, PLAN_SCHEMA, faults);
	if (json_read_lines(join(path, "results.jsonl", file), FILE_BYTES_MAX, RESULT_SCHEMA,
			    &results, &error) < 0)
		json_append_text(faults, "results.jsonl: %s", error.text);
	if (plan)
		judge_samples(path, plan, results, faults);
	if (plan && results)
		judge_summary(path, plan, results, faults);
	json_decref(results);
	json_decref(plan);
}
