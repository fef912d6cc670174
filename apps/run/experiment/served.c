#include "apps/run/experiment/served.h"

#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/provenance/sha256.h"
#include "dataplane/handlers/spec.h"

#include <errno.h>
#include <fts.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char key[] = "server_config";

enum { CONFIG_BYTES_MAX = 1024 * 1024 };

/*
 * What else a result directory has at its top, or may get; and what every weir that runs in it
 * would read by itself.
 */
static const char *const taken[] = {
	"aggregate.csv",
	"aggregate.txt",
	"attempts",
	"build.json",
	"calibration.json",
	"ceiling.json",
	"ceiling.txt",
	"drift.json",
	"experiment.json",
	"figures",
	"host.json",
	"host-after.json",
	"host-resumed.json",
	"hosts.json",
	"hosts-resumed.json",
	"INCOMPLETE.txt",
	"manifest.json",
	"manifest.sha256",
	"parity",
	"parity.json",
	"plan.json",
	"report.html",
	"report.md",
	"report.next",
	"report.part",
	"results.jsonl",
	"samples",
	"summary.json",
	"tables",
	"variants.csv",
	"weir.json",
};

/* What the runner tells every server beside the settings. */
static const char *const told[] = {"address", "listen", "cpus", "conn_max", "upstream", "config"};

/* A key that is in a result is nobody's secret any more, and a name is worth nothing without it. */
static const char *const secret[] = {"tls_cert", "tls_key"};

/* The configuration while it is judged. */
struct reading {
	const struct judge *judge;
	char root[PATH_MAX];   /* the experiment's folder */
	char folder[PATH_MAX]; /* of the configuration, below the root; "" if it is that */
	json_t *files;	       /* what is served: [{path, bytes, sha256}, ...] */
	uint64_t bytes;
	bool refused;
};

__attribute__((format(printf, 2, 3))) static void refuse(struct reading *reading,
							 const char *format, ...)
{
	char text[700];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	complain(reading->judge, way_key(key), false, "'%s': %s", key, text);
	reading->refused = true;
}

static bool is_among(const char *word, size_t bytes, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == bytes && strncmp(words[i], word, bytes) == 0)
			return true;
	return false;
}

/* The folder of a path, "" if it names none. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
	const char *end = strrchr(path, '/');

	snprintf(folder, PATH_MAX, "%.*s", end ? (int)(end - path) : 0, path);
	if (end == path)
		strcpy(folder, "/");
}

/* Appends a name to a folder's path, which may be "". False if that is too long. */
static bool join(const char *folder, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s%s%s", folder, folder[0] ? "/" : "", name) < PATH_MAX;
}

/* --- what is below the folder ------------------------------------------------------------ */

/* Whether every step of a name is a plain one. */
static bool is_inner(const char *name)
{
	for (const char *at = name;; at++) {
		size_t bytes = strcspn(at, "/");

		if (bytes == 0 || (bytes == 1 && at[0] == '.') ||
		    (bytes == 2 && strncmp(at, "..", 2) == 0))
			return false;
		at += bytes;
		if (!*at)
			return true;
	}
}

/* Whether a step of the name, below the root, is a link. */
static bool has_link(const struct reading *reading, const char *name)
{
	char path[PATH_MAX], part[PATH_MAX];
	struct stat about;

	for (size_t bytes = strcspn(name, "/");; bytes += 1 + strcspn(name + bytes + 1, "/")) {
		snprintf(part, sizeof(part), "%.*s", (int)bytes, name);
		if (join(reading->root, part, path) && lstat(path, &about) == 0 &&
		    S_ISLNK(about.st_mode))
			return true;
		if (!name[bytes])
			return false;
	}
}

/* Whether the name may be copied into a result; says why not. */
static bool may_copy(struct reading *reading, const char *name)
{
	if (!is_inner(name))
		refuse(reading,
		       "'%.200s' is not below the experiment's folder; give a path there, without "
		       "'..'",
		       name);
	else if (is_among(name, strcspn(name, "/"), taken, sizeof(taken) / sizeof(taken[0])))
		refuse(reading,
		       "a result directory has a '%.*s' of its own; give '%.200s' another name",
		       (int)strcspn(name, "/"), name, name);
	else if (has_link(reading, name))
		refuse(reading, "'%.200s' is or goes over a link; put the file itself there", name);
	return !reading->refused;
}

