#include "apps/common/config.h"

#include "apps/common/document.h"
#include "apps/common/exit.h"
#include "apps/common/json.h"
#include "apps/common/root.h"
#include "dataplane/core/check.h"
#include "dataplane/core/nearest.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The configuration of a folder, which needs not be named. */
static const char root_name[] = "weir.json";

/* Where shipped ones are, below the repository's root. */
static const char shipped_folder[] = "configs";

/* One file while it is read. */
struct layer {
	struct config *config;
	struct flags *flags;
	unsigned number;
	char path[PATH_MAX];
	char folder[PATH_MAX]; /* where relative paths lead on from; "" for the current one */
	const char *source;    /* kept */
};

static int parse_config(const struct flag *flag, const char *text)
{
	struct config *config = flag->value;

	if (*text == '\0' || config->count == CONFIG_FILES_MAX)
		return -EINVAL;
	config->names[config->count++] = text;
	return 0;
}

const struct flag_kind flag_config = {
	.metavar = "FILE",
	.accepts = "a file, or the name of a shipped configuration, like tcp-tls; at most 8 times",
	.repeats = true,
	.parse = parse_config,
};

/* A text that lives as long as the configuration. Takes the value over, which is no NULL. */
static const char *keep(struct config *config, json_t *value)
{
	CHECK(value);
	json_array_append_new(config->kept, value);
	return json_string_value(value);
}

/* --- what a file says ------------------------------------------------------------------------- */

/* Adds a problem at the end of the steps, or at its key. */
static void complain(const struct document *document, const struct place_step *steps,
		     unsigned count, bool at_key, struct problems *problems, const char *text)
{
	struct place place = place_find(document->text, steps, count, at_key);

	problems_add(problems, "%s:%u:%u: %s", document->path, place.line, place.column, text);
}

/* What names files itself does not: a file includes no other. */
static bool stands_in_files(const struct flag *flag)
{
	return !flag->command_line && !flag->kind->repeats;
}

static void complain_unknown(const struct document *document, const char *key,
			     struct problems *problems)
{
	const struct layer *layer = document->context;
	const struct flags *flags = layer->flags;
	struct place_step step = {.key = key};
	char keys[FLAGS_MAX][FLAGS_KEY_BYTES], ask[NEAREST_TEXT], text[256];
	const char *names[FLAGS_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < flags->count; i++)
		if (stands_in_files(&flags->table[i])) {
			names[count] = flags_key(&flags->table[i], keys[count]);
			count++;
		}
	snprintf(text, sizeof(text), "unknown key '%.60s'; %s'%s --help' lists them as flags", key,
		 nearest_ask(key, names, count, "", ask), flags->program);
	complain(document, &step, 1, true, problems, text);
}

static void complain_value(const struct document *document, const char *key,
			   const struct flag *flag, const json_t *value, struct problems *problems)
{
	char *given = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
	char accepts[FLAGS_ACCEPTS_BYTES], text[512];
	struct place_step step = {.key = key};

	snprintf(text, sizeof(text), "'%.40s' is %.60s; accepted: %s", key,
		 given ? given : "(unprintable)",
		 flag->kind == &flag_switch ? "true or false" : flags_accepts(flag, accepts));
	complain(document, &step, 1, false, problems, text);
	free(given);
}

/* All that is wrong within the value of a key; false if the flag's kind has no words for it. */
static bool explain(const struct document *document, const char *key, const struct flag *flag,
		    const char *text, struct problems *problems)
{
	struct place_step steps[1 + sizeof(((struct flag_fault *)0)->steps) /
					    sizeof(((struct flag_fault *)0)->steps[0])];
	unsigned count = 0;

	if (!flag->kind->explain || !text)
		return false;
	steps[0] = (struct place_step){.key = key};
	for (;; count++) {
		struct flag_fault fault = {.skip = count};

		if (!flag->kind->explain(text, &fault))
			return count > 0;
		memcpy(&steps[1], fault.steps, fault.step_count * sizeof(fault.steps[0]));
		complain(document, steps, 1 + fault.step_count, fault.at_key, problems, fault.text);
	}
}

/* The value as the flag's text, kept; NULL if it is of another type. */
static const char *text_of(const struct layer *layer, const struct flag *flag, const json_t *value)
{
	const struct flag_kind *kind = flag->kind;
	struct config *config = layer->config;
	const char *text = NULL;
	char *dumped;

	if (kind == &flag_switch)
		return !json_is_boolean(value) ? NULL : json_is_true(value) ? "yes" : "no";
	if (kind->number && json_is_integer(value))
		return keep(config, json_sprintf("%lld", (long long)json_integer_value(value)));
	if (kind->json) {
		dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		text = keep(config, json_string(dumped));
		free(dumped);
	} else if (json_is_string(value) && (!kind->number || kind->units)) {
		text = keep(config, json_string(json_string_value(value)));
	}
	return text;
}

/* A copy of the value with its relative paths led on from the file's folder. */
static json_t *locate(const struct layer *layer, const struct flag *flag, const json_t *value)
{
	if (flag->kind->locate && (flag->kind->json || json_is_string(value)))
		return flag->kind->locate(value, layer->folder);
	return json_deep_copy(value);
}

static void take(const struct document *document, const char *key, const json_t *value,
		 struct problems *problems)
{
	const struct layer *layer = document->context;
	struct flag *flag = flags_find_key(layer->flags, key);
	json_t *located;
	const char *text;

	if (!flag || !stands_in_files(flag)) {
		complain_unknown(document, key, problems);
		return;
	}
	located = locate(layer, flag, value);
	text = text_of(layer, flag, located);
	if ((!text || flags_take(flag, text, layer->source, layer->number) < 0) &&
	    !explain(document, key, flag, text, problems))
		complain_value(document, key, flag, value, problems);
	json_decref(located);
}

