#include "apps/run/bracket.h"

#include "apps/common/json.h"
#include "apps/provenance/drift.h"
#include "apps/provenance/host.h"
#include "apps/run/autogroup.h"
#include "apps/run/result/parity.h"

#include <errno.h>
#include <stdio.h>

static const char host_name[] = "host.json", resumed_name[] = "host-resumed.json";

enum { HOST_BYTES_MAX = 16 * 1024 * 1024 };

/* Asks all servers, unless there is nothing to compare. */
static int compare_servers(struct bracket *bracket, bool after)
{
	if (bracket->plan->cell_count < 2)
		return 0;
	return parity_keep(bracket->plan, bracket->directory, bracket->interrupt, after,
			   bracket->parity);
}

int bracket_begin(struct bracket *bracket)
{
	json_t *facts;

	bracket->parity = json_object();
	bracket->autogroup = json_object();
	autogroup_raise(bracket->ground, bracket->autogroup);
	facts = host_facts();
	json_object_set(facts, "autogroup", bracket->autogroup);
	directory_write_json(bracket->directory, bracket->resumes ? resumed_name : host_name,
			     facts);
	json_decref(facts);
	return compare_servers(bracket, false);
}

/* A warning for each fact that changed and matters. */
static void say_drift(const json_t *drift, const char *when, const char *program)
{
	size_t index;
	json_t *entry;

	json_array_foreach(json_object_get(drift, "drift"), index, entry)
	{
		char *before = json_dumps(json_object_get(entry, "before"), JSON_ENCODE_ANY);
		char *after = json_dumps(json_object_get(entry, "after"), JSON_ENCODE_ANY);

		if (json_is_true(json_object_get(entry, "matters")))
			fprintf(stderr,
				"%s: warning: %s of this host changed %s: %.80s, then %.80s\n",
				program, json_string_value(json_object_get(entry, "fact")), when,
				before, after);
		free(before);
		free(after);
	}
}

/* A snapshot that was written before; NULL if it cannot be read, which drift_to_json takes. */
static json_t *read_snapshot(const struct bracket *bracket, const char *name)
{
	struct tp_error ignored;
	json_t *snapshot = NULL;
	char path[PATH_MAX];

	if (json_read_file(directory_file(bracket->directory, name, path), HOST_BYTES_MAX, NULL,
			   &snapshot, &ignored) < 0)
		return NULL;
	return snapshot;
}

/* What had become of the host between the run's beginning and `resumed`, pauses included. */
static json_t *compare_earlier(const struct bracket *bracket, const json_t *resumed,
			       const char *program)
{
	json_t *first = read_snapshot(bracket, host_name);
	json_t *earlier = drift_to_json(first, resumed);

	say_drift(earlier, "before the run was gone on with", program);
	json_object_del(earlier, "schema");
	json_decref(first);
	return earlier;
}

/* What became of the host since this run began, be it anew or again. */
static void compare_host(const struct bracket *bracket, const char *program)
{
	json_t *before = read_snapshot(bracket, bracket->resumes ? resumed_name : host_name);
	json_t *after = host_facts(), *drift;

	json_object_set(after, "autogroup", bracket->autogroup);
	directory_write_json(bracket->directory, "host-after.json", after);
	drift = drift_to_json(before, after);
	say_drift(drift, "meanwhile", program);
	if (bracket->resumes)
		json_object_set_new(drift, "earlier", compare_earlier(bracket, before, program));
	directory_write_json(bracket->directory, "drift.json", drift);
	json_decref(drift);
	json_decref(before);
	json_decref(after);
}

int bracket_end(struct bracket *bracket, const char *program)
{
	int code = compare_servers(bracket, true);
	const char *mismatch;

	if (code < 0)
		return code;
	mismatch = parity_mismatch(json_object_get(bracket->parity, "after"));
	if (mismatch)
		fprintf(stderr,
			"%s: after the last sample the servers answer the same request "
			"differently: %s\n",
			program, mismatch);
	compare_host(bracket, program);
	return bracket->directory->failed;
}

void bracket_close(struct bracket *bracket)
{
	if (bracket->autogroup)
		autogroup_restore(bracket->autogroup);
	json_decref(bracket->autogroup);
	json_decref(bracket->parity);
}
