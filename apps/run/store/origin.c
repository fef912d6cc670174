#include "apps/run/store/origin.h"

#include "apps/common/document.h"
#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/provenance/host.h"
#include "apps/run/store/differ.h"
#include "apps/run/plan/environment.h"
#include "apps/run/store/lock.h"
#include "apps/run/store/manifest.h"
#include "apps/run/result/result.h"
#include "apps/run/store/stamp.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PLAN_BYTES_MAX = 256 * 1024 * 1024,
	HOST_BYTES_MAX = 16 * 1024 * 1024,
	RESULT_BYTES_MAX = 4 * 1024 * 1024,
};

static const char partial[] = ".partial";

static const char *join(const char *folder, const char *name, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		path[0] = '\0';
	return path;
}

static bool ends_in_partial(const char *path)
{
	size_t bytes = strlen(path), suffix = strlen(partial);

	return bytes > suffix && strcmp(path + bytes - suffix, partial) == 0;
}

bool origin_is_result(const char *path)
{
	char plan[PATH_MAX];

	return access(join(path, "plan.json", plan), F_OK) == 0;
}

/* --- finding -----------------------------------------------------------------------------------
 */

/* Whether a folder's plan, which may be half a file, is of the experiment. */
static bool is_of(const char *path, const char *name)
{
	struct tp_error ignored;
	json_t *plan = NULL;
	char file[PATH_MAX];
	const char *said;
	bool same;

	if (json_read_file(join(path, "plan.json", file), PLAN_BYTES_MAX, PLAN_SCHEMA, &plan,
			   &ignored) < 0)
		return false;
	said = json_string_value(json_object_get(plan, "experiment"));
	same = said && strcmp(said, name) == 0;
	json_decref(plan);
	return same;
}

/* Whether a name is later: they begin with the time, and within a second end in a number. */
static bool is_newer(const char *name, const char *than)
{
	char a[NAME_MAX + 1], b[NAME_MAX + 1];

	snprintf(a, sizeof(a), "%.*s", (int)(strlen(name) - strlen(partial)), name);
	snprintf(b, sizeof(b), "%.*s", (int)(strlen(than) - strlen(partial)), than);
	return strverscmp(a, b) > 0;
}

int origin_find(const char *folder, const char *name, char path_out[PATH_MAX],
		struct tp_error *error)
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	char newest[NAME_MAX + 1] = "", path[PATH_MAX];

	while (list && (entry = readdir(list)))
		if (ends_in_partial(entry->d_name) &&
		    (!newest[0] || is_newer(entry->d_name, newest)) &&
		    is_of(join(folder, entry->d_name, path), name))
			snprintf(newest, sizeof(newest), "%s", entry->d_name);
	if (list)
		closedir(list);
	if (newest[0]) {
		join(folder, newest, path_out);
		return 0;
	}
	return tp_fail(error, -ENOENT,
		       "no .partial of the experiment '%s' is in %.300s: there is nothing to go "
		       "on with; --output names another place, or name the directory itself",
		       name, folder);
}

/* --- reading -----------------------------------------------------------------------------------
 */

/* What the manifest says is wrong. */
static void check_whole(const struct origin *origin, struct problems *problems)
{
	json_t *faults = json_array(), *fault;
	size_t index;

	manifest_check(origin->path, faults);
	json_array_foreach(faults, index, fault)
	{
		problems_add(problems, "%s", json_string_value(fault));
	}
	json_decref(faults);
}

/* Run id and port, without which nobody can say what was started where. */
static void read_ground(struct origin *origin, struct problems *problems)
{
	const char *run_id = json_string_value(json_object_get(origin->plan, "run_id"));
	json_int_t port = json_integer_value(json_object_get(origin->plan, "port"));
	size_t digits = run_id ? strspn(run_id, "0123456789abcdef") : 0;

	if (digits != RUN_ID_BYTES - 1 || run_id[digits] != '\0' || port < 1 || port > UINT16_MAX) {
		problems_add(problems,
			     "%s/plan.json: tells no run id and port: a weir before they were "
			     "noted has written it; run the experiment anew",
			     origin->path);
		return;
	}
	memcpy(origin->run_id, run_id, RUN_ID_BYTES);
	origin->port = (uint16_t)port;
	origin->upstream_port =
		(uint16_t)json_integer_value(json_object_get(origin->plan, "upstream_port"));
}

