#include "apps/run/builds/git.h"

#include "apps/common/command.h"
#include "apps/common/file.h"
#include "dataplane/core/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ARGUMENTS_MAX = 24,
	VARIABLES_MAX = 4096,
	REFERENCES_BYTES = 64 * 1024,
	REFERENCES_MAX = 2048,
};

/* What every call has in front: nothing of the user's runs, and nothing is tidied by the way. */
static const char *const always[] = {
	"git",
	"-c",
	"core.hooksPath=/dev/null",
	"-c",
	"core.fsmonitor=false",
	"-c",
	"gc.auto=0",
	"-c",
	"core.compression=0",
	"-c",
	"advice.detachedHead=false",
	"-c",
	"init.defaultBranch=main",
};

enum { ALWAYS_COUNT = sizeof(always) / sizeof(always[0]) };

/* Where a call looks, apart from its folder; NULL: where git would. */
struct places {
	const char *index;
	const char *objects;
};

/* GIT_DIR and its kin would lead elsewhere; where the user's settings are may stay. */
static bool is_kept(const char *variable)
{
	return strncmp(variable, "GIT_", 4) != 0 ||
	       strncmp(variable, "GIT_CONFIG_GLOBAL=", 18) == 0 ||
	       strncmp(variable, "GIT_CONFIG_SYSTEM=", 18) == 0 ||
	       strncmp(variable, "GIT_CONFIG_NOSYSTEM=", 20) == 0;
}

/* Calls git in a folder; `arguments` are ended by NULL. Its stdout goes to `path` or `output`. */
static int call_with(const char *folder, const struct places *places, const char *const *arguments,
		     const char *path, char *output, size_t room, char said[COMMAND_SAID_BYTES])
{
	char index[PATH_MAX + 32], objects[PATH_MAX + 32];
	const char *argv[ALWAYS_COUNT + ARGUMENTS_MAX + 1] = {NULL};
	char *env[VARIABLES_MAX + 6] = {"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0",
					"GIT_TERMINAL_PROMPT=0"};
	struct command command = {.argv = argv, .folder = folder, .env = env};
	unsigned count = 3;

	memcpy(argv, always, sizeof(always));
	for (unsigned i = 0; arguments[i] && i < ARGUMENTS_MAX; i++)
		argv[ALWAYS_COUNT + i] = arguments[i];
	for (char **variable = environ; *variable && count < VARIABLES_MAX; variable++)
		if (is_kept(*variable) && strncmp(*variable, "LC_ALL=", 7) != 0)
			env[count++] = *variable;
	snprintf(index, sizeof(index), "GIT_INDEX_FILE=%s", places->index ? places->index : "");
	snprintf(objects, sizeof(objects), "GIT_OBJECT_DIRECTORY=%s",
		 places->objects ? places->objects : "");
	if (places->index)
		env[count++] = index;
	if (places->objects)
		env[count++] = objects;
	return path ? command_write(&command, path, said)
		    : command_read(&command, output, room, said);
}

static const struct places usual;

/* Calls git for the one line that it says. */
#define ASK(folder, places, line, said, ...) \
	ask(folder, places, (const char *const[]){__VA_ARGS__, NULL}, line, sizeof(line), said)

static int ask(const char *folder, const struct places *places, const char *const *arguments,
	       char *line, size_t room, char said[COMMAND_SAID_BYTES])
{
	int code = call_with(folder, places, arguments, NULL, line, room, said);

	line[strcspn(line, "\n")] = '\0';
	return code;
}

static int refuse_git(const char *what, const char *where, int code, const char *said,
		      struct tp_error *error)
{
	if (code == -ENOENT)
		return tp_fail(
			error, code,
			"there is no git, which variants by build need: apt-get install git");
	return tp_fail(error, code, "git cannot %s %.150s: %.250s", what, where, said);
}

int git_check(const char *root, struct tp_error *error)
{
	char said[COMMAND_SAID_BYTES], prefix[PATH_MAX];
	int code = ASK(root, &usual, prefix, said, "rev-parse", "--show-prefix");

	if (code == -ENOENT)
		return refuse_git("read", root, access(root, X_OK) == 0 ? code : -EIO, said, error);
	if (code < 0)
		return tp_fail(error, -EINVAL, "%.150s is no git repository: %.250s", root, said);
	if (prefix[0])
		return tp_fail(error, -EINVAL,
			       "%.200s is no git repository of its own, but a folder of another "
			       "(unpacked from an archive?)",
			       root);
	return 0;
}

