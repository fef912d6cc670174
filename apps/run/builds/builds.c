#include "apps/run/builds/builds.h"

#include "apps/common/json.h"
#include "apps/common/root.h"
#include "apps/run/builds/build_cache.h"
#include "apps/run/builds/build_compile.h"
#include "apps/run/builds/build_entry.h"
#include "apps/run/builds/build_key.h"
#include "apps/run/builds/git.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

enum {
	VERSION_BYTES = 256,
	ROOM_BYTES_MIN = 64 * 1024, /* with less, nothing more can be built */
};

/* What all builds of one call share. */
struct workshop {
	const json_t *own;	/* of the runner's program */
	const json_t *recorded; /* what references meant; NULL: they are asked for anew */
	char commits[EXPERIMENT_BUILDS_MAX][GIT_HASH_BYTES]; /* what they mean; "" without one */
	struct interrupt *interrupt;
	char root[PATH_MAX];	      /* of the sources */
	char cache[PATH_MAX];	      /* in full */
	struct build_scratch scratch; /* taken with the first look */
	char compiler[VERSION_BYTES];
	bool looked; /* at the state of the files */
	struct git_state state;
};

/* One program to build. */
struct job {
	const struct build *build;
	char commit[GIT_HASH_BYTES];
	const struct git_state *dirty; /* NULL: the files are the commit's */
	char key[SHA256_HEX_BYTES];
};

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

