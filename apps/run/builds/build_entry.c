#include "apps/run/builds/build_entry.h"

#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/common/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_BYTES = 96 }; /* what the names below a cache's folder take */

static const char schema[] = "weir.build/1";

static int make_folder(const char *path, struct tp_error *error)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return tp_fail(error, -errno, "cannot make %.300s: %s", path, strerror(errno));
	return 0;
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
	int tree = tree_remove_busy(entry->tree), build = tree_remove_busy(entry->build);

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

bool build_entry_is_name(const char *name)
{
	static const char digits[] = "0123456789abcdef";

	return strspn(name, digits) == BUILD_NAME_DIGITS && name[BUILD_NAME_DIGITS] == '-' &&
	       strspn(name + BUILD_NAME_DIGITS + 1, digits) == BUILD_NAME_DIGITS &&
	       name[BUILD_NAME_BYTES - 1] == '\0';
}

void build_entry_sweep(const char *cache, const char *name)
{
	struct build_entry entry;
	struct stat about;

	name_paths(&entry, cache, name);
	if (lstat(entry.folder, &about) < 0 || !S_ISDIR(about.st_mode) ||
	    (access(entry.tree, F_OK) < 0 && access(entry.build, F_OK) < 0))
		return;
	entry.lock = open_lock(&entry);
	if (entry.lock < 0)
		return;
	if (flock(entry.lock, LOCK_EX | LOCK_NB) == 0)
		sweep(&entry);
	close(entry.lock);
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
	code = interrupt_lock(interrupt, entry->lock);
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
