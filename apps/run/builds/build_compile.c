#include "apps/run/builds/build_compile.h"

#include "apps/common/command.h"
#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/provenance/build_info.h"
#include "apps/run/builds/build_key.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	WORDS_MAX = 64,
	WORDS_BYTES = 16 * 1024,
	VARIABLES_MAX = 4096,
	LOG_BYTES_MAX = 64 * 1024 * 1024,
	QUOTE_BYTES = 240,
	ROOM_BYTES_MIN = 1024 * 1024, /* a file system with less is as good as full */
};

/* Words for an argument list, and where they lie. */
struct words {
	const char *list[WORDS_MAX + 1];
	unsigned count;
	char text[WORDS_BYTES];
	size_t bytes;
};

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* Adds a word; too many, or too long ones, are seen by the count. */
__attribute__((format(printf, 2, 3))) static void add(struct words *words, const char *format, ...)
{
	size_t room = sizeof(words->text) - words->bytes;
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(words->text + words->bytes, room, format, arguments);
	va_end(arguments);
	if (words->count >= WORDS_MAX || (size_t)bytes >= room) {
		words->count = WORDS_MAX + 1;
		return;
	}
	words->list[words->count++] = words->text + words->bytes;
	words->bytes += (size_t)bytes + 1;
}

/* Whether an option "-Dname=..." is among those written. */
static bool names(const char *options, const char *name, size_t name_bytes)
{
	for (const char *word = options; *word; word += strcspn(word, " ")) {
		word += strspn(word, " ");
		if (strncmp(word, "-D", 2) == 0 && strncmp(word + 2, name, name_bytes) == 0 &&
		    word[2 + name_bytes] == '=')
			return true;
	}
	return false;
}

/* Whether the variant's options leave this one of the runner's, "-Dname=value", as it is. */
static bool is_inherited(const char *option, const char *options)
{
	static const char *const of_type[] = {"-Doptimization=", "-Ddebug="};
	const char *name = option + strlen("-D");

	for (unsigned i = 0; i < 2; i++)
		if (strncmp(option, of_type[i], strlen(of_type[i])) == 0 &&
		    names(options, "buildtype", strlen("buildtype")))
			return false;
	return !names(options, name, strcspn(name, "="));
}

/* Debian's own where it stands, as the launcher has it. */
static const char *tool(const char *path)
{
	return access(path, X_OK) == 0 ? path : strrchr(path, '/') + 1;
}

static void list_setup(const struct build_compile *compile, struct words *words)
{
	const json_t *setup = json_object_get(compile->own, "setup");
	const char *own_args = text_of(compile->own, "c_args");

	add(words, "%s", tool("/usr/bin/meson"));
	add(words, "setup");
	for (size_t i = 0; i < json_array_size(setup); i++) {
		const char *option = json_string_value(json_array_get(setup, i));

		if (is_inherited(option, compile->options))
			add(words, "%s", option);
	}
	if (own_args[0] || compile->c_args[0])
		add(words, "-Dc_args=%s%s%s", own_args, own_args[0] ? " " : "", compile->c_args);
	for (const char *word = compile->options; *word;) {
		size_t bytes = strcspn(word, " ");

		if (bytes > 0)
			add(words, "%.*s", (int)bytes, word);
		word += bytes + strspn(word + bytes, " ");
	}
	add(words, "%s", compile->build);
	add(words, "%s", compile->tree);
}

/* Runs a tool with its words in the log before what it says. */
static int work(const struct build_compile *compile, const struct words *words,
		struct interrupt *interrupt, char said[COMMAND_SAID_BYTES])
{
	char compiler[512], *env[VARIABLES_MAX + 4] = {"LC_ALL=C", "PYTHONNOUSERSITE=1", compiler};
	const struct command command = {.argv = words->list, .env = env};
	FILE *log = fopen(compile->log, "ae");
	unsigned count = 3;

	for (char **variable = environ; *variable && count < VARIABLES_MAX; variable++)
		if (build_key_lets_through(*variable))
			env[count++] = *variable;
	snprintf(compiler, sizeof(compiler), "CC=%s", text_of(compile->own, "compiler_command"));
	for (unsigned i = 0; log && i < words->count; i++)
		fprintf(log, "%s%s", words->list[i], i + 1 < words->count ? " " : "\n");
	if (log)
		fclose(log);
	return command_work(&command, compile->log, interrupt->fd, said);
}

