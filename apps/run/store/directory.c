#include "apps/run/store/directory.h"

#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/common/tree.h"
#include "apps/run/store/lock.h"
#include "apps/run/store/manifest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	NAME_TRIES = 100,
	ROOM_BYTES_MIN = 1024 * 1024, /* a sample of the usual size, and some */
};

/* Keeps the first failure; `error` has its text. */
static int note(struct directory *directory, int code, const struct tp_error *error)
{
	if (code < 0 && directory->failed == 0) {
		directory->failed = code;
		directory->error = *error;
	}
	return code;
}

int directory_fail(struct directory *directory, int code, const char *name)
{
	struct tp_error error;

	tp_fail(&error, code, "cannot write %.200s in %.240s: %s", name, directory->partial,
		strerror(-code));
	return note(directory, code, &error);
}

bool directory_is_its_own(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EROFS || code == -EIO;
}

int directory_refuse(struct directory *directory, int code, const char *format, ...)
{
	struct tp_error error = {.text = ""};
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error.text, sizeof(error.text), format, arguments);
	va_end(arguments);
	return note(directory, code, &error);
}

/* The host's name, as far as it suits a file's. */
static void host_name(char host[65])
{
	host[0] = '\0';
	gethostname(host, 64);
	host[64] = '\0';
	for (char *at = host; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '-')
			*at = '-';
	if (!host[0])
		strcpy(host, "host");
}

/*
 * Takes a name that neither a whole nor a partial directory has: the plain one, else with -2, -3,
 * ... On failure `partial` holds whatever was tried last.
 */
