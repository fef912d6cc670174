#include "apps/common/claim.h"

#include "dataplane/core/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 1000, LOCK_PAUSE_MS = 10, PATH_BYTES = 512 };

static const char lock_name[] = ".lock";

/*
 * Locks of open file descriptions: unlike those of a process, they are not lost when the file is
 * opened and closed a second time, and unlike flock's they can be asked about without being taken.
 */
static struct flock whole_file(void)
{
	return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

/*
 * Opens a regular file and nothing else: -EEXIST if the name stands for another thing. It does not
 * block, for a FIFO that nobody writes would hold its opener for good.
 */
static int open_in(const char *folder, const char *name, int flags)
{
	char path[PATH_BYTES];
	struct stat status;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return -EEXIST;
}

static int fail_open(const char *folder, const char *name, int code, struct tp_error *error)
{
	const char *advice = "";

	if (code == -EACCES)
		advice = "; it takes root";
	else if (code == -EEXIST)
		advice = ", but is no regular file; remove it";
	return tp_fail(error, code, "cannot open %s/%s: %s%s", folder, name, strerror(-code),
		       advice);
}

/* 0; -EAGAIN if somebody else has it, or another negative errno. */
static int lock_file(int fd)
{
	struct flock lock = whole_file();

	return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

static int lock_patiently(int fd)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000 * 1000};
	int code = lock_file(fd);

	for (unsigned tries = 1; code == -EAGAIN && tries < LOCK_TRIES; tries++) {
		nanosleep(&pause, NULL);
		code = lock_file(fd);
	}
	return code;
}

int claim_lock(const char *folder, struct tp_error *error)
{
	int fd, code;

	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return tp_fail(error, -errno, "cannot make the folder %s: %s", folder,
			       strerror(errno));
	fd = open_in(folder, lock_name, O_RDWR | O_CREAT);
	if (fd < 0)
		return fail_open(folder, lock_name, fd, error);
	code = lock_patiently(fd);
	if (code == 0)
		return fd;
	close(fd);
	return tp_fail(error, code, "cannot lock %s/%s: %s; `fuser %s/%s` names who has it", folder,
		       lock_name, strerror(-code), folder, lock_name);
}

static pid_t read_owner(int fd)
{
	char text[32];
	ssize_t bytes = pread(fd, text, sizeof(text) - 1, 0);
	int pid = 0;

	text[bytes > 0 ? bytes : 0] = '\0';
	return sscanf(text, "pid %d", &pid) == 1 && pid > 0 ? pid : 0;
}

static int refuse_held(const char *name, int fd, struct tp_error *error)
{
	pid_t pid = read_owner(fd);
	char program[PROGRAM_NAME];

	return tp_fail(error, -EBUSY, "%s is in use by %s (pid %d)", name,
		       program_name(pid, program), (int)pid);
}

/* Writes who has it; if that fails the claim holds all the same, and only its holder is unnamed. */
static void write_owner(int fd)
{
	char text[32];
	int bytes = snprintf(text, sizeof(text), "pid %d\n", (int)getpid());

	if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)bytes, 0) != bytes)
		(void)!ftruncate(fd, 0);
}

int claim_take(const char *folder, const char *name, struct tp_error *error)
{
	int fd = open_in(folder, name, O_RDWR | O_CREAT), code;

	if (fd < 0)
		return fail_open(folder, name, fd, error);
	code = lock_file(fd);
	if (code == 0) {
		write_owner(fd);
		return fd;
	}
	code = code == -EAGAIN ? refuse_held(name, fd, error)
			       : tp_fail(error, code, "cannot lock %s/%s: %s", folder, name,
					 strerror(-code));
	close(fd);
	return code;
}

void claim_remove(const char *folder, const char *name)
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path))
		unlink(path);
}

void claim_drop(const char *folder, const char *name, int fd)
{
	claim_remove(folder, name);
	close(fd);
}

struct claim claim_look(const char *folder, const char *name)
{
	int fd = open_in(folder, name, O_RDONLY);
	struct claim claim = {.state = CLAIM_NONE};
	struct flock lock = whole_file();

	snprintf(claim.name, sizeof(claim.name), "%s", name);
	if (fd < 0)
		return claim;
	claim.pid = read_owner(fd);
	claim.state = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK ? CLAIM_STALE
										   : CLAIM_HELD;
	close(fd);
	return claim;
}

unsigned claim_list(const char *folder, const char *prefix, struct claim *list_out, unsigned room)
{
	DIR *names = opendir(folder);
	struct dirent *entry;
	unsigned count = 0;

	while (names && count < room && (entry = readdir(names))) {
		if (entry->d_name[0] == '.' ||
		    strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
		    strlen(entry->d_name) >= CLAIM_NAME_BYTES)
			continue;
		list_out[count] = claim_look(folder, entry->d_name);
		count += list_out[count].state != CLAIM_NONE;
	}
	if (names)
		closedir(names);
	return count;
}
