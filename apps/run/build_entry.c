#include "apps/run/build_entry.h"

#include "apps/common/file.h"
#include "apps/common/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOCK_POLL_MS = 200,
	REMOVE_TRIES = 50, /* what a killed runner started may still be writing its last */
	REMOVE_WAIT_MS = 20,
	FOLDERS_OPEN_MAX = 32,
	NAMES_BYTES = 96, /* what the names below a cache's folder take */
};

static const char schema[] = "weir.build/1";

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
	(void)about, (void)kind, (void)where;
	return remove(path) < 0 && errno != ENOENT ? -errno : 0;
}

int build_cache_remove(const char *path)
{
	int code = 0;

	for (unsigned tries = 0; tries < REMOVE_TRIES; tries++) {
		if (access(path, F_OK) < 0 && errno == ENOENT)
			return 0;
		code = nftw(path, remove_one, FOLDERS_OPEN_MAX, FTW_DEPTH | FTW_PHYS);
		if (code == 0)
			return 0;
		poll(NULL, 0, REMOVE_WAIT_MS);
	}
	return code < -1 ? code : -EIO;
}

static int make_folder(const char *path, struct tp_error *error)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return tp_fail(error, -errno, "cannot make %.300s: %s", path, strerror(errno));
	return 0;
}

/* Makes a folder and those above it. */
static int make_folders(const char *path, struct tp_error *error)
{
	char part[PATH_MAX];
	int code = 0;

	if (strlen(path) >= sizeof(part))
		return tp_fail(error, -ENAMETOOLONG, "the path %.200s... is too long", path);
	strcpy(part, path);
	for (char *slash = part + 1; code == 0 && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		code = make_folder(part, error);
		*slash = '/';
	}
	return code < 0 ? code : make_folder(path, error);
}

/* Fills in the paths. */
static void name_paths(struct build_entry *entry, const char *cache, const char *name)
{
	snprintf(entry->folder, PATH_MAX, "%s/%s", cache, name);
	snprintf(entry->tree, PATH_MAX, "%s/%s/tree", cache, name);
	snprintf(entry->build, PATH_MAX, "%s/%s/build", cache, name);
	snprintf(entry->log, PATH_MAX, "%s/%s/build.log", cache, name);
}

static void path_of(const struct build_entry *entry, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - NAMES_BYTES, entry->folder, name);
}

static int sweep(const struct build_entry *entry)
{
	int tree = build_cache_remove(entry->tree), build = build_cache_remove(entry->build);

	return tree < 0 ? tree : build;
}

