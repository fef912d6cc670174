#include "apps/run/builds/build_key.h"

#include "apps/common/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CPUINFO_BYTES_MAX = 16 * 1024 * 1024 };

/* Where packages, and the compiler's own libraries, may have to be looked for. */
static const char *const keyed[] = {"PKG_CONFIG_PATH", "LD_LIBRARY_PATH"};

/* Of the environment; a name that ends in '_' is a beginning. */
static const char *const dropped[] = {
	"CC",
	"CFLAGS",
	"CPPFLAGS",
	"LDFLAGS",
	"CPATH",
	"C_INCLUDE_PATH",
	"LIBRARY_PATH",
	"COMPILER_PATH",
	"GCC_",
	"CCC_",
	"LD_",
	"PKG_CONFIG_",
	"DEPENDENCIES_OUTPUT",
	"SUNPRO_DEPENDENCIES",
	"SOURCE_DATE_EPOCH",
	"PYTHONHOME",
	"PYTHONPATH",
	"DESTDIR",
	"MAKEFLAGS",
	"NINJA_STATUS",
	"LC_ALL",
	"GIT_",
};

/* What of a processor's lines in cpuinfo is not the same from one of its kind to the next. */
static const char *const varying[] = {
	"processor",  "cpu MHz",	"bogomips",	   "BogoMIPS", "physical id",
	"siblings",   "core id",	"cpu cores",	   "apicid",   "microcode",
	"cache size", "initial apicid", "cpu MHz dynamic",
};

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static bool is_keyed(const char *variable, size_t name_bytes)
{
	for (unsigned i = 0; i < sizeof(keyed) / sizeof(keyed[0]); i++)
		if (strlen(keyed[i]) == name_bytes && memcmp(variable, keyed[i], name_bytes) == 0)
			return true;
	return false;
}

bool build_key_lets_through(const char *variable)
{
	size_t name_bytes = strcspn(variable, "=");

	if (is_keyed(variable, name_bytes))
		return true;
	for (unsigned i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
		size_t bytes = strlen(dropped[i]);
		bool begins = dropped[i][bytes - 1] == '_';

		if ((begins ? name_bytes >= bytes : name_bytes == bytes) &&
		    memcmp(variable, dropped[i], bytes) == 0)
			return false;
	}
	return true;
}

static void feed(struct sha256 *sha, const char *text)
{
	sha256_update(sha, text, strlen(text));
	sha256_update(sha, "\n", 1);
}

static void feed_json(struct sha256 *sha, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);

	feed(sha, text ? text : "");
	free(text);
}

static bool asks_for_native(const struct build_key *key)
{
	char *setup = json_dumps(json_object_get(key->own, "setup"), JSON_COMPACT);
	const char *texts[] = {key->options, key->c_args, text_of(key->own, "c_args"),
			       text_of(key->own, "compiler_command"), setup ? setup : ""};
	bool found = false;

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		found |= strstr(texts[i], "=native") != NULL;
	free(setup);
	return found;
}

static bool is_varying(const char *line)
{
	for (unsigned i = 0; i < sizeof(varying) / sizeof(varying[0]); i++) {
		size_t bytes = strlen(varying[i]);

		if (strncmp(line, varying[i], bytes) == 0 &&
		    line[bytes + strspn(line + bytes, " \t")] == ':')
			return true;
	}
	return false;
}

/* The first processor's model and what it can do; lines that are not known count as such. */
static int feed_processor(struct sha256 *sha, const char *path, struct tp_error *error)
{
	char *text, *rest;
	size_t bytes;
	int code = file_read(path, CPUINFO_BYTES_MAX, &text, &bytes, error);

	if (code < 0)
		return code;
	rest = text;
	for (char *line; (line = strsep(&rest, "\n")) && *line;)
		if (!is_varying(line))
			feed(sha, line);
	free(text);
	return 0;
}

int build_key_make(const struct build_key *key, char hex_out[SHA256_HEX_BYTES],
		   struct tp_error *error)
{
	struct sha256 sha;
	int code = 0;

	sha256_init(&sha);
	feed(&sha, key->commit);
	feed(&sha, key->diff_sha256);
	feed(&sha, key->options);
	feed(&sha, key->c_args);
	feed(&sha, key->compiler);
	feed(&sha, text_of(key->own, "compiler_command"));
	feed(&sha, text_of(key->own, "c_args"));
	feed_json(&sha, json_object_get(key->own, "setup"));
	feed_json(&sha, json_object_get(key->own, "libraries"));
	for (unsigned i = 0; i < sizeof(keyed) / sizeof(keyed[0]); i++)
		feed(&sha, getenv(keyed[i]) ? getenv(keyed[i]) : "");
	if (asks_for_native(key))
		code = feed_processor(&sha, key->cpuinfo, error);
	if (code == 0 && sha256_finish(&sha, hex_out) < 0)
		code = tp_fail(error, -ENOMEM, "OpenSSL gave no SHA-256 of a build's key");
	sha256_fini(&sha);
	return code;
}