/* "did you mean 'v0.1'? ", from the names that the repository has. */
static void name_nearest(const char *root, const char *reference, char text[NEAREST_TEXT])
{
	static const char *const arguments[] = {"for-each-ref", "--format=%(refname:short)",
						"refs/tags",	"refs/heads",
						"refs/remotes", NULL};
	char listing[REFERENCES_BYTES], said[COMMAND_SAID_BYTES];
	const char *names[REFERENCES_MAX];
	unsigned count = 0;

	text[0] = '\0';
	if (call_with(root, &usual, arguments, NULL, listing, sizeof(listing), said) < 0)
		return;
	for (char *rest = listing, *name; count < REFERENCES_MAX && (name = strsep(&rest, "\n"));)
		if (*name)
			names[count++] = name;
	nearest_ask(reference, names, count, "", text);
}

int git_resolve(const char *root, const char *reference, char commit_out[GIT_HASH_BYTES],
		struct tp_error *error)
{
	char said[COMMAND_SAID_BYTES], nearest[NEAREST_TEXT], name[512], hash[GIT_HASH_BYTES + 1];
	int code = git_check(root, error);

	if (code < 0)
		return code;
	/* what begins with a dash would be an option */
	if (reference[0] && reference[0] != '-' &&
	    snprintf(name, sizeof(name), "%s^{commit}", reference) < (int)sizeof(name) &&
	    ASK(root, &usual, hash, said, "rev-parse", "--verify", "--quiet", name) == 0 &&
	    !hash[strspn(hash, "0123456789abcdef")]) { /* ^REF means all but it */
		strcpy(commit_out, hash);
		return 0;
	}
	name_nearest(root, reference, nearest);
	return tp_fail(error, -EINVAL,
		       "%.150s has no commit '%.100s'; %sa tag, a branch or a hash would do (a "
		       "shallow clone lacks older ones: git fetch --unshallow)",
		       root, reference, nearest);
}

/* Where the repository keeps something, in full. */
static int find_path(const char *root, const char *name, char path[PATH_MAX],
		     struct tp_error *error)
{
	char said[COMMAND_SAID_BYTES], relative[PATH_MAX];
	int code = ASK(root, &usual, relative, said, "rev-parse", "--git-path", name);
	int bytes = 0;

	if (code < 0)
		return refuse_git("say what it keeps of", root, code, said, error);
	if (relative[0] == '/')
		bytes = snprintf(path, PATH_MAX, "%s", relative);
	else
		bytes = snprintf(path, PATH_MAX, "%s/%s", root, relative);
	if (bytes >= PATH_MAX)
		return tp_fail(error, -ENAMETOOLONG, "the path of %.200s is too long", root);
	return 0;
}

/*
 * Copies the index. Its time is part of what it says: a file that changed in the same instant is
 * looked at again.
 */
static int copy_index(const char *from, const char *to, struct tp_error *error)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct stat about = {0};
	ssize_t moved = 1;
	int code = 0;

	if (in < 0 || out < 0 || fstat(in, &about) < 0)
		code = -errno;
	while (code == 0 && (moved = sendfile(out, in, NULL, 1 << 20)) > 0)
		;
	if (code == 0 &&
	    (moved < 0 || futimens(out, (struct timespec[]){about.st_atim, about.st_mtim}) < 0))
		code = -errno;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return code < 0 ? tp_fail(error, code, "cannot copy %.200s to %.200s: %s", from, to,
				  strerror(-code))
			: 0;
}

/* Has the object folder look for what it lacks in others; `second` may be NULL. */
static int borrow(const char *objects, const char *first, const char *second,
		  struct tp_error *error)
{
	char path[PATH_MAX + 32], text[2 * PATH_MAX + 4];

	snprintf(path, sizeof(path), "%s/info", objects);
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return tp_fail(error, -errno, "cannot make %.300s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/info/alternates", objects);
	snprintf(text, sizeof(text), "%s\n%s%s", first, second ? second : "", second ? "\n" : "");
	return file_write(path, text, strlen(text), error);
}