int builds_default_cache(char path[PATH_MAX])
{
	static const char below[] = "/results/.builds";
	char root[PATH_MAX];
	int code = root_find(root);

	if (code < 0)
		return code;
	if (snprintf(path, PATH_MAX, "%s%s", root, below) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

/* Finds the sources and a folder to write in. */
static int open_workshop(struct workshop *workshop, const char *cache_folder,
			 struct tp_error *error)
{
	int code = root_find(workshop->root);

	if (code < 0)
		return tp_fail(error, code,
			       "it is not known where weir's sources are: run ./weir, or set "
			       "WEIR_ROOT");
	code = git_check(workshop->root, error);
	return code < 0 ? code
			: build_cache_open(cache_folder, workshop->interrupt, workshop->cache,
					   error);
}

/* Looks at the files, once. */
static int look(struct workshop *workshop, struct tp_error *error)
{
	int code;

	if (workshop->looked)
		return 0;
	build_scratch_give_back(&workshop->scratch); /* of a look that failed */
	code = build_scratch_take(&workshop->scratch, workshop->cache, workshop->interrupt, error);
	if (code == 0)
		code = git_look(workshop->root, workshop->scratch.path, &workshop->state, error);
	workshop->looked = code == 0;
	return code;
}

/* Adds how the files differ from the commit that the runner's own program was built from. */
static void stamp_own(struct workshop *workshop, const char *trouble, json_t *own)
{
	static const char name[] = "git_diff_sha256";
	struct tp_error error;

	if (!json_is_true(json_object_get(own, "git_dirty")))
		json_set_unknown(own, name, "the files were the commit's");
	else if (trouble)
		json_set_unknown(own, name, trouble);
	else if (look(workshop, &error) < 0)
		json_set_unknown(own, name, error.text);
	else if (strcmp(text_of(own, "git_commit"), workshop->state.commit) != 0)
		json_set_unknown(own, name, "the checkout has moved to another commit since");
	else if (!workshop->state.dirty)
		json_set_unknown(own, name, "the checkout's files are the commit's by now");
	else
		json_object_set_new(own, name, json_string(workshop->state.diff_sha256));
}

/* The commit that a reference means, or meant. */
static int find_commit(const struct workshop *workshop, const char *reference,
		       char commit_out[GIT_HASH_BYTES], struct tp_error *error)
{
	const char *recorded = text_of(workshop->recorded, reference);
	size_t digits = strspn(recorded, "0123456789abcdef");
	struct tp_error why;
	int code;

	if (!recorded[0])
		return git_resolve(workshop->root, reference, commit_out, error);
	if (recorded[digits] != '\0' || (digits != 40 && digits != GIT_HASH_BYTES - 1))
		return tp_fail(error, -EINVAL, "'%.80s', which '%.80s' is said to mean, is no hash",
			       recorded, reference);
	code = git_resolve(workshop->root, recorded, commit_out, &why);
	return code < 0 ? tp_fail(error, code, "'%.80s' meant %s: %.300s", reference, recorded,
				  why.text)
			: 0;
}

/* Finds the commits of all builds that name one. */
static int find_commits(struct workshop *workshop, const struct experiment *experiment,
			struct tp_error *error)
{
	struct tp_error why;
	int code = 0;

	for (unsigned i = 1; code == 0 && i < experiment->build_count; i++) {
		const struct build *build = &experiment->builds[i];

		if (build->commit)
			code = find_commit(workshop, build->commit, workshop->commits[i], &why);
		if (code < 0)
			tp_fail(error, code, "variant %.60s: %.440s", build->variant, why.text);
	}
	return code;
}

/* Finds what is to be built. */
static int find_sources(struct workshop *workshop, const char *commit, struct job *job,
			struct tp_error *error)
{
	int code;

	if (job->build->commit) {
		strcpy(job->commit, commit);
		return 0;
	}
	code = look(workshop, error);
	if (code < 0)
		return code;
	strcpy(job->commit, workshop->state.commit);
	job->dirty = workshop->state.dirty ? &workshop->state : NULL;
	return 0;
}

static int make_key(const struct workshop *workshop, struct job *job, struct tp_error *error)
{
	const struct build_key key = {
		.commit = job->commit,
		.diff_sha256 = job->dirty ? job->dirty->diff_sha256 : "",
		.options = job->build->options,
		.c_args = job->build->c_args,
		.compiler = workshop->compiler,
		.own = workshop->own,
		.cpuinfo = BUILD_KEY_CPUINFO,
	};

	return build_key_make(&key, job->key, error);
}

static void set_time(json_t *facts, const char *name)
{
	time_t now = time(NULL);
	struct tm utc;
	char text[32];

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	json_object_set_new(facts, name, json_string(text));
}

/* Adds to what meson knows what we do. */
static void add_facts(const struct workshop *workshop, const struct job *job, json_t *facts)
{
	const char *commit = text_of(workshop->own, "git_commit");

	json_object_set_new(facts, "git_commit", json_string(job->commit));
	json_object_set_new(facts, "git_dirty", json_boolean(job->dirty));
	if (job->dirty)
		json_object_set_new(facts, "git_diff_sha256", json_string(job->dirty->diff_sha256));
	else
		json_set_unknown(facts, "git_diff_sha256", "the files were the commit's");
	json_object_set_new(facts, "compiler", json_text(text_of(workshop->own, "compiler")));
	json_object_set_new(facts, "compiler_version", json_text(workshop->compiler));
	json_object_set_new(facts, "compiler_command",
			    json_text(text_of(workshop->own, "compiler_command")));
	json_object_set_new(facts, "linker", json_text(text_of(workshop->own, "linker")));
	json_object_set_new(facts, "variant_options", json_text(job->build->options));
	json_object_set_new(facts, "variant_c_args", json_text(job->build->c_args));
	json_object_set_new(facts, "cache_key", json_string(job->key));
	if (!commit[0])
		json_set_unknown(facts, "runner_commit", "built outside a git repository");
	else
		json_object_set_new(facts, "runner_commit", json_string(commit));
	set_time(facts, "built_at");
}

/* Not all that fails for want of room says so: git speaks of files that it could not write. */
static int explain_room(const struct workshop *workshop, int code, struct tp_error *error)
{
	struct statvfs about;

	if (code == -EINTR || statvfs(workshop->cache, &about) < 0 ||
	    (uint64_t)about.f_bavail * about.f_frsize >= ROOM_BYTES_MIN)
		return code;
	return tp_fail(error, -ENOSPC, "no room is left in %.300s", workshop->cache);
}

/* Checks out, builds and stores, in an entry that is ours. */
static int build(const struct workshop *workshop, const struct job *job,
		 const struct build_entry *entry, struct program *program_out,
		 struct tp_error *error)
{
	const struct build_compile compile = {workshop->own,	  job->build->options,
					      job->build->c_args, entry->tree,
					      entry->build,	  entry->log};
	char built[PATH_MAX + 16];
	json_t *facts;
	int code = git_check_out(workshop->root, job->commit, job->dirty, workshop->scratch.path,
				 entry->tree, error);

	if (code == 0)
		code = build_compile_run(&compile, workshop->interrupt, error);
	if (code < 0)
		return explain_room(workshop, code, error);
	facts = build_compile_facts(&compile);
	add_facts(workshop, job, facts);
	snprintf(built, sizeof(built), "%s/apps/weir", entry->build);
	code = build_entry_store(entry, built, facts, program_out, error);
	json_decref(facts);
	return code < 0 ? explain_room(workshop, code, error) : 0;
}

/* Takes the program from the cache, or builds it. */
static int obtain(const struct workshop *workshop, const struct job *job,
		  struct program *program_out, struct tp_error *error)
{
	struct build_entry entry;
	char name[BUILD_NAME_BYTES];
	int code;

	snprintf(name, sizeof(name), "%.*s-%.*s", BUILD_NAME_DIGITS, job->commit, BUILD_NAME_DIGITS,
		 job->key);
	code = build_entry_open(&entry, workshop->cache, name, workshop->interrupt, error);
	if (code < 0)
		return code;
	if (!build_entry_load(&entry, program_out))
		code = build(workshop, job, &entry, program_out, error);
	build_entry_close(&entry);
	/* as this experiment writes it: others may have built the same commit by another name */
	if (code == 0)
		json_object_set_new(program_out->build, "reference",
				    job->build->commit ? json_text(job->build->commit)
						       : json_null());
	return code;
}

/* Makes one variant's program. */
static int make(struct workshop *workshop, const struct build *build, const char *commit,
		struct program *program_out, struct tp_error *error)
{
	struct tp_error why;
	struct job job = {.build = build};
	int code = build_compile_judge(build->options, &why);

	if (code == 0)
		code = find_sources(workshop, commit, &job, &why);
	if (code == 0 && !workshop->compiler[0])
		code = build_compile_version(workshop->own, workshop->compiler, VERSION_BYTES,
					     &why);
	if (code == 0)
		code = make_key(workshop, &job, &why);
	if (code == 0)
		code = obtain(workshop, &job, program_out, &why);
	if (interrupt_check(workshop->interrupt) || code == -EINTR) {
		if (code == 0)
			program_fini(program_out);
		return tp_fail(error, -EINTR, "interrupted while variant %s was built",
			       build->variant);
	}
	return code < 0 ? tp_fail(error, code, "variant %.60s: %.440s", build->variant, why.text)
			: 0;
}

/* Makes the programs behind the first. */
static int make_others(struct workshop *workshop, const struct experiment *experiment,
		       struct program *programs, struct tp_error *error)
{
	unsigned made = 1;
	int code = find_commits(workshop, experiment, error);

	while (code == 0 && made < experiment->build_count) {
		code = make(workshop, &experiment->builds[made], workshop->commits[made],
			    &programs[made], error);
		made += code == 0;
	}
	while (code < 0 && made > 1)
		program_fini(&programs[--made]);
	return code;
}

int builds_make(const struct experiment *experiment, const json_t *commits,
		const char *cache_folder, struct interrupt *interrupt, struct program *programs_out,
		struct tp_error *error)
{
	struct program programs[EXPERIMENT_BUILDS_MAX] = {0};
	struct workshop workshop = {.interrupt = interrupt, .recorded = commits};
	struct tp_error trouble;
	bool dirty;
	int code = program_own(&programs[0]);

	if (code < 0)
		return tp_fail(error, code, "cannot read the running program: %s", strerror(-code));
	workshop.own = programs[0].build;
	dirty = json_is_true(json_object_get(workshop.own, "git_dirty"));
	if (dirty || experiment->build_count > 1)
		code = open_workshop(&workshop, cache_folder, &trouble);
	stamp_own(&workshop, code < 0 ? trouble.text : NULL, programs[0].build);
	if (experiment->build_count == 1)
		code = 0;
	else if (code < 0)
		tp_fail(error, code, "variant %.60s: %.440s", experiment->builds[1].variant,
			trouble.text);
	else
		code = make_others(&workshop, experiment, programs, error);
	build_scratch_give_back(&workshop.scratch);
	if (code < 0)
		program_fini(&programs[0]);
	else
		memcpy(programs_out, programs, experiment->build_count * sizeof(programs[0]));
	return code;
}

void builds_fini(const struct experiment *experiment, struct program *programs)
{
	for (unsigned i = 0; i < experiment->build_count; i++)
		program_fini(&programs[i]);
}

json_t *builds_commits(const struct experiment *experiment, const struct program *programs)
{
	json_t *commits = json_object();

	for (unsigned i = 1; i < experiment->build_count; i++)
		if (experiment->builds[i].commit)
			json_object_set(commits, experiment->builds[i].commit,
					json_object_get(programs[i].build, "git_commit"));
	return commits;
}

json_t *builds_to_json(const struct experiment *experiment, const struct program *programs)
{
	json_t *all = json_deep_copy(programs[0].build), *variants = json_object();

	for (unsigned i = 0; i < experiment->axis_count; i++) {
		const struct axis *axis = &experiment->axes[i];

		for (unsigned j = 0; axis->kind == AXIS_VARIANTS && j < axis->count; j++)
			json_object_set(variants, axis->levels[j].name,
					programs[axis->levels[j].build].build);
	}
	json_object_set_new(all, "client", json_pack("{ss}", "program_sha256", programs[0].sha256));
	json_object_set_new(all, "variants", variants);
	return all;
}

const char *builds_unfit(const struct experiment *experiment, const struct program *programs,
			 const char **variant_out)
{
	for (unsigned i = 0; i < experiment->build_count; i++) {
		const char *why = text_of(programs[i].build, "unfit_for_performance");

		*variant_out = experiment->builds[i].variant;
		if (why[0])
			return why;
	}
	return NULL;
}
