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

/* Asks all servers and enters what they answered under `when`. */
static int compare_servers(struct bracket *bracket, const char *when)
{
	json_t *found;
	int code;

	if (!has_servers_to_compare(bracket->plan))
		return 0;
	if (bracket->far) {
		json_set_unknown(bracket->parity, when, "servers on other hosts are not asked");
		return directory_write_json(bracket->directory, "parity.json", bracket->parity);
	}
	code = parity_check(bracket->plan, bracket->directory, bracket->interrupt, when, &found);
	if (code < 0)
		return code;
	json_object_set_new(bracket->parity, when, found);
	return directory_write_json(bracket->directory, "parity.json", bracket->parity);
}

static const char *mismatch(const struct bracket *bracket, const char *when)
{
	return parity_mismatch(json_object_get(bracket->parity, when));
}

int bracket_begin(struct bracket *bracket)
{
	json_t *facts;
	int code;

	bracket->parity = json_pack("{ss}", "schema", "weir.parity/1");
	bracket->autogroup = json_object();
	autogroup_raise(bracket->autogroup);
	facts = host_facts();
	json_object_set(facts, "autogroup", bracket->autogroup);
	directory_write_json(bracket->directory, bracket->resumes ? "host-resumed.json" : host_name,
			     facts);
	json_decref(facts);
	code = compare_servers(bracket, "before");
	if (code == 0 && mismatch(bracket, "before"))
		code = directory_refuse(bracket->directory, -EBADE,
					"the servers answer the same request differently: %s",
					mismatch(bracket, "before"));
	return code;
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
	int code = compare_servers(bracket, "after");

	if (code < 0)
		return code;
	bracket->differ = mismatch(bracket, "after") != NULL;
	if (bracket->differ)
		fprintf(stderr,
			"%s: after the last sample the servers answer the same request "
			"differently: %s\n",
			program, mismatch(bracket, "after"));
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
