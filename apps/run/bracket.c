#include "apps/run/bracket.h"

#include "apps/common/json.h"
#include "apps/provenance/drift.h"
#include "apps/provenance/host.h"
#include "apps/run/autogroup.h"
#include "apps/run/parity.h"

#include <errno.h>
#include <stdio.h>

static const char host_name[] = "host.json";

enum { HOST_BYTES_MAX = 16 * 1024 * 1024 };

/* Whether two cells have servers that could answer differently. */
static bool has_servers_to_compare(const struct plan *plan)
{
	return plan->cell_count > 1;
}

/* Asks all servers, unless there is nothing to compare. */
static int compare_servers(struct bracket *bracket, bool after)
{
	if (!has_servers_to_compare(bracket->plan))
		return 0;
	return parity_keep(bracket->plan, bracket->directory, bracket->interrupt, after,
			   bracket->parity);
}

int bracket_begin(struct bracket *bracket)
{
	json_t *facts;

	bracket->parity = json_object();
	bracket->autogroup = json_object();
	autogroup_raise(bracket->autogroup);
	facts = host_facts();
	json_object_set(facts, "autogroup", bracket->autogroup);
	directory_write_json(bracket->directory, bracket->resumes ? "host-resumed.json" : host_name,
			     facts);
	json_decref(facts);
	return compare_servers(bracket, false);
}

/* A warning for each fact that changed and matters. */
static void say_drift(const json_t *drift, const char *program)
{
	size_t index;
	json_t *entry;

	json_array_foreach(json_object_get(drift, "drift"), index, entry)
	{
		char *before = json_dumps(json_object_get(entry, "before"), JSON_ENCODE_ANY);
		char *after = json_dumps(json_object_get(entry, "after"), JSON_ENCODE_ANY);

		if (json_is_true(json_object_get(entry, "matters")))
			fprintf(stderr,
				"%s: warning: %s of this host changed meanwhile: %.80s, "
				"then %.80s\n",
				program, json_string_value(json_object_get(entry, "fact")), before,
				after);
		free(before);
		free(after);
	}
}

/* What became of the host. */
static void compare_host(const struct bracket *bracket, const char *program)
{
	char path[PATH_MAX];
	struct tp_error ignored;
	json_t *before = NULL, *after = host_facts(), *drift;

	json_object_set(after, "autogroup", bracket->autogroup);
	directory_write_json(bracket->directory, "host-after.json", after);
	if (json_read_file(directory_file(bracket->directory, host_name, path), HOST_BYTES_MAX,
			   NULL, &before, &ignored) < 0)
		before = NULL;
	drift = drift_to_json(before, after);
	directory_write_json(bracket->directory, "drift.json", drift);
	say_drift(drift, program);
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
	bracket->differ = mismatch != NULL;
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