static int try_names(struct directory *directory, const char *plain)
{
	for (unsigned i = 1; i <= NAME_TRIES; i++) {
		char suffix[16] = "";
		int length;

		if (i > 1)
			snprintf(suffix, sizeof(suffix), "-%u", i);
		snprintf(directory->path, sizeof(directory->path), "%s%s", plain, suffix);
		length = snprintf(directory->partial, sizeof(directory->partial), "%s.partial",
				  directory->path);
		if (length >= (int)sizeof(directory->partial))
			return -ENAMETOOLONG;
		if (access(directory->path, F_OK) == 0)
			continue;
		if (mkdir(directory->partial, 0777) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Locks it against other runs. 0, or -EBUSY or another negative errno with `error` filled. */
static int lock(struct directory *directory, const char *path, struct tp_error *error)
{
	directory->lock = lock_folder(path, error);
	return directory->lock < 0 ? directory->lock : 0;
}

static void unlock(struct directory *directory)
{
	if (directory->lock >= 0)
		close(directory->lock);
	directory->lock = -1;
}

/* On failure `partial` is empty: what it named is not there, or another run's. */
static int claim_name(struct directory *directory, const char *plain)
{
	int code = try_names(directory, plain);

	if (code < 0)
		directory->partial[0] = '\0';
	return code;
}

int directory_create(struct directory *directory, const char *parent, const char *name,
		     time_t started)
{
	char stamp[32], host[65], absolute[PATH_MAX], plain[PATH_MAX];
	struct tp_error error;
	struct tm utc;
	int code;

	*directory = (struct directory){.lock = -1};
	gmtime_r(&started, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	host_name(host);
	code = tree_make(parent, 0777);
	if (code == 0 && !realpath(parent, absolute))
		code = -errno;
	if (code == 0 && snprintf(plain, sizeof(plain), "%s/%s-%s-%s", absolute, stamp, name,
				  host) >= (int)sizeof(plain))
		code = -ENAMETOOLONG;
	if (code == 0)
		code = claim_name(directory, plain);
	if (code < 0)
		tp_fail(&error, code,
			"cannot make a result directory in %.300s: %s; --output names "
			"another place",
			parent, strerror(-code));
	else
		code = lock(directory, directory->partial, &error);
	return note(directory, code, &error);
}

/* Whole and partial name of what is at `path`. 0, or negative errno with `error` filled. */
static int name_existing(struct directory *directory, const char *path, struct tp_error *error)
{
	static const char suffix[] = ".partial";
	size_t bytes;

	if (!realpath(path, directory->path))
		return tp_fail(error, -errno, "%.300s: %s", path, strerror(errno));
	bytes = strlen(directory->path);
	if (bytes > strlen(suffix) && strcmp(directory->path + bytes - strlen(suffix), suffix) == 0)
		directory->path[bytes - strlen(suffix)] = '\0';
	if (snprintf(directory->partial, PATH_MAX, "%s%s", directory->path, suffix) >= PATH_MAX)
		return tp_fail(error, -ENAMETOOLONG, "%.60s...: the path is too long", path);
	if (access(directory->path, F_OK) == 0 && access(directory->partial, F_OK) == 0)
		return tp_fail(error, -EEXIST,
			       "%.200s is there whole and as .partial: move one of the two away",
			       directory->path);
	return 0;
}

/* What is written below a link would be written elsewhere. 0, or -ELOOP with `error` filled. */
static int refuse_links(const char *path, struct tp_error *error)
{
	static const char *const folders[] = {"samples", "attempts", "parity"};
	char below[2 * PATH_MAX];
	struct stat about;

	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(below, sizeof(below), "%s/%s", path, folders[i]);
		if (lstat(below, &about) == 0 && S_ISLNK(about.st_mode))
			return tp_fail(error, -ELOOP,
				       "%.300s is a link, and a result that is gone on with has "
				       "its folders in itself: put the folder there",
				       below);
	}
	return 0;
}

int directory_reopen(struct directory *directory, const char *path)
{
	struct tp_error error;
	const char *now;
	int code;

	*directory = (struct directory){.lock = -1};
	code = name_existing(directory, path, &error);
	now = access(directory->path, F_OK) == 0 ? directory->path : directory->partial;
	if (code == 0)
		code = lock(directory, now, &error);
	if (code == 0)
		code = refuse_links(now, &error);
	if (code == 0 && now == directory->path)
		code = file_rename(directory->path, directory->partial, &error);
	if (code < 0) {
		unlock(directory);
		directory->partial[0] = '\0';
	}
	return note(directory, code, &error);
}

const char *directory_file(const struct directory *directory, const char *name, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/%s", directory->partial, name) >= PATH_MAX)
		path[0] = '\0';
	return path;
}

int directory_folder(struct directory *directory, const char *name)
{
	char path[PATH_MAX];
	int code;

	if (directory->failed)
		return directory->failed;
	code = tree_make(directory_file(directory, name, path), 0777);
	return code < 0 ? directory_fail(directory, code, name) : 0;
}

int directory_write(struct directory *directory, const char *name, const void *data, size_t bytes)
{
	struct tp_error error;
	char path[PATH_MAX];

	if (directory->failed)
		return directory->failed;
	return note(directory,
		    file_write(directory_file(directory, name, path), data, bytes, &error), &error);
}

int directory_write_json(struct directory *directory, const char *name, const json_t *object)
{
	struct tp_error error;
	char path[PATH_MAX];

	if (directory->failed)
		return directory->failed;
	return note(directory,
		    json_write_file(directory_file(directory, name, path), object, 1, &error),
		    &error);
}

int directory_write_lines(struct directory *directory, const char *name, const json_t *array)
{
	struct tp_error error;
	char path[PATH_MAX];

	if (directory->failed)
		return directory->failed;
	return note(directory,
		    json_write_lines(directory_file(directory, name, path), array, &error), &error);
}

int directory_check_room(struct directory *directory)
{
	struct statvfs about;

	if (directory->failed || statvfs(directory->partial, &about) < 0)
		return directory->failed;
	if ((uint64_t)about.f_bavail * about.f_frsize >= ROOM_BYTES_MIN)
		return 0;
	return directory_fail(directory, -ENOSPC, "more files");
}

/* Writes manifest.json and the digest of it. */
static int write_manifest(struct directory *directory)
{
	char sum[MANIFEST_SUM_BYTES];
	struct tp_error error;
	json_t *manifest = NULL;
	int code = manifest_make(directory->partial, &manifest, &error);

	if (code < 0)
		return note(directory, code, &error);
	code = directory_write_json(directory, MANIFEST_NAME, manifest);
	json_decref(manifest);
	if (code < 0)
		return code;
	code = manifest_sum(directory->partial, sum, &error);
	if (code < 0)
		return note(directory, code, &error);
	return directory_write(directory, MANIFEST_SUM_NAME, sum, strlen(sum));
}

int directory_finish(struct directory *directory)
{
	struct tp_error error;
	int code = directory->failed ? directory->failed : write_manifest(directory);

	if (code < 0)
		return code;
	code = file_rename(directory->partial, directory->path, &error);
	if (code == 0)
		unlock(directory);
	return note(directory, code, &error);
}

/* What helps. Servers that answered wrongly are the plan's, which going on does not change. */
static void advise(const struct directory *directory, char *text, size_t text_bytes)
{
	if (directory->failed == -EBADMSG)
		snprintf(text, text_bytes,
			 "going on with it would ask the same servers for the same: mend the "
			 "experiment or\nthe servers and run it anew.\n");
	else
		snprintf(text, text_bytes, "`weir run %.400s --resume` measures the others.\n",
			 directory->partial);
}

void directory_abandon(struct directory *directory, const char *why)
{
	struct tp_error ignored;
	char path[PATH_MAX], advice[512], text[1536];
	int bytes;

	advise(directory, advice, sizeof(advice));
	bytes = snprintf(text, sizeof(text),
			 "This result is not whole: %s\nSamples that have a result.json are "
			 "complete in themselves;\n%s",
			 why, advice);

	file_write(directory_file(directory, "INCOMPLETE.txt", path), text,
		   (size_t)bytes < sizeof(text) ? (size_t)bytes : sizeof(text) - 1, &ignored);
	unlock(directory);
}
