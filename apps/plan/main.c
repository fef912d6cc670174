#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/provenance/host.h"
#include "apps/common/root.h"
#include "apps/provenance/topology.h"
#include "apps/run/experiment/experiment_flags.h"
#include "apps/run/builds/git.h"
#include "apps/run/store/ground.h"
#include "apps/run/plan/plan.h"
#include "apps/run/plan/plan_show.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/hugepages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "weir plan";

struct plan_options {
	const char *experiment;
	struct experiment_changes changes;
	const char *topology; /* a file of hwloc's; NULL: this host */
	bool commands;
	bool json;
};

/* What is on another machine is not known: its port is that, and hugepages it has none. */
enum { PORT_ELSEWHERE = 20000 };

/* A new reference: each line of the problems. */
static json_t *lines_of(const struct problems *problems)
{
	json_t *lines = json_array();

	for (const char *at = problems->text; *at; at += strcspn(at, "\n") + 1)
		json_array_append_new(lines, json_stringn(at, strcspn(at, "\n")));
	return lines;
}

/*
 * The commits that the builds' references mean, by variant: as git says, or null where git or a
 * repository is not at hand. One that git does not know would refuse a run. A new reference.
 */
static json_t *commits_of(const struct experiment *experiment, struct problems *problems)
{
	json_t *commits = json_object();
	char root[PATH_MAX], commit[GIT_HASH_BYTES];
	struct tp_error error;
	bool at_hand = root_find(root) == 0 && git_check(root, &error) == 0;

	for (unsigned i = 1; i < experiment->build_count; i++) {
		const struct build *build = &experiment->builds[i];

		if (!build->commit)
			continue;
		if (!at_hand)
			json_object_set_new(commits, build->variant, json_null());
		else if (git_resolve(root, build->commit, commit, &error) == 0)
			json_object_set_new(commits, build->variant, json_string(commit));
		else
			problems_add(problems, "the variant '%s': %s", build->variant, error.text);
	}
	return commits;
}

/* What the plan does not say of itself. */
struct beside {
	json_t *commits;
	json_t *warnings;
};

