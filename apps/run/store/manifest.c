#include "apps/run/store/manifest.h"

#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/provenance/sha256.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MANIFEST_BYTES_MAX = 64 * 1024 * 1024 };

/* --- walking ------------------------------------------------------------------------------------
 */

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_own(const char *name)
{
	return strcmp(name, MANIFEST_NAME) == 0 || strcmp(name, MANIFEST_SUM_NAME) == 0;
}

/* Whether report.next has a file of that name; its path is in `path`. */
static bool is_replaced(const char *folder, const char *name, char path[PATH_MAX])
{
	struct stat about;

	return snprintf(path, PATH_MAX, "%s/" MANIFEST_NEXT_NAME "/%s", folder, name) < PATH_MAX &&
	       lstat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

const char *manifest_file(const char *folder, const char *name, char path[PATH_MAX])
{
	if (!is_replaced(folder, name, path) &&
	    snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		path[0] = '\0';
	return path;
}

/* What a file's name will be when a report is in place; NULL if another will have taken it. */
static const char *settled_name(const char *folder, const char *name)
{
	static const char next[] = MANIFEST_NEXT_NAME "/";
	char path[PATH_MAX];

	if (strncmp(name, next, strlen(next)) == 0)
		return name + strlen(next);
	return is_replaced(folder, name, path) ? NULL : name;
}

/*
 * Calls `visit` for everything below `folder` that counts, is no folder and not the manifest's own.
 * 0, or the first failure.
 */
static int walk(const char *folder, int (*visit)(void *user, const FTSENT *entry, const char *name),
		void *user)
{
	char *const roots[] = {(char *)folder, NULL};
	FTS *files = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	int code = files ? 0 : -errno;

	while (code == 0 && (entry = fts_read(files))) {
		const char *name = entry->fts_path + strlen(folder) + 1;
		bool is_folder = entry->fts_info == FTS_D || entry->fts_info == FTS_DP;

		if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR ||
		    entry->fts_info == FTS_NS)
			code = -entry->fts_errno;
		else if (is_folder && entry->fts_level == 1 &&
			 strcmp(entry->fts_name, MANIFEST_STAGE_NAME) == 0)
			fts_set(files, entry, FTS_SKIP);
		else if (!is_folder && (name = settled_name(folder, name)) && !is_own(name))
			code = visit(user, entry, name);
	}
	if (files)
		fts_close(files);
	return code;
}

/* --- making ------------------------------------------------------------------------------------
 */

static int add_file(void *user, const FTSENT *entry, const char *name)
{
	char hex[SHA256_HEX_BYTES];
	uint64_t bytes;
	int code = entry->fts_info == FTS_F ? sha256_file(entry->fts_path, &bytes, hex) : 0;

	if (code < 0 || entry->fts_info != FTS_F)
		return code;
	return json_array_append_new(user, json_pack("{so sI ss}", "path", json_text(name), "bytes",
						     (json_int_t)bytes, "sha256", hex));
}

int manifest_make(const char *folder, json_t **manifest_out, struct tp_error *error)
{
	json_t *files = json_array();
	int code = walk(folder, add_file, files);

	if (code < 0) {
		json_decref(files);
		return tp_fail(error, code, "cannot hash the files in %.400s: %s", folder,
			       strerror(-code));
	}
	*manifest_out = json_pack("{ss so}", "schema", MANIFEST_SCHEMA, "files", files);
	return 0;
}

int manifest_sum(const char *folder, char text[MANIFEST_SUM_BYTES], struct tp_error *error)
{
	char path[PATH_MAX], hex[SHA256_HEX_BYTES];
	uint64_t bytes;
	int code;

	if (!manifest_file(folder, MANIFEST_NAME, path)[0])
		return tp_fail(error, -ENAMETOOLONG, "%.60s...: the path is too long", folder);
	code = sha256_file(path, &bytes, hex);
	if (code < 0)
		return tp_fail(error, code, "cannot read %.300s: %s", path, strerror(-code));
	snprintf(text, MANIFEST_SUM_BYTES, "%s  %s\n", hex, MANIFEST_NAME);
	return 0;
}

/* --- checking ----------------------------------------------------------------------------------
 */

struct check {
	const json_t *files; /* of the manifest; not an array if it is malformed */
	json_t *by_path;     /* its entries, of two with one path the first */
	json_t *seen;	     /* paths that are there */
	json_t *faults;
};

/* The manifest's entries by path: a result may have tens of thousands. A new reference. */
static json_t *index_entries(const json_t *files)
{
	json_t *by_path = json_object(), *entry;
	size_t index;

	json_array_foreach((json_t *)files, index, entry)
	{
		const char *path = json_string_value(json_object_get(entry, "path"));

		if (path && !json_object_get(by_path, path))
			json_object_set(by_path, path, entry);
	}
	return by_path;
}

static void check_content(const FTSENT *file, const char *name, const json_t *entry, json_t *faults)
{
	json_int_t expected = json_integer_value(json_object_get(entry, "bytes"));
	const char *digest = json_string_value(json_object_get(entry, "sha256"));
	char hex[SHA256_HEX_BYTES];
	uint64_t bytes;
	int code = sha256_file(file->fts_path, &bytes, hex);

	if (code < 0)
		json_append_text(faults, "%s: cannot be read: %s", name, strerror(-code));
	else if (expected != (json_int_t)bytes)
		json_append_text(faults, "%s: has %llu bytes, the manifest says %lld", name,
				 (unsigned long long)bytes, (long long)expected);
	else if (!digest || strcmp(digest, hex) != 0)
		json_append_text(faults, "%s: is not what the manifest lists (SHA-256 differs)",
				 name);
}

static int check_entry(void *user, const FTSENT *file, const char *name)
{
	struct check *check = user;
	const json_t *entry = json_object_get(check->by_path, name);

	json_object_set_new(check->seen, name, json_true());
	if (file->fts_info != FTS_F)
		json_append_text(check->faults, "%s: is no regular file", name);
	else if (!entry)
		json_append_text(check->faults, "%s: is not in the manifest", name);
	else
		check_content(file, name, entry, check->faults);
	return 0;
}

/* Whether manifest.sha256 is that of the manifest, byte for byte. */
static void check_sum(const char *folder, json_t *faults)
{
	char path[PATH_MAX], expected[MANIFEST_SUM_BYTES];
	struct tp_error error;
	size_t bytes;
	char *text;

	if (manifest_sum(folder, expected, &error) < 0)
		return; /* that there is no manifest is said elsewhere */
	if (file_read(manifest_file(folder, MANIFEST_SUM_NAME, path), sizeof(expected), &text,
		      &bytes, &error) < 0) {
		json_append_text(faults, "%s: %s", MANIFEST_SUM_NAME, error.text);
		return;
	}
	if (bytes != strlen(expected) || memcmp(text, expected, bytes) != 0)
		json_append_text(faults, "%s: is not the digest of %s: one of the two was changed",
				 MANIFEST_SUM_NAME, MANIFEST_NAME);
	free(text);
}

/* What the manifest lists and is not there, or twice, or in words that are none of ours. */
static void check_listed(const struct check *check)
{
	size_t index;
	json_t *entry;

	json_array_foreach((json_t *)check->files, index, entry)
	{
		const char *path = json_string_value(json_object_get(entry, "path"));

		if (!path)
			json_append_text(check->faults, "%s: entry %zu names no path",
					 MANIFEST_NAME, index);
		else if (!json_object_get(check->seen, path))
			json_append_text(check->faults, "%s: is missing", path);
		else if (json_object_get(check->by_path, path) != entry)
			json_append_text(check->faults, "%s: lists %s twice", MANIFEST_NAME, path);
	}
}

void manifest_check(const char *folder, json_t *faults)
{
	struct check check = {.seen = json_object(), .faults = faults};
	json_t *manifest = NULL;
	struct tp_error error;
	char path[PATH_MAX];
	int code;

	if (json_read_file(manifest_file(folder, MANIFEST_NAME, path), MANIFEST_BYTES_MAX,
			   MANIFEST_SCHEMA, &manifest, &error) < 0)
		json_append_text(faults, "%s: %s", MANIFEST_NAME, error.text);
	check_sum(folder, faults);
	check.files = json_object_get(manifest, "files");
	check.by_path = index_entries(check.files);
	if (manifest && !json_is_array(check.files))
		json_append_text(faults, "%s: has no list `files`", MANIFEST_NAME);
	if (json_is_array(check.files)) {
		code = walk(folder, check_entry, &check);
		if (code < 0)
			json_append_text(faults, "%s: cannot be looked through: %s", folder,
					 strerror(-code));
		check_listed(&check);
	}
	json_decref(check.by_path);
	json_decref(check.seen);
	json_decref(manifest);
}
