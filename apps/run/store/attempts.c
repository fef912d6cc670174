#include "apps/run/store/attempts.h"

#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/run/result/parity.h"
#include "apps/run/result/result.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RESULT_BYTES_MAX = 4 * 1024 * 1024,
	PARITY_BYTES_MAX = 64 * 1024 * 1024,
	PLAN_BYTES_MAX = 256 * 1024 * 1024,
	TARGET_BYTES = SETTING_TEXT_BYTES + 64,
};

static const char attempts[] = "attempts";

/* What is there from a run's beginning and stays as it is. */
static const char *const lasting[] = {
	".",	      "..",	    "experiment.json", "plan.json", "host.json",
	"hosts.json", "build.json", "samples",	       attempts,
};

static bool is_lasting(const char *name)
{
	for (unsigned i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
		if (strcmp(name, lasting[i]) == 0)
			return true;
	return false;
}

/* "attempts/NAME.N" that is not there yet. */
static const char *choose_target(const struct directory *directory, const char *name,
				 char target[TARGET_BYTES])
{
	char path[PATH_MAX];

	for (unsigned i = 1;; i++) {
		snprintf(target, TARGET_BYTES, "%s/%s.%u", attempts, name, i);
		if (access(directory_file(directory, target, path), F_OK) < 0)
			return target;
	}
}

/* Both names within the directory. */
static int move(struct directory *directory, const char *from, const char *to)
{
	char from_path[PATH_MAX], to_path[PATH_MAX];
	struct tp_error error;
	int code;

	if (directory->failed)
		return directory->failed;
	code = file_rename(directory_file(directory, from, from_path),
			   directory_file(directory, to, to_path), &error);
	return code < 0 ? directory_fail(directory, code, to) : 0;
}

int attempts_keep_sample(struct directory *directory, const char *folder)
{
	const char *name = strrchr(folder, '/');
	char path[PATH_MAX], target[TARGET_BYTES];

	if (access(directory_file(directory, folder, path), F_OK) < 0)
		return directory->failed;
	directory_folder(directory, attempts);
	return move(directory, folder, choose_target(directory, name ? name + 1 : folder, target));
}

static int copy_plan(struct directory *directory, const char *target)
{
	char path[PATH_MAX], copy[TARGET_BYTES + 16];
	struct tp_error error;
	size_t bytes;
	char *text;
	int code = file_read(directory_file(directory, "plan.json", path), PLAN_BYTES_MAX, &text,
			     &bytes, &error);

	if (code < 0)
		return directory_fail(directory, code, "plan.json");
	snprintf(copy, sizeof(copy), "%s/plan.json", target);
	code = directory_write(directory, copy, text, bytes);
	free(text);
	return code;
}

/* Whether it is a file that servers are given, or the folder of some. */
static bool is_given(const json_t *files, const char *name)
{
	size_t index, bytes = strlen(name);
	json_t *file;

	json_array_foreach((json_t *)files, index, file)
	{
		const char *path = json_string_value(json_object_get(file, "path"));

		if (path && strcspn(path, "/") == bytes && strncmp(path, name, bytes) == 0)
			return true;
	}
	return false;
}

int attempts_keep_files(struct directory *directory, const json_t *files)
{
	char target[TARGET_BYTES], to[TARGET_BYTES + NAME_MAX + 2];
	DIR *folder = opendir(directory->partial);
	struct dirent *entry;

	if (!folder)
		return directory_fail(directory, -errno, ".");
	directory_folder(directory, choose_target(directory, "resume", target));
	while (directory->failed == 0 && (entry = readdir(folder))) {
		if (is_lasting(entry->d_name) || is_given(files, entry->d_name))
			continue;
		snprintf(to, sizeof(to), "%s/%s", target, entry->d_name);
		move(directory, entry->d_name, to);
	}
	closedir(folder);
	return directory->failed ? directory->failed : copy_plan(directory, target);
}

unsigned attempts_failed(const char *path)
{
	char within[PATH_MAX], file[PATH_MAX + NAME_MAX + 16];
	struct tp_error ignored;
	struct dirent *entry;
	unsigned count = 0;
	DIR *folder;

	snprintf(within, sizeof(within), "%s/%s", path, attempts);
	folder = opendir(within);
	while (folder && (entry = readdir(folder))) {
		json_t *result = NULL;

		snprintf(file, sizeof(file), "%s/%s/result.json", within, entry->d_name);
		if (access(file, F_OK) == 0 &&
		    json_read_file(file, RESULT_BYTES_MAX, RESULT_SCHEMA, &result, &ignored) == 0)
			count += json_is_false(json_object_get(result, "valid"));
		json_decref(result);
	}
	if (folder)
		closedir(folder);
	return count;
}

/* The first mismatch of one parity.json; NULL if it has none, or there is none to read. */
static json_t *mismatch_in(const char *file)
{
	static const char *const parts[] = {"before", "after"};
	json_t *parity = NULL, *found = NULL;
	struct tp_error ignored;

	if (access(file, F_OK) < 0 ||
	    json_read_file(file, PARITY_BYTES_MAX, PARITY_SCHEMA, &parity, &ignored) < 0)
		return NULL;
	for (unsigned i = 0; !found && i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *text = parity_mismatch(json_object_get(parity, parts[i]));

		found = text ? json_text(text) : NULL;
	}
	json_decref(parity);
	return found;
}

json_t *attempts_mismatch(const char *path)
{
	char folder[PATH_MAX + 32], file[PATH_MAX + 64];
	json_t *found;

	snprintf(file, sizeof(file), "%s/parity.json", path);
	found = mismatch_in(file);
	for (unsigned i = 1; !found; i++) {
		snprintf(folder, sizeof(folder), "%s/%s/resume.%u", path, attempts, i);
		if (access(folder, F_OK) < 0)
			break;
		snprintf(file, sizeof(file), "%s/parity.json", folder);
		found = mismatch_in(file);
	}
	return found ? found : json_null();
}
