#include "stacks/socket/local.h"

#include "dataplane/transport/holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* --- the files that are ours --- */

/*
 * A socket does not tell which file it made, so that is kept here from listening to its end, for
 * all threads. With more listeners than places the file stays behind and is replaced when somebody
 * listens there again.
 */
enum { FILES = 64 };

static struct {
	pthread_mutex_t lock;
	struct file {
		int fd;
		dev_t device;
		ino_t inode; /* 0: this place is free */
	} files[FILES];
} ours = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void remember_file(int fd, const struct tp_addr *addr)
{
	struct file *place = NULL;
	struct stat status;

	if (lstat(addr->path, &status) < 0)
		return;
	pthread_mutex_lock(&ours.lock);
	for (unsigned i = 0; i < FILES; i++)
		if (!ours.files[i].inode || ours.files[i].fd == fd)
			place = &ours.files[i];
	if (place)
		*place = (struct file){fd, status.st_dev, status.st_ino};
	pthread_mutex_unlock(&ours.lock);
}

/* What was remembered of `fd`, which is forgotten; inode 0 if nothing. */
static struct file forget_file(int fd)
{
	struct file found = {.fd = -1};

	pthread_mutex_lock(&ours.lock);
	for (unsigned i = 0; i < FILES; i++)
		if (ours.files[i].inode && ours.files[i].fd == fd) {
			found = ours.files[i];
			ours.files[i] = (struct file){.fd = -1};
		}
	pthread_mutex_unlock(&ours.lock);
	return found;
}

void local_remove(int fd, const struct tp_addr *addr, uint64_t *calls)
{
	struct file file = forget_file(fd);
	struct stat status;

	if (!file.inode)
		return;
	*calls += 2;
	if (lstat(addr->path, &status) == 0 && status.st_dev == file.device &&
	    status.st_ino == file.inode)
		unlink(addr->path);
}

/* --- a path that is taken --- */

static int fail_held(const struct tp_addr *addr, pid_t pid, struct tp_error *error)
{
	struct holder holder = {.pid = pid};
	char text[TP_ADDR_TEXT];

	tp_addr_print(addr, text);
	if (pid > 0)
		program_name(pid, holder.program);
	else if (holder_find(addr, &holder) < 0)
		return tp_fail(error, -EADDRINUSE,
			       "cannot listen on %s: a process that cannot be found from here "
			       "holds it; take another path",
			       text);
	return tp_fail(error, -EADDRINUSE,
		       "cannot listen on %s: %s (pid %d) holds it; stop that or take another path",
		       text, holder.program, (int)holder.pid);
}

/* Who listens on what `fd` is connected to; 0 if the kernel does not tell. */
static pid_t pid_behind(int fd)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.pid : 0;
}

/*
 * Tries the socket's file: 0 if nobody is behind it, so that it can be replaced. A socket that is
 * bound and does not listen yet refuses like one that is gone, but is in the kernel's table.
 */
static int check_stale(const struct tp_addr *addr, uint64_t *calls, struct tp_error *error)
{
	struct sockaddr_storage storage;
	socklen_t bytes = socket_address(addr, &storage);
	int fd = socket_make(addr, calls);
	struct holder holder;
	int verdict;
	pid_t pid;

	if (fd < 0)
		return tp_fail(error, fd, "cannot look who listens on unix:%s: %s", addr->path,
			       strerror(-fd));
	verdict = connect(fd, (struct sockaddr *)&storage, bytes) < 0 ? errno : 0;
	pid = verdict == 0 ? pid_behind(fd) : 0;
	++*calls;
	socket_shut(fd, calls);
	if (verdict == EACCES)
		return tp_fail(error, -EACCES,
			       "cannot listen on unix:%s: there is a socket of another user; take "
			       "another path",
			       addr->path);
	if (verdict != ECONNREFUSED || holder_find(addr, &holder) == 0)
		return fail_held(addr, pid, error);
	return 0;
}

static int replace_stale(const struct tp_addr *addr, uint64_t *calls, struct tp_error *error)
{
	struct stat status;
	int code;

	*calls += 1;
	if (lstat(addr->path, &status) < 0)
		return 0;
	if (!S_ISSOCK(status.st_mode))
		return tp_fail(
			error, -EEXIST,
			"cannot listen on unix:%s: that is a file and no socket, and is left "
			"alone; take another path",
			addr->path);
	code = check_stale(addr, calls, error);
	if (code < 0)
		return code;
	*calls += 1;
	if (unlink(addr->path) < 0 && errno != ENOENT)
		return tp_fail(error, -errno,
			       "cannot listen on unix:%s: the socket of a process that is gone "
			       "cannot be removed: %s",
			       addr->path, strerror(errno));
	return 0;
}

/* --- one start at a time --- */

enum { LOCK_TRIES = 2000, LOCK_PAUSE_NS = 1000 * 1000 };