static void read_files(struct origin *origin, struct problems *problems)
{
	struct tp_error error;
	char path[PATH_MAX];

	if (json_read_file(join(origin->path, "plan.json", path), PLAN_BYTES_MAX, PLAN_SCHEMA,
			   &origin->plan, &error) < 0)
		problems_add(problems, "%s", error.text);
	else
		read_ground(origin, problems);
	if (json_read_file(join(origin->path, "host.json", path), HOST_BYTES_MAX, NULL,
			   &origin->host, &error) < 0)
		problems_add(problems, "%s", error.text);
	if (access(join(origin->path, "hosts.json", path), F_OK) == 0 &&
	    json_read_file(path, PLAN_BYTES_MAX, HOSTS_SCHEMA, &origin->hosts, &error) < 0)
		problems_add(problems, "%s", error.text);
	if (file_read(join(origin->path, "experiment.json", path), DOCUMENT_BYTES_MAX,
		      &origin->text, &origin->text_bytes, &error) < 0)
		problems_add(problems, "%s", error.text);
}

/* Whether another run writes it at this moment: then it cannot be gone on with. */
static void check_unlocked(const struct origin *origin, struct problems *problems)
{
	struct tp_error error;
	int lock = lock_folder(origin->path, &error);

	if (lock < 0)
		problems_add(problems, "%s", error.text);
	else
		close(lock);
}

int origin_open(struct origin *origin, const char *path, bool resumes, struct problems *problems)
{
	*origin = (struct origin){
		.resumes = resumes, .differences = json_array(), .environment = json_array()};
	if (!realpath(path, origin->path))
		problems_add(problems, "%s: %s", path, strerror(errno));
	origin->whole = !ends_in_partial(origin->path);
	if (problems->count == 0 && !origin->whole && !resumes)
		problems_add(problems,
			     "%s is not whole, and a repeat is of a whole plan: --resume goes on "
			     "with it",
			     path);
	if (problems->count == 0 && resumes)
		check_unlocked(origin, problems);
	if (problems->count == 0 && origin->whole)
		check_whole(origin, problems);
	if (problems->count == 0)
		read_files(origin, problems);
	if (problems->count == 0)
		return 0;
	origin_close(origin);
	return -EINVAL;
}

void origin_close(struct origin *origin)
{
	json_decref(origin->plan);
	json_decref(origin->host);
	json_decref(origin->hosts);
	json_decref(origin->differences);
	json_decref(origin->environment);
	free(origin->text);
}

int origin_experiment(const struct origin *origin, struct experiment **experiment_out,
		      struct problems *problems)
{
	char *text = json_dumps(json_object_get(origin->plan, "effective"), 0);
	char name[PATH_MAX];
	int code = -EINVAL;

	if (text)
		code = experiment_compose(join(origin->path, "plan.json", name), text,
					  experiment_out, problems);
	else
		problems_add(problems, "%s/plan.json: has no `effective` experiment", origin->path);
	free(text);
	return code;
}

const json_t *origin_commits(const struct origin *origin)
{
	return json_object_get(origin->plan, "commits");
}

/* --- comparing ---------------------------------------------------------------------------------
 */

bool origin_fits(const struct origin *origin, const struct experiment *experiment,
		 struct problems *problems)
{
	json_t *was = json_pack("{sO?}", "effective", json_object_get(origin->plan, "effective"));
	json_t *now = json_pack("{sO}", "effective", experiment->json);
	json_t *differences = json_array();
	unsigned before = problems->count;

	if (origin->text_bytes != experiment->text_bytes ||
	    memcmp(origin->text, experiment->text, experiment->text_bytes) != 0)
		problems_add(problems, "%s is not the file that %s was begun with",
			     experiment->path, origin->path);
	/* A form is settled by the plan on this host, which is compared later. */
	if (experiment->form == EXPERIMENT_FORM_NONE)
		differ_plans(was, now, differences);
	differ_say(differences, problems);
	json_decref(differences);
	json_decref(was);
	json_decref(now);
	return problems->count == before;
}

void origin_lend_environment(struct origin *origin, struct plan *plan)
{
	const json_t *first = json_array_get(json_object_get(origin->plan, "samples"), 0);
	json_t *environment = json_object_get(first, "env");

	json_array_clear(origin->environment);
	if (json_is_object(environment))
		environment_lend(plan->env, environment, origin->environment);
}

