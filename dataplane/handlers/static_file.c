#include "dataplane/handlers/static_file.h"

#include "dataplane/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_beneath(int folder, const char *name, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, folder, name, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int static_folder_open(const char *path, struct tp_error *error)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (folder < 0)
		return tp_fail(error, -errno, "static: cannot open the folder %s: %s", path,
			       strerror(errno));
	fd = open_beneath(folder, ".", O_PATH);
	if (fd < 0) {
		close(folder);
		return tp_fail(error, fd,
			       "static: cannot keep files within %s: openat2 (Linux 5.6) says: %s",
			       path, strerror(-fd));
	}
	close(fd);
	return folder;
}

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * (int64_t)CLOCK_SECOND_NS + time->tv_nsec;
}

static struct file_stamp stamp_of(const struct stat *stat)
{
	return (struct file_stamp){.device = stat->st_dev,
				   .inode = stat->st_ino,
				   .bytes = (uint64_t)stat->st_size,
				   .modified_ns = ns_of(&stat->st_mtim),
				   .changed_ns = ns_of(&stat->st_ctim)};
}

static bool same_stamp(const struct stat *stat, const struct file_stamp *stamp)
{
	struct file_stamp now = stamp_of(stat);

	return now.device == stamp->device && now.inode == stamp->inode &&
	       now.bytes == stamp->bytes && now.modified_ns == stamp->modified_ns &&
	       now.changed_ns == stamp->changed_ns;
}

/* What a failed open is answered with. */
static unsigned code_of(int failure)
{
	switch (-failure) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
		return 404;
	case EACCES:
	case EPERM:
	case EXDEV: /* leads out of the folder */
	case ELOOP:
	case ENXIO: /* a socket, or a device that is not there */
	case ENODEV:
		return 403;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EAGAIN: /* a folder on the way was moved meanwhile */
	case EINTR:
		return 503;
	default:
		return 500;
	}
}

/* Looks at a name without opening what it stands for. 0, or the code that refuses it. */
static unsigned look_at(int folder, const char *name)
{
	int fd = open_beneath(folder, name, O_PATH);
	struct stat stat;
	int failed;

	if (fd < 0)
		return code_of(fd);
	failed = fstat(fd, &stat);
	close(fd);
	if (failed)
		return 500;
	if (S_ISDIR(stat.st_mode))
		return 301;
	return S_ISREG(stat.st_mode) ? 0 : 403;
}

unsigned static_file_open(int folder, const char *name, int *fd_out, struct file_stamp *stamp_out)
{
	unsigned code = look_at(folder, name);
	struct stat stat;
	int fd;

	if (code)
		return code;
	fd = open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return code_of(fd);
	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode)) { /* it was another a moment ago */
		close(fd);
		return 503;
	}
	*fd_out = fd;
	*stamp_out = stamp_of(&stat);
	return 0;
}

bool static_file_is(int folder, const char *name, const struct file_stamp *stamp)
{
	int fd = open_beneath(folder, name, O_PATH);
	bool same;

	if (fd < 0)
		return false;
	same = static_file_still(fd, stamp);
	close(fd);
	return same;
}

bool static_file_still(int fd, const struct file_stamp *stamp)
{
	struct stat stat;

	return fstat(fd, &stat) == 0 && same_stamp(&stat, stamp);
}

bool static_file_read(int fd, uint64_t offset, struct room_writer *writer, size_t bytes)
{
	while (bytes > 0) {
		struct room piece = room_writer_piece(writer);
		size_t step = piece.bytes < bytes ? piece.bytes : bytes;
		ssize_t got = pread(fd, piece.base, step, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		room_writer_advance(writer, (size_t)got);
		offset += (size_t)got;
		bytes -= (size_t)got;
	}
	return true;
}

const char *static_file_type(const char *name)
{
	static const struct {
		const char *suffix, *type;
	} types[] = {
		{"html", "text/html"},	    {"htm", "text/html"},
		{"css", "text/css"},	    {"js", "text/javascript"},
		{"mjs", "text/javascript"}, {"json", "application/json"},
		{"txt", "text/plain"},	    {"md", "text/markdown"},
		{"csv", "text/csv"},	    {"xml", "application/xml"},
		{"svg", "image/svg+xml"},   {"png", "image/png"},
		{"jpg", "image/jpeg"},	    {"jpeg", "image/jpeg"},
		{"gif", "image/gif"},	    {"webp", "image/webp"},
		{"ico", "image/x-icon"},    {"woff2", "font/woff2"},
		{"pdf", "application/pdf"}, {"wasm", "application/wasm"},
		{"gz", "application/gzip"}, {"mp4", "video/mp4"},
	};
	const char *dot = strrchr(name, '.');

	for (unsigned i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcasecmp(dot + 1, types[i].suffix) == 0)
			return types[i].type;
	}
	return "application/octet-stream";
}
