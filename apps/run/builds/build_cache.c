#include "apps/run/builds/build_cache.h"

#include "apps/common/file.h"
#include "apps/common/tree.h"
#include "apps/run/builds/build_entry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRATCH_LETTERS = 6 };

static const char scratch_prefix[] = "scratch-";

/* A file to lock; a descriptor or a negative errno. */
static int open_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

	return fd < 0 ? -errno : fd;
}

static const char *in_folder(const char *folder, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - BUILD_CACHE_NAMES_BYTES, folder, name);
	return path;
}

/* --- whose folder it is --- */

/* Whether the folder has anything in it but the marker. 1 or 0, or negative errno. */
static int has_content(const char *cache)
{
	DIR *folder = opendir(cache);
	struct dirent *found;
	int other = 0;

	if (!folder)
		return -errno;
	while (!other && (found = readdir(folder)))
		other = strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0 &&
			strcmp(found->d_name, BUILD_CACHE_MARKER) != 0;
	closedir(folder);
	return other;
}

static bool is_marked(const char *marker)
{
	struct stat about;

	return lstat(marker, &about) == 0 && S_ISREG(about.st_mode);
}

/*
 * Refuses a folder that is not ours. Looks for the marker last: another runner, who has begun the
 * cache since, made it first.
 */
static int check_ours(const char *cache, const char *marker, struct tp_error *error)
{
	int other = has_content(cache);

	if (other < 0)
		return tp_fail(error, other, "cannot read %.300s: %s", cache, strerror(-other));
	if (!other || is_marked(marker))
		return 0;
	return tp_fail(error, -ENOTEMPTY,
		       "%.250s is not weir's: it has other things in it, and no %s; --builds takes "
		       "a folder that is empty or not there yet",
		       cache, BUILD_CACHE_MARKER);
}

/* Opens the marker, which is made if need be, and keeps the folder out of any working tree. */
static int mark(const char *cache, struct tp_error *error)
{
	static const char everything[] = "*\n";
	char marker[PATH_MAX], ignore[PATH_MAX];
	int fd, code = check_ours(cache, in_folder(cache, BUILD_CACHE_MARKER, marker), error);

	if (code < 0)
		return code;
	fd = open_lock(marker);
	if (fd < 0)
		return tp_fail(error, fd, "cannot open %.300s: %s", marker, strerror(-fd));
	if (access(in_folder(cache, ".gitignore", ignore), F_OK) < 0)
		code = file_write(ignore, everything, strlen(everything), error);
	if (code == 0)
		return fd;
	close(fd);
	return code;
}

/* Opens the marker and waits for its lock; a descriptor, or negative errno with `error` filled. */
static int lock_cache(const char *cache, struct interrupt *interrupt, struct tp_error *error)
{
	int fd = mark(cache, error), code;

	if (fd < 0)
		return fd;
	code = interrupt_lock(interrupt, fd);
	if (code == 0)
		return fd;
	close(fd);
	return tp_fail(error, code, "cannot lock %.300s: %s", cache,
		       code == -EINTR ? "interrupted" : strerror(-code));
}

/* --- what killed runners left --- */

static bool is_scratch(const char *name)
{
	size_t bytes = strlen(scratch_prefix);

	return strncmp(name, scratch_prefix, bytes) == 0 && strlen(name) == bytes + SCRATCH_LETTERS;
}

/* Removes a scratch folder that nobody holds; one without a lock was being made. */
static void sweep_scratch(const char *path)
{
	char lock[PATH_MAX];
	struct stat about;
	int fd;

	if (lstat(path, &about) < 0 || !S_ISDIR(about.st_mode))
		return;
	fd = open_lock(in_folder(path, "lock", lock));
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		tree_remove_busy(path);
	close(fd);
}

static void sweep_cache(const char *cache)
{
	DIR *folder = opendir(cache);
	struct dirent *found;
	char path[PATH_MAX];

	while (folder && (found = readdir(folder))) {
		if (is_scratch(found->d_name))
			sweep_scratch(in_folder(cache, found->d_name, path));
		else if (build_entry_is_name(found->d_name))
			build_entry_sweep(cache, found->d_name);
	}
	if (folder)
		closedir(folder);
}

int build_cache_open(const char *path, struct interrupt *interrupt, char cache_out[PATH_MAX],
		     struct tp_error *error)
{
	char cache[PATH_MAX];
	int lock, code = tree_make(path, 0777);

	if (code == 0 && !realpath(path, cache))
		code = -errno;
	if (code < 0)
		return tp_fail(error, code, "cannot make %.300s: %s", path, strerror(-code));
	if (strlen(cache) >= PATH_MAX - 2 * BUILD_CACHE_NAMES_BYTES)
		return tp_fail(error, -ENAMETOOLONG, "the path %.200s... is too long", cache);
	lock = lock_cache(cache, interrupt, error);
	if (lock < 0)
		return lock;
	sweep_cache(cache);
	close(lock);
	strcpy(cache_out, cache);
	return 0;
}

/* --- scratch folders --- */

/* With the cache locked. 0 or negative errno. */
static int make_scratch(struct build_scratch *scratch, const char *cache)
{
	char path[PATH_MAX], lock[PATH_MAX];
	int fd;

	if (!mkdtemp(strcat(strcpy(path, in_folder(cache, scratch_prefix, lock)), "XXXXXX")))
		return -errno;
	fd = open_lock(in_folder(path, "lock", lock));
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		fd = -EBUSY;
	}
	if (fd < 0) {
		tree_remove_busy(path);
		return fd;
	}
	strcpy(scratch->path, path);
	scratch->lock = fd;
	return 0;
}

int build_scratch_take(struct build_scratch *scratch, const char *cache,
		       struct interrupt *interrupt, struct tp_error *error)
{
	int lock = lock_cache(cache, interrupt, error), code;

	if (lock < 0)
		return lock;
	code = make_scratch(scratch, cache);
	close(lock);
	return code < 0 ? tp_fail(error, code, "cannot make a folder in %.300s: %s", cache,
				  strerror(-code))
			: 0;
}

void build_scratch_give_back(struct build_scratch *scratch)
{
	if (!scratch->path[0])
		return;
	tree_remove_busy(scratch->path);
	close(scratch->lock);
	scratch->path[0] = '\0';
}
