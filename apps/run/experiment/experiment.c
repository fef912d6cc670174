#include "apps/run/experiment/experiment.h"

#include "apps/common/document.h"
#include "apps/run/experiment/experiment_judge.h"
#include "apps/run/experiment/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char file_name[] = "experiment.json";

const char *experiment_form_name(enum experiment_form form)
{
	static const char *const names[] = {
		[EXPERIMENT_FORM_NONE] = NULL,
		[EXPERIMENT_FORM_FULL] = "full",
		[EXPERIMENT_FORM_SHORT] = "short",
		[EXPERIMENT_FORM_AUTO] = "auto",
	};

	return names[form];
}

const struct axis *experiment_axis(const struct experiment *experiment, enum axis_kind kind)
{
	for (unsigned i = 0; i < experiment->axis_count; i++)
		if (experiment->axes[i].kind == kind)
			return &experiment->axes[i];
	return NULL;
}

/* `path` itself, or the file in it if it is a folder. */
static int find_file(const char *path, char file[PATH_MAX], struct problems *problems)
{
	char tried[DOCUMENT_TRIED_BYTES];
	struct stat about;
	int length;

	if (stat(path, &about) < 0) {
		int code = errno;

		problems_add(problems,
			     "%s: %s%s; give the folder of an experiment, e.g. "
			     "experiments/first-look",
			     path, strerror(code), document_tried(path, tried));
		return -EINVAL;
	}
	if (S_ISDIR(about.st_mode))
		length = snprintf(file, PATH_MAX, "%s%s%s", path,
				  path[strlen(path) - 1] == '/' ? "" : "/", file_name);
	else
		length = snprintf(file, PATH_MAX, "%s", path);
	if (length < PATH_MAX)
		return 0;
	problems_add(problems, "%.60s...: the path is too long", path);
	return -EINVAL;
}

static int load_text(struct experiment *experiment, struct problems *problems)
{
	struct document document = {.path = experiment->path};

	if (document_load(&document, problems) < 0)
		return -EINVAL;
	experiment->text = document.text;
	experiment->text_bytes = document.text_bytes;
	return 0;
}

/* What would be wrong with the experiment if it had this text. */
static void judge_document(const struct document *document, struct problems *problems)
{
	static const struct experiment_changes none;
	struct experiment *experiment = calloc(1, sizeof(*experiment));

	if (!experiment)
		return;
	snprintf(experiment->path, sizeof(experiment->path), "%s", document->path);
	experiment->text = document->text;
	experiment->text_bytes = document->text_bytes;
	experiment->json = document->json;
	experiment_judge(experiment, &none, problems);
	json_decref(experiment->names);
	json_decref(experiment->files);
	free(experiment);
}

static int parse_text(struct experiment *experiment, struct problems *problems)
{
	struct document document = {.path = experiment->path,
				    .judge = judge_document,
				    .text = experiment->text,
				    .text_bytes = experiment->text_bytes};
	int rc = document_parse(&document, problems);

	experiment->json = document.json;
	return rc;
}

/* A stack, or a list of them. */
static void complete_stacks(json_t *value)
{
	char text[LINK_SPEC_BYTES];
	json_t *level;
	size_t i;

	json_array_foreach(value, i, level)
	{
		complete_stacks(level);
	}
	if (json_is_string(value) && link_complete(json_string_value(value), text))
		json_string_set(value, text);
}

static void complete_settings(json_t *settings)
{
	complete_stacks(json_object_get(settings, "stack"));
	complete_stacks(json_object_get(settings, "client_stack"));
}

/* Writes each stack's device where it is left out, so that plan and result name the link. */
static void complete_links(json_t *experiment)
{
	const char *name;
	json_t *level;
	size_t i;

	complete_settings(json_object_get(experiment, "fixed"));
	complete_settings(json_object_get(experiment, "factors"));
	json_array_foreach(json_object_get(experiment, "excludes"), i, level)
	{
		complete_settings(level);
	}
	json_object_foreach(json_object_get(experiment, "scenarios"), name, level)
	{
		complete_settings(level);
	}
	json_object_foreach(json_object_get(experiment, "variants"), name, level)
	{
		complete_settings(json_object_get(level, "set"));
	}
	json_array_foreach(json_object_get(experiment, "claims"), i, level)
	{
		complete_settings(json_object_get(level, "of"));
		complete_settings(json_object_get(level, "against"));
		complete_settings(json_object_get(level, "where"));
	}
}

/* Makes sense of the text; whatever is wrong becomes a problem. */
static int fill(struct experiment *experiment, const struct experiment_changes *changes,
		struct problems *problems)
{
	if (parse_text(experiment, problems) < 0 ||
	    experiment_changes_make(changes, experiment->json, problems) < 0)
		return -EINVAL;
	complete_links(experiment->json);
	experiment_judge(experiment, changes, problems);
	return problems->count ? -EINVAL : 0;
}

int experiment_read(const char *path, const struct experiment_changes *changes,
		    struct experiment **experiment_out, struct problems *problems)
{
	static const struct experiment_changes none;
	struct experiment *experiment = calloc(1, sizeof(*experiment));

	if (!experiment) {
		problems_add(problems, "%s: no memory", path);
		return -EINVAL;
	}
	if (find_file(path, experiment->path, problems) < 0 ||
	    load_text(experiment, problems) < 0 ||
	    fill(experiment, changes ? changes : &none, problems) < 0) {
		experiment_free(experiment);
		return -EINVAL;
	}
	*experiment_out = experiment;
	return 0;
}

int experiment_compose(const char *name, const char *text, struct experiment **experiment_out,
		       struct problems *problems)
{
	static const struct experiment_changes none;
	struct experiment *experiment = calloc(1, sizeof(*experiment));

	if (experiment)
		experiment->text = strdup(text);
	if (!experiment || !experiment->text) {
		problems_add(problems, "%s: no memory", name);
		experiment_free(experiment);
		return -EINVAL;
	}
	experiment->text_bytes = strlen(text);
	snprintf(experiment->path, sizeof(experiment->path), "%s", name);
	if (fill(experiment, &none, problems) < 0) {
		experiment_free(experiment);
		return -EINVAL;
	}
	*experiment_out = experiment;
	return 0;
}

void experiment_free(struct experiment *experiment)
{
	if (!experiment)
		return;
	json_decref(experiment->json);
	json_decref(experiment->names);
	json_decref(experiment->files);
	routes_fini(&experiment->routes);
	free(experiment->text);
	free(experiment);
}