/* Whether a file is served already, as by two routes that share a folder. */
static bool is_listed(const struct reading *reading, const char *name)
{
	size_t index;
	json_t *file;

	json_array_foreach(reading->files, index, file)
	{
		if (strcmp(json_string_value(json_object_get(file, "path")), name) == 0)
			return true;
	}
	return false;
}

/* Adds a regular file to the list, with its digest. */
static void add_file(struct reading *reading, const char *name)
{
	char path[PATH_MAX], hex[SHA256_HEX_BYTES];
	uint64_t bytes = 0;
	int code = join(reading->root, name, path) ? sha256_file(path, &bytes, hex) : -ENAMETOOLONG;

	if (is_listed(reading, name))
		return;
	if (code < 0) {
		refuse(reading, "%.300s: %s", path,
		       code == -EINVAL ? "not a regular file" : strerror(-code));
		return;
	}
	reading->bytes += bytes;
	json_array_append_new(reading->files, json_pack("{so sI ss}", "path", json_text(name),
							"bytes", (json_int_t)bytes, "sha256", hex));
	if (json_array_size(reading->files) > SERVED_FILES_MAX || reading->bytes > SERVED_BYTES_MAX)
		refuse(reading, "'%.200s': more than %d files, or %d MiB of them, are served", name,
		       SERVED_FILES_MAX, SERVED_BYTES_MAX / (1024 * 1024));
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_entry(struct reading *reading, const FTSENT *entry)
{
	const char *name = entry->fts_path + strlen(reading->root) + 1;

	switch (entry->fts_info) {
	case FTS_D:
	case FTS_DP:
		break;
	case FTS_F:
		add_file(reading, name);
		break;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		refuse(reading, "%.300s: %s", entry->fts_path, strerror(entry->fts_errno));
		break;
	default:
		refuse(reading, "%.300s is no regular file; put the file itself there",
		       entry->fts_path);
	}
}

/* Adds all that is below a folder. */
static void add_folder(struct reading *reading, const char *name)
{
	char path[PATH_MAX];
	char *const roots[] = {path, NULL};
	bool empty = true;
	FTSENT *entry;
	FTS *walk;

	if (!join(reading->root, name, path) ||
	    !(walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name))) {
		refuse(reading, "'%.200s' cannot be looked through", name);
		return;
	}
	while (!reading->refused && (entry = fts_read(walk))) {
		empty &= entry->fts_info != FTS_F || entry->fts_level == 0;
		add_entry(reading, entry);
	}
	fts_close(walk);
	if (!reading->refused && empty)
		refuse(reading, "the folder '%.200s' has no files to be served", name);
}

/* --- what the configuration says --------------------------------------------------------- */

/* What a setting says is said by the setting, so that cells tell what was effective. */
static void judge_key(struct reading *reading, const char *name)
{
	if (setting_find(name) != SETTING_COUNT)
		refuse(reading,
		       "it says '%.60s', which is a setting of the experiment; write it there",
		       name);
	else if (is_among(name, strlen(name), told, sizeof(told) / sizeof(told[0])))
		refuse(reading, "it says '%.60s', which is the runner's to say; leave it out",
		       name);
	else if (is_among(name, strlen(name), secret, sizeof(secret) / sizeof(secret[0])))
		refuse(reading,
		       "it says '%.60s', and a result holds no keys; leave it out: the server "
		       "makes a certificate of its own",
		       name);
}

/* A route's handler: its folder is served, its upstream the experiment's. */
static void judge_handler(struct reading *reading, const char *handler)
{
	const char *argument;
	const struct handler_ops *ops = spec_find(handler, &argument);
	char name[PATH_MAX];

	if (!ops)
		return; /* the server says more of it */
	if (ops->takes_upstream && !spec_wants_upstream(handler))
		refuse(reading,
		       "its handler '%.100s' names an upstream of its own; leave the address out: "
		       "it is the experiment's \"upstream\"",
		       handler);
	else if (spec_wants_upstream(handler) && !reading->judge->experiment->upstream.wanted)
		refuse(reading,
		       "its handler '%s' passes requests on, and the experiment has no "
		       "\"upstream\"; give one",
		       handler);
	if (ops->argument_is != HANDLER_PATH || !argument)
		return;
	if (argument[0] == '/' || !join(reading->folder, argument, name))
		refuse(reading,
		       "it serves '%.200s'; accepted: a folder below the experiment's, as seen "
		       "from the configuration",
		       argument);
	else if (may_copy(reading, name))
		add_folder(reading, name);
}

