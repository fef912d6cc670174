#include "apps/agent/agent.h"

#include "apps/common/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whether an agent that lives holds the folder; one that is still being filled counts as held. */
static bool is_held(const char *folder, const struct stat *about)
{
	char path[PATH_MAX];
	bool held;
	int fd;

	if (snprintf(path, sizeof(path), "%s/lock", folder) >= (int)sizeof(path))
		return true;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return time(NULL) - about->st_mtime < AGENT_STALE_S;
	held = flock(fd, LOCK_EX | LOCK_NB) < 0;
	close(fd);
	return held;
}

/*
 * Whether it is a folder as the runner makes them (`mkdir -m 700`, which refuses what is there): by
 * its name, of our own user's, closed to others and no link. Anyone may make a name in /tmp.
 */
static bool is_of_a_run(const char *path, struct stat *about_out)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash + 1, AGENT_FOLDER_PREFIX, strlen(AGENT_FOLDER_PREFIX)) == 0 &&
	       lstat(path, about_out) == 0 && S_ISDIR(about_out->st_mode) &&
	       about_out->st_uid == geteuid() && (about_out->st_mode & 0777) == 0700;
}

bool agent_is_own_folder(const char *path)
{
	struct stat about, around;
	char program[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	if (bytes <= 0 || !is_of_a_run(path, &about))
		return false;
	program[bytes] = '\0';
	slash = strrchr(program, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return lstat(program, &around) == 0 && around.st_dev == about.st_dev &&
	       around.st_ino == about.st_ino;
}

static void sweep_one(const char *parent, const char *name)
{
	char path[PATH_MAX];
	struct stat about;

	if (snprintf(path, sizeof(path), "%s/%s", parent, name) < (int)sizeof(path) &&
	    is_of_a_run(path, &about) && !is_held(path, &about))
		tree_remove(path);
}

void agent_sweep(const char *folder)
{
	char parent[PATH_MAX];
	struct dirent *entry;
	DIR *open_parent;
	char *slash;

	snprintf(parent, sizeof(parent), "%s", folder);
	slash = strrchr(parent, '/');
	if (!slash || slash == parent)
		return;
	*slash = '\0';
	open_parent = opendir(parent);
	while (open_parent && (entry = readdir(open_parent)))
		if (strcmp(entry->d_name, slash + 1) != 0)
			sweep_one(parent, entry->d_name);
	if (open_parent)
		closedir(open_parent);
}