/* Whether the file is for this version of weir. */
static bool judge_schema(const struct document *document, struct problems *problems)
{
	const json_t *schema = json_object_get(document->json, "schema");
	struct place_step step = {.key = "schema"};
	char text[160];

	if (!schema ||
	    (json_is_string(schema) && strcmp(json_string_value(schema), CONFIG_SCHEMA) == 0))
		return true;
	if (json_is_string(schema))
		snprintf(text, sizeof(text),
			 "'schema' is \"%.60s\"; this version reads \"%s\" only",
			 json_string_value(schema), CONFIG_SCHEMA);
	else
		snprintf(text, sizeof(text), "'schema' is no text; accepted: \"%s\"",
			 CONFIG_SCHEMA);
	complain(document, &step, 1, false, problems, text);
	return false;
}

static void judge(const struct document *document, struct problems *problems)
{
	const char *key;
	json_t *value;

	if (!judge_schema(document, problems))
		return;
	json_object_foreach(document->json, key, value)
	{
		if (strcmp(key, "schema") != 0)
			take(document, key, value, problems);
	}
}

/* --- where a file is -------------------------------------------------------------------------- */

static int is_config(const struct dirent *entry)
{
	const char *end = strstr(entry->d_name, ".json");

	return end && end != entry->d_name && end[strlen(".json")] == '\0';
}

/* The names of the shipped files, for messages. */
static void list_shipped(const char *folder, char *text, size_t bytes)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_config, alphasort);
	size_t length = 0;

	text[0] = '\0';
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (length < bytes)
			length += (size_t)snprintf(text + length, bytes - length, "%s%.*s",
						   i ? ", " : "",
						   (int)(strlen(name) - strlen(".json")), name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* Whether the text can be a shipped file's name, and not the path of another. */
static bool is_plain(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

/* Finds the shipped file of this name. False, and a problem, if there is none. */
static bool find_shipped(struct layer *layer, const char *name, struct problems *problems)
{
	char root[PATH_MAX], folder[PATH_MAX + 16], shipped[512] = "";
	bool known = root_find(root) == 0, is_here = access(name, F_OK) == 0;

	if (known) {
		snprintf(folder, sizeof(folder), "%s/%s", root, shipped_folder);
		if (snprintf(layer->path, PATH_MAX, "%s/%s.json", folder, name) < PATH_MAX &&
		    access(layer->path, F_OK) == 0)
			return true;
		list_shipped(folder, shipped, sizeof(shipped));
	}
	problems_add(problems, "%s: %s a shipped configuration; %s%s", name,
		     is_here ? "a folder here, not a file, and not" : "neither a file here nor",
		     shipped[0] ? "these are shipped: "
				: "none is to be found, since the repository's root is not known: "
				  "set WEIR_ROOT",
		     shipped);
	return false;
}

/* A file that is there goes before a shipped one of its name; a folder can not be meant. */
static bool find(struct layer *layer, const char *name, struct problems *problems)
{
	struct stat about;

	if ((stat(name, &about) < 0 || S_ISDIR(about.st_mode)) && is_plain(name)) {
		layer->source =
			keep(layer->config, json_sprintf("%s/%s.json", shipped_folder, name));
		return find_shipped(layer, name, problems);
	}
	layer->source = name;
	if (snprintf(layer->path, PATH_MAX, "%s", name) < PATH_MAX)
		return true;
	problems_add(problems, "%.60s...: the path is too long", name);
	return false;
}

static void set_folder(struct layer *layer)
{
	char copy[PATH_MAX];

	layer->folder[0] = '\0';
	if (strchr(layer->path, '/')) {
		strcpy(copy, layer->path);
		snprintf(layer->folder, PATH_MAX, "%s", dirname(copy));
	}
}

static void note_file(struct layer *layer)
{
	struct config *config = layer->config;

	config->files = config->files
				? keep(config, json_sprintf("%s,%s", config->files, layer->source))
				: layer->source;
}

/* Whether a name can be told to others; a problem if not. */
static bool is_text(const char *name, struct problems *problems)
{
	json_t *text = json_string(name), *told;
	bool is = text != NULL;

	if (!is) {
		told = json_text(name);
		problems_add(problems, "%s: the name is not UTF-8, and could not be recorded",
			     json_string_value(told));
		json_decref(told);
	}
	json_decref(text);
	return is;
}

static void read_file(struct layer *layer, const char *name, struct problems *problems)
{
	struct document document = {.path = layer->path, .judge = judge, .context = layer};

	layer->number++;
	if (!is_text(name, problems) || !find(layer, name, problems))
		return;
	note_file(layer);
	set_folder(layer);
	if (document_load(&document, problems) == 0 && document_parse(&document, problems) == 0)
		judge(&document, problems);
	document_fini(&document);
}

int config_read(struct config *config, struct flags *flags, struct problems *problems)
{
	struct layer layer = {.config = config, .flags = flags};
	struct stat about;

	config->kept = json_array();
	if (lstat(root_name, &about) == 0)
		read_file(&layer, root_name, problems);
	for (unsigned i = 0; i < config->count; i++)
		read_file(&layer, config->names[i], problems);
	return problems->count ? -EINVAL : 0;
}

bool config_take(struct config *config, struct flags *flags, int *status_out)
{
	struct problems problems = {.count = 0};

	if (config_read(config, flags, &problems) == 0)
		return true;
	fflush(stdout);
	fprintf(stderr, "%s: nothing was started: %u problem%s\n%s", flags->program, problems.count,
		problems.count == 1 ? "" : "s", problems.text);
	*status_out = EXIT_USAGE;
	return false;
}

void config_fini(struct config *config)
{
	json_decref(config->kept);
}
