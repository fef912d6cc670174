#include "apps/run/store/stamp.h"

#include "apps/common/json.h"
#include "apps/run/builds/builds.h"

#include <time.h>

json_t *stamp_programs(const struct plan *plan, const struct program *programs)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < plan->experiment->build_count; i++)
		json_array_append_new(
			list,
			json_pack("{so so}", "variant",
				  json_text(plan->experiment->builds[i].variant), "sha256",
				  json_text(programs[i].sha256[0] ? programs[i].sha256 : NULL)));
	return list;
}

static json_t *list_variants(const struct plan *plan)
{
	json_t *names = json_array();

	for (unsigned i = 0; i < plan->cell_count; i++)
		json_array_append_new(names, json_text(plan->cells[i].variant));
	return names;
}

json_t *stamp_make(const struct plan *plan, const struct ground *ground,
		   const struct program *programs, const struct others *others)
{
	json_t *json = plan_to_json(plan);

	json_object_set_new(json, "run_id", json_string(ground->run_id));
	json_object_set_new(json, "port", json_integer(ground->port));
	if (plan->experiment->upstream.wanted)
		json_object_set_new(json, "upstream_port", json_integer(ground->upstream_port));
	json_object_set_new(json, "variants", list_variants(plan));
	json_object_set_new(json, "programs", stamp_programs(plan, programs));
	json_object_set_new(json, "commits", builds_commits(plan->experiment, programs));
	json_object_set_new(json, "busy_at_start", others_to_json(others));
	return json;
}

void stamp_resumed(json_t *plan_json, const char *from_sample, const struct others *others,
		   json_t *environment)
{
	json_t *resumed = json_object_get(plan_json, "resumed");
	time_t now = time(NULL);
	struct tm utc;
	char at[32];

	strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	if (!json_is_array(resumed)) {
		resumed = json_array();
		json_object_set_new(plan_json, "resumed", resumed);
	}
	json_array_append_new(resumed,
			      json_pack("{ss so so sO}", "at", at, "from_sample",
					json_text(from_sample), "busy_at_start",
					others_to_json(others), "differences", environment));
}

void stamp_hosts(json_t *plan_json, const struct hosts *hosts)
{
	json_t *resumed = json_object_get(plan_json, "resumed");
	size_t count = json_array_size(resumed);
	json_t *to = count ? json_array_get(resumed, count - 1) : plan_json;

	if (hosts)
		json_object_set_new(to, "hosts_busy_at_start", hosts_busy(hosts));
}