static int open_lock(const struct build_entry *entry)
{
	char path[PATH_MAX];
	int fd;

	path_of(entry, "lock", path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	return fd < 0 ? -errno : fd;
}

/* Removes the tree of an entry that nobody holds. */
static void sweep_entry(const char *cache, const char *name)
{
	struct build_entry entry;

	name_paths(&entry, cache, name);
	if (access(entry.tree, F_OK) < 0 && access(entry.build, F_OK) < 0)
		return;
	entry.lock = open_lock(&entry);
	if (entry.lock < 0)
		return;
	if (flock(entry.lock, LOCK_EX | LOCK_NB) == 0)
		sweep(&entry);
	close(entry.lock);
}

/* Scratch folders carry the process id of their owner. */
static bool is_stale_scratch(const char *name)
{
	static const char prefix[] = "scratch-";
	long pid = 0;

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	pid = strtol(name + strlen(prefix), NULL, 10);
	return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void sweep_cache(const char *cache)
{
	DIR *folder = opendir(cache);
	struct dirent *found;
	char path[PATH_MAX];

	while (folder && (found = readdir(folder))) {
		if (found->d_name[0] == '.' || strlen(found->d_name) >= BUILD_NAME_BYTES)
			continue;
		snprintf(path, sizeof(path), "%.*s/%.64s", PATH_MAX - NAMES_BYTES, cache,
			 found->d_name);
		if (is_stale_scratch(found->d_name))
			build_cache_remove(path);
		else
			sweep_entry(cache, found->d_name);
	}
	if (folder)
		closedir(folder);
}

int build_cache_open(const char *path, char cache_out[PATH_MAX], struct tp_error *error)
{
	static const char everything[] = "*\n";
	char cache[PATH_MAX], ignore[PATH_MAX + 16];
	int code = make_folders(path, error);

	if (code < 0)
		return code;
	if (!realpath(path, cache))
		return tp_fail(error, -errno, "cannot find %.300s: %s", path, strerror(errno));
	if (strlen(cache) >= PATH_MAX - NAMES_BYTES)
		return tp_fail(error, -ENAMETOOLONG, "the path %.200s... is too long", cache);
	/* wherever it is, it is no part of anybody's working tree */
	snprintf(ignore, sizeof(ignore), "%s/.gitignore", cache);
	if (access(ignore, F_OK) < 0)
		code = file_write(ignore, everything, strlen(everything), error);
	if (code < 0)
		return code;
	sweep_cache(cache);
	strcpy(cache_out, cache);
	return 0;
}

/* Waits for the lock; -EINTR if interrupted. */
static int wait_for_lock(int fd, struct interrupt *interrupt)
{
	struct pollfd signals = {.fd = interrupt->fd, .events = POLLIN};

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		poll(&signals, 1, LOCK_POLL_MS);
		if (interrupt_check(interrupt))
			return -EINTR;
	}
	return 0;
}

int build_entry_open(struct build_entry *entry, const char *cache, const char *name,
		     struct interrupt *interrupt, struct tp_error *error)
{
	int code;

	name_paths(entry, cache, name);
	code = make_folder(entry->folder, error);
	if (code < 0)
		return code;
	entry->lock = open_lock(entry);
	if (entry->lock < 0)
		return tp_fail(error, entry->lock, "cannot open the lock of %.300s: %s",
			       entry->folder, strerror(-entry->lock));
	code = wait_for_lock(entry->lock, interrupt);
	if (code == 0)
		code = sweep(entry);
	if (code == 0)
		return 0;
	close(entry->lock);
	return tp_fail(error, code, "cannot have %.300s to build in: %s", entry->folder,
		       code == -EINTR ? "interrupted" : strerror(-code));
}

bool build_entry_load(const struct build_entry *entry, struct program *program_out)
{
	char facts[PATH_MAX];
	struct program program = {.path = ""};
	const char *stored, *named;
	uint64_t bytes;

	path_of(entry, "program.json", facts);
	path_of(entry, "weir", program.path);
	program.build = json_load_file(facts, 0, NULL);
	named = json_string_value(json_object_get(program.build, "schema"));
	stored = json_string_value(json_object_get(program.build, "program_sha256"));
	if (named && strcmp(named, schema) == 0 && stored && access(program.path, X_OK) == 0 &&
	    sha256_file(program.path, &bytes, program.sha256) == 0 &&
	    strcmp(stored, program.sha256) == 0) {
		*program_out = program;
		return true;
	}
	program_fini(&program);
	return false;
}

/* Copies a file, durably. 0 or negative errno. */
static int copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t moved = 1;
	int code = in < 0 || out < 0 ? -errno : 0;

	while (code == 0 && (moved = sendfile(out, in, NULL, 1 << 20)) > 0)
		;
	if (code == 0 && (moved < 0 || fchmod(out, 0755) < 0 || fsync(out) < 0))
		code = -errno;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return code;
}

int build_entry_store(const struct build_entry *entry, const char *built, json_t *facts,
		      struct program *program_out, struct tp_error *error)
{
	char said[PATH_MAX], fresh[PATH_MAX];
	struct program program = {.build = facts};
	uint64_t bytes;
	int code;

	path_of(entry, "program.json", said);
	path_of(entry, "weir", program.path);
	path_of(entry, "build/program", fresh); /* there until it has its name */
	unlink(said);
	code = copy(built, fresh);
	if (code == 0 && rename(fresh, program.path) < 0)
		code = -errno;
	if (code == 0)
		code = sha256_file(program.path, &bytes, program.sha256);
	if (code < 0)
		return tp_fail(error, code, "cannot keep the program as %.300s: %s", program.path,
			       strerror(-code));
	json_object_set_new(facts, "schema", json_string(schema));
	json_object_set_new(facts, "program_sha256", json_string(program.sha256));
	code = json_write_file(said, facts, 2, error);
	if (code < 0)
		return code;
	json_incref(facts);
	*program_out = program;
	return 0;
}

void build_entry_close(struct build_entry *entry)
{
	sweep(entry);
	close(entry->lock);
}