/* The first line that tells of an error, or else the last that says anything. */
static void quote_log(const char *path, char quote[QUOTE_BYTES])
{
	struct tp_error ignored;
	char *text, *found = NULL, *last = "";
	size_t bytes;

	snprintf(quote, QUOTE_BYTES, "nothing was said");
	if (file_read(path, LOG_BYTES_MAX, &text, &bytes, &ignored) < 0)
		return;
	for (char *rest = text, *line; !found && (line = strsep(&rest, "\n"));) {
		if (strstr(line, "error:") || strstr(line, "ERROR:"))
			found = line;
		if (line[0])
			last = line;
	}
	snprintf(quote, QUOTE_BYTES, "%s", found ? found : last);
	free(text);
}

static bool is_full(const char *path)
{
	struct statvfs about;

	return statvfs(path, &about) == 0 &&
	       (unsigned long long)about.f_bavail * about.f_frsize < ROOM_BYTES_MIN;
}

static int explain(const struct build_compile *compile, const char *program, int code,
		   const char *said, struct tp_error *error)
{
	char quote[QUOTE_BYTES];

	if (code == -EINTR)
		return tp_fail(error, code, "interrupted");
	if (code == -ENOENT)
		return tp_fail(error, code,
			       "there is no %s to build it with: apt-get install meson ninja-build",
			       program);
	if (is_full(compile->tree))
		return tp_fail(error, -ENOSPC, "no room is left where %.300s is", compile->log);
	quote_log(compile->log, quote);
	return tp_fail(error, code, "%s %s: %s; all of it: %.200s", program, said, quote,
		       compile->log);
}

int build_compile_run(const struct build_compile *compile, struct interrupt *interrupt,
		      struct tp_error *error)
{
	struct words setup = {.count = 0}, ninja = {.count = 0};
	char said[COMMAND_SAID_BYTES];
	int code;

	unlink(compile->log);
	list_setup(compile, &setup);
	if (setup.count > WORDS_MAX)
		return tp_fail(error, -E2BIG, "the options are too many, or too long");
	code = work(compile, &setup, interrupt, said);
	if (code < 0)
		return explain(compile, "meson", code, said, error);
	add(&ninja, "%s", tool("/usr/bin/ninja"));
	add(&ninja, "-C");
	add(&ninja, "%s", compile->build);
	add(&ninja, "apps/weir");
	code = work(compile, &ninja, interrupt, said);
	return code < 0 ? explain(compile, "ninja", code, said, error) : 0;
}

int build_compile_judge(const char *options, struct tp_error *error)
{
	if (names(options, "c_args", strlen("c_args")))
		return tp_fail(error, -EINVAL, "the compiler's arguments go into \"c_args\"");
	for (const char *word = options; *word;) {
		size_t bytes = strcspn(word, " ");

		if (bytes > 0 && (strncmp(word, "-D", 2) != 0 || !memchr(word, '=', bytes)))
			return tp_fail(error, -EINVAL,
				       "'%.*s' is no option of meson's: it takes -DNAME=VALUE",
				       bytes > 100 ? 100 : (int)bytes, word);
		word += bytes + strspn(word + bytes, " ");
	}
	return 0;
}

int build_compile_version(const json_t *own, char *version, size_t room, struct tp_error *error)
{
	struct words words = {.count = 0};
	const struct command command = {.argv = words.list};
	char said[COMMAND_SAID_BYTES], text[4096];
	const char *word = text_of(own, "compiler_command");
	int code;

	while (*word) {
		size_t bytes = strcspn(word, " ");

		add(&words, "%.*s", (int)bytes, word);
		word += bytes + strspn(word + bytes, " ");
	}
	add(&words, "--version");
	code = command_read(&command, text, sizeof(text), said);
	if (code < 0)
		return tp_fail(error, code, "the compiler that built this program, %.100s: %s",
			       words.list[0], said);
	snprintf(version, room, "%.*s", (int)strcspn(text, "\n"), text);
	return 0;
}