/* Without the samples' environment, which may differ and is judged by itself. A new reference. */
static json_t *leave_out_environment(const json_t *plan)
{
	json_t *copy = json_deep_copy(plan), *sample;
	size_t index;

	json_array_foreach(json_object_get(copy, "samples"), index, sample)
	{
		json_object_del(sample, "env");
	}
	return copy;
}

bool origin_judge(struct origin *origin, const struct plan *plan, const struct program *programs,
		  const struct hosts *hosts, struct problems *problems)
{
	json_t *planned = plan_to_json(plan), *host = host_facts();
	json_t *was = leave_out_environment(origin->plan), *now = leave_out_environment(planned);
	json_t *used = stamp_programs(plan, programs), *refusing = json_array();
	bool may;

	differ_plans(was, now, refusing);
	differ_hosts(origin->host, host, origin->differences);
	if (hosts)
		hosts_differ(hosts, origin->hosts, origin->differences);
	differ_programs(json_object_get(origin->plan, "programs"), used, origin->differences);
	if (origin->resumes)
		json_array_extend(refusing, origin->differences);
	differ_say(refusing, problems);
	may = json_array_size(refusing) == 0;
	json_array_extend(origin->differences, origin->environment);
	json_decref(refusing);
	json_decref(used);
	json_decref(host);
	json_decref(now);
	json_decref(was);
	json_decref(planned);
	return may;
}

/* --- what there is -----------------------------------------------------------------------------
 */

/* Whether a result has what every valid one has: it was measured, and nothing speaks against it. */
static bool is_measured(const json_t *result)
{
	static const char *const parts[] = {"cell", "latency_us", "server", "client", "pins"};
	const json_t *reasons = json_object_get(result, "invalid_reasons");

	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!json_is_object(json_object_get(result, parts[i])))
			return false;
	return json_is_true(json_object_get(result, "valid")) && json_is_array(reasons) &&
	       json_array_size(reasons) == 0 &&
	       json_integer_value(json_object_get(result, "completed")) > 0 &&
	       json_number_value(json_object_get(result, "effective_rps")) > 0;
}

/* Whether a result is of the sample that the plan has there, and valid. */
static bool is_valid_of(const json_t *result, const json_t *sample)
{
	static const char *const same[] = {"sample_id", "order_index", "run", "variant"};

	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (!json_equal(json_object_get(result, same[i]), json_object_get(sample, same[i])))
			return false;
	return is_measured(result);
}

json_t *origin_kept(const struct origin *origin, const char *path)
{
	json_t *kept = json_object(), *sample;
	size_t index;

	json_array_foreach(json_object_get(origin->plan, "samples"), index, sample)
	{
		const char *folder = json_string_value(json_object_get(sample, "folder"));
		const char *id = json_string_value(json_object_get(sample, "sample_id"));
		char file[2 * PATH_MAX];
		struct tp_error ignored;
		json_t *result = NULL;

		if (!folder || !id)
			continue;
		snprintf(file, sizeof(file), "%s/%s/result.json", path, folder);
		if (json_read_file(file, RESULT_BYTES_MAX, RESULT_SCHEMA, &result, &ignored) < 0)
			continue;
		if (is_valid_of(result, sample))
			json_object_set(kept, id, result);
		json_decref(result);
	}
	return kept;
}

const char *origin_first_lacking(const struct origin *origin, const json_t *kept)
{
	json_t *sample;
	size_t index;

	json_array_foreach(json_object_get(origin->plan, "samples"), index, sample)
	{
		const char *id = json_string_value(json_object_get(sample, "sample_id"));

		if (id && !json_object_get(kept, id))
			return id;
	}
	return NULL;
}

json_t *origin_to_json(const struct origin *origin)
{
	const char *name = strrchr(origin->path, '/');
	char path[PATH_MAX], hex[SHA256_HEX_BYTES];
	uint64_t bytes;

	if (sha256_file(manifest_file(origin->path, MANIFEST_NAME, path), &bytes, hex) < 0)
		hex[0] = '\0';
	return json_pack("{so so sO}", "result", json_text(name ? name + 1 : origin->path),
			 "manifest_sha256", json_text(hex[0] ? hex : NULL), "differences",
			 origin->differences);
}
