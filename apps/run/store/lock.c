#include "apps/run/store/lock.h"

#include "dataplane/core/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Where every user may make a file, and no other remove it. Not /run/lock, which is root's alone on
 * many systems: root and a user would hold a lock each, and measure each other.
 */
const char *lock_default_path(void)
{
	return "/tmp/weir-run.lock";
}

static int refuse_busy(const char *path, int fd, struct tp_error *error)
{
	char holder[256];
	ssize_t bytes = pread(fd, holder, sizeof(holder) - 1, 0);

	holder[bytes > 0 ? bytes : 0] = '\0';
	holder[strcspn(holder, "\n")] = '\0';
	return tp_fail(error, -EBUSY,
		       "another measurement is running on this host: %s (lock %s); two at once "
		       "would measure each other. Wait for it, or end it",
		       holder[0] ? holder : "holder unknown", path);
}

/*
 * Whether the file is empty or a lock, and of no other name: anything else is somebody's, and not
 * to be written over.
 */
static bool is_lock(int fd)
{
	char text[64];
	struct stat about;
	ssize_t bytes;
	int pid, end = 0;

	if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || about.st_nlink != 1)
		return false;
	bytes = pread(fd, text, sizeof(text) - 1, 0);
	if (bytes < 0)
		return false;
	text[bytes] = '\0';
	return bytes == 0 || (sscanf(text, "pid %d, %n", &pid, &end) == 1 && end > 0);
}

/*
 * Opens the file. One that is made is every user's whatever the umask; of one that another user has
 * made, reading is enough. In a folder for everybody the name may be anything: a link is not
 * followed, and a FIFO not waited for.
 */
static int open_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd >= 0)
		(void)fchmod(fd, 0666);
	else if (errno == EEXIST)
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == EACCES)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return fd;
}

int lock_take(const char *path, const char *what, struct tp_error *error)
{
	int fd = open_lock(path), code;
	char note[256];

	if (fd < 0)
		return tp_fail(error, -errno,
			       "cannot open the lock %s: %s; --lock names another file", path,
			       strerror(errno));
	if (!is_lock(fd)) {
		close(fd);
		return tp_fail(error, -EEXIST,
			       "%s is no lock but has something else in it; --lock names another "
			       "file",
			       path);
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		code = errno == EWOULDBLOCK ? refuse_busy(path, fd, error)
					    : tp_fail(error, -errno, "cannot lock %s: %s", path,
						      strerror(errno));
		close(fd);
		return code;
	}
	snprintf(note, sizeof(note), "pid %d, %.200s\n", (int)getpid(), what);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, note, strlen(note), 0) < 0) {
		/* The lock holds all the same; only its holder stays unnamed. */
		return fd;
	}
	return fd;
}

/* The process that holds a flock on the file; 0 if it cannot be seen. */
static pid_t holder_of(int fd)
{
	FILE *locks = fopen("/proc/locks", "re");
	unsigned long inode;
	struct stat about;
	char line[256];
	int pid = 0, seen;

	if (fstat(fd, &about) < 0)
		about.st_ino = 0;
	while (locks && !pid && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %*x:%*x:%lu ", &seen, &inode) == 2 &&
		    inode == about.st_ino)
			pid = seen;
	if (locks)
		fclose(locks);
	return pid;
}

static int refuse_folder(int fd, const char *path, struct tp_error *error)
{
	pid_t pid = holder_of(fd);
	char name[PROGRAM_NAME];

	if (pid <= 0)
		return tp_fail(error, -EBUSY, "%.300s: another run writes it", path);
	return tp_fail(error, -EBUSY, "%.300s: another run writes it: %s (pid %d)", path,
		       program_name(pid, name), (int)pid);
}

int lock_folder(const char *path, struct tp_error *error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), code;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	code = -errno;
	if (fd >= 0 && code == -EWOULDBLOCK)
		code = refuse_folder(fd, path, error);
	else
		tp_fail(error, code, "cannot lock %.300s: %s", path, strerror(-code));
	if (fd >= 0)
		close(fd);
	return code;
}