/* What meson wrote about the build; NULL if it did not. */
static json_t *read_meson(const struct build_compile *compile, const char *name)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/meson-info/intro-%s.json", compile->build, name);
	return json_load_file(path, 0, NULL);
}

/* The element of this name; borrowed, NULL if there is none. */
static const json_t *find(const json_t *array, const char *name)
{
	size_t index;
	json_t *element;

	json_array_foreach((json_t *)array, index, element)
	{
		if (strcmp(text_of(element, "name"), name) == 0)
			return element;
	}
	return NULL;
}

/* An option's value as a text: lists joined by `joint`. */
static void option_text(const json_t *options, const char *name, const char *joint, char *text,
			size_t room)
{
	const json_t *value = json_object_get(find(options, name), "value");
	size_t bytes = 0, index;
	json_t *word;

	snprintf(text, room, "%s",
		 json_is_string(value) ? json_string_value(value)
		 : json_is_true(value) ? "true"
				       : "");
	json_array_foreach((json_t *)value, index, word)
	{
		if (bytes < room)
			bytes += (size_t)snprintf(text + bytes, room - bytes, "%s%s",
						  index ? joint : "", json_string_value(word));
	}
}

static void set_libraries(json_t *facts, const json_t *found)
{
	static const struct {
		const char *key, *dependency, *absent;
	} known[] = {
		{"jansson", "jansson", "meson does not say"},
		{"dpdk", "libdpdk", "built without DPDK"},
		{"liburing", "liburing", "built without liburing"},
	};
	json_t *libraries = json_object();

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *version = text_of(find(found, known[i].dependency), "version");

		if (version[0])
			json_object_set_new(libraries, known[i].key, json_text(version));
		else
			json_set_unknown(libraries, known[i].key, known[i].absent);
	}
	json_object_set_new(libraries, "libc", json_string(gnu_get_libc_version()));
	json_object_set_new(facts, "libraries", libraries);
}

/* Whether assert() and its like are compiled in. */
static bool has_assertions(const char *ndebug, const char *build_type)
{
	bool released = strcmp(build_type, "release") == 0 || strcmp(build_type, "plain") == 0;

	return strcmp(ndebug, "true") != 0 && !(strcmp(ndebug, "if-release") == 0 && released);
}

static void set_options(json_t *facts, const json_t *options)
{
	char build_type[64], optimization[16], sanitizers[128], ndebug[16], c_args[4096];

	option_text(options, "buildtype", ",", build_type, sizeof(build_type));
	option_text(options, "optimization", ",", optimization, sizeof(optimization));
	option_text(options, "b_sanitize", ",", sanitizers, sizeof(sanitizers));
	option_text(options, "b_ndebug", ",", ndebug, sizeof(ndebug));
	option_text(options, "c_args", " ", c_args, sizeof(c_args));
	if (!sanitizers[0])
		strcpy(sanitizers, "none");
	json_object_set_new(facts, "build_type", json_text(build_type));
	json_object_set_new(facts, "optimization", json_text(optimization));
	json_object_set_new(facts, "sanitizers", json_text(sanitizers));
	json_object_set_new(facts, "assertions", json_boolean(has_assertions(ndebug, build_type)));
	json_object_set_new(facts, "c_args", json_text(c_args));
	json_object_set_new(facts, "unfit_for_performance",
			    json_text(build_judge(sanitizers, optimization, c_args)));
}

json_t *build_compile_facts(const struct build_compile *compile)
{
	json_t *facts = json_object(), *command = json_array();
	json_t *project = read_meson(compile, "projectinfo");
	json_t *options = read_meson(compile, "buildoptions");
	json_t *dependencies = read_meson(compile, "dependencies");
	struct words setup = {.count = 0};

	list_setup(compile, &setup);
	for (unsigned i = 0; i < setup.count; i++)
		json_array_append_new(command, json_text(setup.list[i]));
	json_object_set_new(facts, "weir_version", json_text(text_of(project, "version")));
	json_object_set_new(facts, "meson_setup", command);
	set_options(facts, options);
	set_libraries(facts, dependencies);
	json_decref(project);
	json_decref(options);
	json_decref(dependencies);
	return facts;
}