static void judge_routes(struct reading *reading, const json_t *routes)
{
	size_t index;
	json_t *route;

	json_array_foreach((json_t *)routes, index, route)
	{
		const char *handler = json_string_value(json_object_get(route, "handler"));

		if (handler)
			judge_handler(reading, handler);
	}
}

/* Reads the routes as the server does; all that is wrong with them is said. */
static void take_routes(struct reading *reading, const json_t *routes)
{
	const struct flag row = {.value = &reading->judge->experiment->routes};
	char *text = json_dumps(routes, JSON_ENCODE_ANY | JSON_COMPACT);
	struct flag_fault fault = {.skip = 0};

	if (text && flag_routes.parse(&row, text) < 0)
		for (unsigned i = 1; flag_routes.explain(text, &fault); i++) {
			refuse(reading, "%s", fault.text);
			fault = (struct flag_fault){.skip = i};
		}
	free(text);
}

static void judge_config(struct reading *reading, const char *name)
{
	char path[PATH_MAX];
	json_t *config = NULL, *ignored;
	struct tp_error error;
	const char *said;

	if (!may_copy(reading, name))
		return;
	folder_of(name, reading->folder);
	join(reading->root, name, path);
	add_file(reading, name);
	if (!reading->refused && json_read_file(path, CONFIG_BYTES_MAX, NULL, &config, &error) < 0)
		refuse(reading, "%s", error.text);
	json_object_foreach(config, said, ignored)
	{
		judge_key(reading, said);
	}
	judge_routes(reading, json_object_get(config, "routes"));
	if (json_object_get(config, "routes"))
		take_routes(reading, json_object_get(config, "routes"));
	json_decref(config);
}

void served_judge(const struct judge *judge)
{
	struct experiment *experiment = judge->experiment;
	const json_t *value =
		judge_top(judge, key, JSON_STRING, false,
			  "the name of a file in the experiment's folder, like \"server.json\"");
	struct reading reading = {.judge = judge};

	experiment->files = reading.files = json_array();
	if (!value)
		return;
	experiment->server_config = json_string_value(value);
	folder_of(experiment->path, reading.root);
	if (!reading.root[0])
		strcpy(reading.root, ".");
	judge_config(&reading, experiment->server_config);
}

/* --- copying ----------------------------------------------------------------------------- */

/* Whether what was read is still what the plan has. */
static bool is_planned(const char *data, size_t bytes, const json_t *file)
{
	const char *planned = json_string_value(json_object_get(file, "sha256"));
	char hex[SHA256_HEX_BYTES];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_update(&sha, data, bytes);
	return sha256_finish(&sha, hex) == 0 && planned && strcmp(planned, hex) == 0;
}

static int copy_file(const char *root, const json_t *file, struct directory *directory)
{
	const char *name = json_string_value(json_object_get(file, "path"));
	char path[PATH_MAX], folder[PATH_MAX];
	struct tp_error error;
	size_t bytes;
	char *data;
	int code;

	folder_of(name, folder);
	if (folder[0] && directory_folder(directory, folder) < 0)
		return directory->failed;
	if (!join(root, name, path))
		return directory_refuse(directory, -ENAMETOOLONG, "%.300s: the path is too long",
					name);
	code = file_read(path, SERVED_BYTES_MAX, &data, &bytes, &error);
	if (code < 0)
		return directory_refuse(directory, code, "%s", error.text);
	if (is_planned(data, bytes, file))
		directory_write(directory, name, data, bytes);
	else
		directory_refuse(directory, -ESTALE, "%.300s has changed since the plan was made",
				 path);
	free(data);
	return directory->failed;
}

int served_copy(const struct experiment *experiment, struct directory *directory)
{
	char root[PATH_MAX];
	size_t index;
	json_t *file;

	folder_of(experiment->path, root);
	json_array_foreach(experiment->files, index, file)
	{
		if (copy_file(root[0] ? root : ".", file, directory) < 0)
			break;
	}
	return directory->failed;
}