/* Makes the scratch folder's index and object folder. */
static int prepare(const char *root, const char *scratch, char index[PATH_MAX],
		   char objects[PATH_MAX], struct tp_error *error)
{
	char from[PATH_MAX];
	int code;

	if (snprintf(index, PATH_MAX, "%s/index", scratch) >= PATH_MAX ||
	    snprintf(objects, PATH_MAX, "%s/objects", scratch) >= PATH_MAX)
		return tp_fail(error, -ENAMETOOLONG, "the path %.200s is too long", scratch);
	if (mkdir(objects, 0777) < 0)
		return tp_fail(error, -errno, "cannot make %.300s: %s", objects, strerror(errno));
	code = find_path(root, "index", from, error);
	if (code == 0)
		code = copy_index(from, index, error);
	if (code == 0)
		code = find_path(root, "objects", from, error);
	return code < 0 ? code : borrow(objects, from, NULL, error);
}

/* Writes the diff into the scratch folder and takes its digest. */
static int hash_diff(const char *root, const struct places *places, const char *scratch,
		     struct git_state *state, struct tp_error *error)
{
	char path[PATH_MAX + 8], said[COMMAND_SAID_BYTES];
	uint64_t bytes;
	int code;

	snprintf(path, sizeof(path), "%s/diff", scratch);
	code = call_with(root, places,
			 (const char *const[]){"diff-tree", "-p", "--binary", "--full-index",
					       "--no-renames", "--no-ext-diff", "--no-textconv",
					       "--no-color", state->commit, state->tree, NULL},
			 path, NULL, 0, said);
	if (code < 0)
		return refuse_git("tell what differs in", root, code, said, error);
	code = sha256_file(path, &bytes, state->diff_sha256);
	if (code < 0)
		return tp_fail(error, code, "cannot read %.300s: %s", path, strerror(-code));
	state->dirty = bytes > 0;
	if (!state->dirty)
		state->diff_sha256[0] = '\0';
	return 0;
}

int git_look(const char *root, const char *scratch, struct git_state *state_out,
	     struct tp_error *error)
{
	char index[PATH_MAX], objects[PATH_MAX], said[COMMAND_SAID_BYTES], line[256];
	const struct places places = {.index = index, .objects = objects};
	struct git_state state = {.commit = ""};
	int code = git_resolve(root, "HEAD", state.commit, error);

	if (code == 0)
		code = prepare(root, scratch, index, objects, error);
	if (code < 0)
		return code;
	code = ASK(root, &places, line, said, "add", "--all", "--", ".");
	if (code == 0)
		code = ASK(root, &places, state.tree, said, "write-tree");
	if (code < 0)
		return refuse_git("take in the files of", root, code, said, error);
	code = hash_diff(root, &places, scratch, &state, error);
	if (code == 0)
		*state_out = state;
	return code;
}

/* Makes an empty repository that borrows objects. */
static int make_repository(const char *root, const char *commit, const char *scratch,
			   const char *folder, struct tp_error *error)
{
	const char *format =
		strlen(commit) > 40 ? "--object-format=sha256" : "--object-format=sha1";
	char own[PATH_MAX], theirs[PATH_MAX], looked[PATH_MAX], said[COMMAND_SAID_BYTES], line[256];
	int code = find_path(root, "objects", theirs, error);

	if (code < 0)
		return code;
	code = ASK("/", &usual, line, said, "init", "--quiet", "--template=", format, folder);
	if (code < 0)
		return refuse_git("make a repository in", folder, code, said, error);
	if (snprintf(own, sizeof(own), "%s/.git/objects", folder) >= PATH_MAX ||
	    snprintf(looked, sizeof(looked), "%s/objects", scratch ? scratch : "") >= PATH_MAX)
		return tp_fail(error, -ENAMETOOLONG, "the path %.200s is too long", folder);
	return borrow(own, theirs, scratch ? looked : NULL, error);
}

int git_check_out(const char *root, const char *commit, const struct git_state *state,
		  const char *scratch, const char *folder, struct tp_error *error)
{
	char said[COMMAND_SAID_BYTES], line[256];
	int code = make_repository(root, commit, state ? scratch : NULL, folder, error);

	if (code < 0)
		return code;
	code = ASK(folder, &usual, line, said, "update-ref", "--no-deref", "HEAD", commit);
	if (code == 0)
		code = ASK(folder, &usual, line, said, "read-tree", "--reset", "-u",
			   state ? state->tree : commit);
	if (code < 0)
		return refuse_git("check out in", folder, code, said, error);
	return 0;
}
