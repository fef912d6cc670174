#include "apps/common/tree.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	REMOVE_TRIES = 50,
	REMOVE_WAIT_MS = 100,
};

static int make_one(const char *path, mode_t mode)
{
	struct stat about;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST || stat(path, &about) < 0)
		return -errno;
	return S_ISDIR(about.st_mode) ? 0 : -ENOTDIR;
}

int tree_make(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	int code = 0;

	if (strlen(path) >= sizeof(part))
		return -ENAMETOOLONG;
	strcpy(part, path);
	for (char *slash = part; code == 0 && *slash && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		code = make_one(part, mode);
		*slash = '/';
	}
	return code < 0 ? code : make_one(path, mode);
}

/* Removes what the walk has come to; a folder only on the way back. 0 or negative errno. */
static int remove_one(const FTSENT *entry)
{
	int rc = 0;

	switch (entry->fts_info) {
	case FTS_D:
		return 0;
	case FTS_DP:
		rc = rmdir(entry->fts_accpath);
		break;
	case FTS_DNR:
	case FTS_ERR:
		return -entry->fts_errno;
	default:
		rc = unlink(entry->fts_accpath);
	}
	return rc < 0 && errno != ENOENT ? -errno : 0;
}

int tree_remove(const char *path)
{
	char *const roots[] = {(char *)path, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;
	int code = 0;

	if (!walk)
		return -errno;
	while ((entry = fts_read(walk))) {
		int failed = remove_one(entry);

		code = code ? code : failed;
	}
	fts_close(walk);
	return code;
}

int tree_remove_busy(const char *path)
{
	int code = tree_remove(path);

	for (unsigned tries = 1; code == -ENOTEMPTY && tries < REMOVE_TRIES; tries++) {
		poll(NULL, 0, REMOVE_WAIT_MS);
		code = tree_remove(path);
	}
	return code;
}