static int print_json(const struct plan *plan, const struct beside *beside,
		      const struct problems *problems)
{
	json_t *json = plan_to_json(plan), *cautions = plan_cautions(plan);
	int code;

	json_object_set(json, "commits", beside->commits);
	json_array_extend(beside->warnings, cautions);
	json_object_set(json, "warnings", beside->warnings);
	json_object_set_new(json, "problems", lines_of(problems));
	code = json_dumpf(json, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(cautions);
	json_decref(json);
	return code;
}

/* What makes figures of this host doubtful, though nothing refuses to measure. A new reference. */
static json_t *warnings_of(const struct plan_options *options)
{
	json_t *warnings = json_array(), *facts, *value;
	const char *governor;

	if (options->topology)
		return warnings;
	facts = host_facts();
	if (host_is_virtual())
		json_array_append_new(warnings,
				      json_string("this host is virtual: others may take its "
						  "processors' time"));
	json_object_foreach(json_object_get(facts, "governors"), governor, value)
	{
		if (strcmp(governor, "performance") != 0)
			json_array_append_new(warnings,
					      json_sprintf("a governor is %s, not performance: "
							   "clocks change with the load",
							   governor));
	}
	json_decref(facts);
	return warnings;
}

static void print(const struct plan *plan, const struct beside *beside, bool commands)
{
	const char *variant;
	size_t index;
	json_t *value;

	json_array_foreach(beside->warnings, index, value)
	{
		printf("warning: %s\n", json_string_value(value));
	}
	json_object_foreach(beside->commits, variant, value)
	{
		if (json_is_string(value))
			printf("%s would be built from %s\n", variant, json_string_value(value));
	}
	plan_print(plan, NULL, commands, stdout);
}

/* What refuses a run is said last, on stderr. */
static int refuse(const struct problems *problems)
{
	if (problems->count == 0)
		return EXIT_PASS;
	fflush(stdout);
	fprintf(stderr, "%s: %u problem%s would refuse a run\n%s", program, problems->count,
		problems->count == 1 ? "" : "s", problems->text);
	return EXIT_USAGE;
}

static int read_topology(const struct plan_options *options, struct topology *topology,
			 struct problems *problems)
{
	struct tp_error error;
	int code;

	if (options->topology) {
		code = topology_read_xml(options->topology, topology, &error);
		if (code < 0)
			problems_add(problems, "%s", error.text);
		return code;
	}
	code = topology_read(topology);
	if (code < 0)
		problems_add(problems, "cannot read which CPUs there are: %s", strerror(-code));
	return code;
}

/* Plans on this host or on another; 0 with a plan and what would refuse it, or negative errno. */
static int make_plan(const struct plan_options *options, const struct experiment *experiment,
		     struct topology *topology, struct plan **plan_out, struct problems *problems)
{
	struct hosts *hosts = hosts_create(json_object_get(experiment->json, "hosts"));
	struct plan_ground on = {.topology = topology, .hosts = hosts};
	static const struct ground_wish any;
	struct ground ground;
	int code = read_topology(options, topology, problems);

	ground_pretend(&ground, &any);
	on.elsewhere = options->topology != NULL;
	on.socket_folder = ground.folder;
	on.run_id = ground.run_id;
	on.port = options->topology ? PORT_ELSEWHERE : ground.port;
	on.upstream_port = options->topology ? PORT_ELSEWHERE + 1 : ground.upstream_port;
	on.hugepages_free_mib = options->topology ? 0 : hugepages_count().free_mib;
	code = code < 0 ? -EINVAL : plan_sketch(experiment, &on, plan_out, problems);
	hosts_destroy(hosts);
	return code;
}

static int plan_experiment(const struct plan_options *options, const struct experiment *experiment,
			   struct topology *topology)
{
	struct problems problems = {0};
	struct beside beside;
	struct plan *plan;
	int status;

	if (make_plan(options, experiment, topology, &plan, &problems) < 0)
		return refuse(&problems);
	beside.commits = commits_of(experiment, &problems);
	beside.warnings = warnings_of(options);
	if (!options->json)
		print(plan, &beside, options->commands);
	else if (print_json(plan, &beside, &problems) < 0)
		problems_add(&problems, "the plan could not be written whole");
	status = refuse(&problems);
	json_decref(beside.commits);
	json_decref(beside.warnings);
	plan_free(plan);
	return status;
}

static int plan_options(const struct plan_options *options)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	struct problems problems = {0};
	struct experiment *experiment;
	int status;

	if (!topology)
		problems_add(&problems, "no memory");
	if (!topology ||
	    experiment_read(options->experiment, &options->changes, &experiment, &problems) < 0) {
		free(topology);
		return refuse(&problems);
	}
	status = plan_experiment(options, experiment, topology);
	experiment_free(experiment);
	free(topology);
	return status;
}

int verb_plan(int argc, char **argv)
{
	struct plan_options options = {.topology = NULL};
	struct flag table[] = {
		EXPERIMENT_FLAGS(&options.changes),
		{.name = "topology",
		 .kind = &flag_text,
		 .value = &options.topology,
		 .about = "plan for the machine that this file of hwloc's describes (`lstopo "
			  "FILE.xml` there), not for this one"},
		{.name = "commands",
		 .kind = &flag_switch,
		 .value = &options.commands,
		 .about = "print every sample's command lines, too"},
		{.name = "json",
		 .kind = &flag_switch,
		 .value = &options.json,
		 .about = "print plan.json, with warnings and problems"},
	};
	struct flags flags = {
		.program = program,
		.about = "Shows what `weir run DIR` would do: cells, CPUs, order, time, what is "
			 "omitted and why, and every\nsample. Builds nothing, runs nothing, "
			 "takes nothing.\n"
			 "Exit status: 0; 4 if a run would be refused, each reason on a line of "
			 "stderr.",
		.operand = "DIR",
		.operand_value = &options.experiment,
		.table = table,
		.count = sizeof(table) / sizeof(table[0])};
	char variants[EXPERIMENT_FLAGS_WORDS];
	int status;

	if (!experiment_flags_accept(&flags, &options.changes, variants, argc, argv, &status))
		return status;
	return plan_options(&options);
}