/*
 * Locks the folder of the path, for as long as it takes to look at a file, replace it and listen:
 * of two starts that find a file stale, the second would else remove what the first has put there.
 * The folder serves since a lock file of its own would stay behind. The descriptor, to be closed;
 * or -EWOULDBLOCK if somebody keeps it locked, or another negative errno if it cannot be.
 */
static int lock_folder(const struct tp_addr *addr, uint64_t *calls)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	char path[sizeof(addr->path)];
	int fd, code = -EWOULDBLOCK;

	memcpy(path, addr->path, sizeof(path));
	fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	++*calls;
	if (fd < 0)
		return -errno;
	for (unsigned i = 0; i < LOCK_TRIES && code == -EWOULDBLOCK; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		code = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
		++*calls;
	}
	if (code == 0)
		return fd;
	socket_shut(fd, calls);
	return code;
}

/* --- making and sharing a listener --- */

static int fail_local(const struct tp_addr *addr, int code, struct tp_error *error)
{
	const char *advice = "";

	if (code == -EADDRINUSE)
		return fail_held(addr, 0, error);
	if (code == -ENOENT || code == -ENOTDIR)
		advice = ": its folder is not there, make it or take another path";
	else if (code == -EACCES || code == -EROFS)
		advice = ": its folder may not be written to by this user, take another path";
	else if (code == -EMFILE)
		advice = ": raise the limit of open files (ulimit -n)";
	return tp_fail(error, code, "cannot listen on unix:%s: %s%s", addr->path, strerror(-code),
		       advice);
}

/* The descriptor of a socket bound there, or a negative errno. */
static int bind_local(const struct tp_addr *addr, uint64_t *calls)
{
	struct sockaddr_storage storage;
	socklen_t bytes = socket_address(addr, &storage);
	int fd = socket_make(addr, calls);
	int code;

	if (fd < 0)
		return fd;
	++*calls;
	code = bind(fd, (struct sockaddr *)&storage, bytes) < 0 ? -errno : 0;
	if (code == 0)
		return fd;
	socket_shut(fd, calls);
	return code;
}

static int make_listener(const struct tp_addr *addr, const struct socket_settings *settings,
			 uint64_t *calls, struct tp_error *error)
{
	int fd = bind_local(addr, calls);
	int code;

	if (fd == -EADDRINUSE) {
		code = replace_stale(addr, calls, error);
		if (code < 0)
			return code;
		fd = bind_local(addr, calls);
	}
	if (fd < 0)
		return fail_local(addr, fd, error);
	remember_file(fd, addr);
	code = socket_set_options(fd, addr, settings, calls);
	++*calls;
	if (code == 0 && listen(fd, SOMAXCONN) < 0)
		code = -errno;
	if (code == 0)
		return fd;
	local_remove(fd, addr, calls);
	socket_shut(fd, calls);
	return fail_local(addr, code, error);
}

static bool listens_there(int fd, const struct tp_addr *addr)
{
	struct sockaddr_un name = {0};
	socklen_t bytes = sizeof(name);
	int listens = 0;
	socklen_t flag_bytes = sizeof(listens);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag_bytes) == 0 && listens &&
	       getsockname(fd, (struct sockaddr *)&name, &bytes) == 0 &&
	       name.sun_family == AF_UNIX &&
	       strncmp(name.sun_path, addr->path, sizeof(name.sun_path)) == 0;
}

/*
 * A copy of the descriptor if it listens there, else -1. Other threads open and close descriptors
 * meanwhile, so it is the copy that is believed.
 */
static int copy_if_listener(int fd, const struct tp_addr *addr)
{
	int copy = listens_there(fd, addr) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (copy < 0 || listens_there(copy, addr))
		return copy;
	close(copy);
	return -1;
}

static int share_listener(const struct tp_addr *addr, const struct socket_settings *settings,
			  uint64_t *calls, struct tp_error *error)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd = -1;

	if (!folder)
		return tp_fail(error, -errno, "cannot look for the listener of unix:%s: %s",
			       addr->path, strerror(errno));
	while (fd < 0 && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			fd = copy_if_listener(atoi(entry->d_name), addr);
	closedir(folder);
	++*calls;
	if (fd < 0)
		return tp_fail(error, -ENOTCONN,
			       "worker %u cannot listen on unix:%s: the first worker of this "
			       "process does not listen there",
			       settings->worker, addr->path);
	return fd;
}

int local_listen(const struct tp_addr *addr, const struct socket_settings *settings,
		 uint64_t *calls, struct tp_error *error)
{
	int folder, fd;

	if (settings->worker > 0)
		return share_listener(addr, settings, calls, error);
	folder = lock_folder(addr, calls);
	if (folder == -EWOULDBLOCK)
		return tp_fail(error, -EBUSY,
			       "cannot listen on unix:%s: another program keeps its folder locked; "
			       "take another path",
			       addr->path);
	/* a folder that cannot be locked (not there, not readable) is used as it is */
	fd = make_listener(addr, settings, calls, error);
	if (folder >= 0)
		socket_shut(folder, calls);
	return fd;
}
