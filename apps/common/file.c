#include "apps/common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct tp_error *error, int code, const char *doing, const char *path)
{
	const char *advice = code == -ENOSPC || code == -EDQUOT ? "; free some space and try again"
			     : code == -EFBIG ? "; the file size limit (ulimit -f) is too small"
					      : "";

	return tp_fail(error, code, "cannot %s %.300s: %s%s", doing, path, strerror(-code), advice);
}

int file_begin(struct file *file, const char *path, struct tp_error *error)
{
	int length = snprintf(file->temporary, sizeof(file->temporary), "%s.tmp-%d", path,
			      (int)getpid());
	struct stat about;

	/* The rename would put a file in the place of a device, a pipe or a link. */
	if (lstat(path, &about) == 0 && !S_ISREG(about.st_mode))
		return tp_fail(error, -EINVAL,
			       "cannot write %.300s: it is no regular file, and would be replaced "
			       "by one; name a file",
			       path);
	if (length >= (int)sizeof(file->temporary))
		return fail(error, -ENAMETOOLONG, "write", path);
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->stream = fopen(file->temporary, "we");
	return file->stream ? 0 : fail(error, -errno, "write", path);
}

void file_abandon(struct file *file)
{
	if (file->stream)
		fclose(file->stream);
	file->stream = NULL;
	unlink(file->temporary);
}

/* Makes the new name itself durable. */
static int sync_folder_of(const char *path)
{
	char copy[FILE_PATH_BYTES];
	int fd, rc;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* Why an earlier write failed: the stream only remembers that it did, so one more byte is tried. */
static int reason_of(FILE *stream)
{
	return write(fileno(stream), "", 1) < 0 ? -errno : -EIO;
}

/* Flushes, syncs and closes the stream. */
static int finish_stream(struct file *file)
{
	int rc = 0;

	if (fflush(file->stream) != 0 || ferror(file->stream))
		rc = reason_of(file->stream);
	else if (fsync(fileno(file->stream)) < 0)
		rc = -errno;
	if (fclose(file->stream) != 0 && rc == 0)
		rc = -errno;
	file->stream = NULL;
	return rc;
}

int file_rename(const char *from, const char *to, struct tp_error *error)
{
	int rc;

	if (rename(from, to) < 0)
		return fail(error, -errno, "write", to);
	rc = sync_folder_of(to);
	return rc < 0 ? fail(error, rc, "sync the folder of", to) : 0;
}

int file_commit(struct file *file, struct tp_error *error)
{
	int rc = finish_stream(file);

	rc = rc < 0 ? fail(error, rc, "write", file->path)
		    : file_rename(file->temporary, file->path, error);
	if (rc < 0)
		unlink(file->temporary);
	return rc;
}

int file_check(const char *path, struct tp_error *error)
{
	struct file file;
	int rc = file_begin(&file, path, error);

	if (rc == 0)
		file_abandon(&file);
	return rc;
}

int file_write(const char *path, const void *data, size_t bytes, struct tp_error *error)
{
	struct file file;
	int rc = file_begin(&file, path, error);

	if (rc < 0)
		return rc;
	fwrite(data, 1, bytes, file.stream);
	return file_commit(&file, error);
}

/* Reads to the end of a stream whose size nobody promises. */
static int read_all(FILE *stream, size_t max_bytes, char **data_out, size_t *bytes_out)
{
	size_t room = 4096, bytes = 0;
	char *data = malloc(room + 1);

	while (data) {
		char *larger;

		bytes += fread(data + bytes, 1, room - bytes, stream);
		if (bytes < room || bytes > max_bytes)
			break;
		larger = realloc(data, 2 * room + 1);
		if (!larger)
			free(data);
		data = larger;
		room *= 2;
	}
	if (!data)
		return -ENOMEM;
	if (ferror(stream) || bytes > max_bytes) {
		free(data);
		return bytes > max_bytes ? -EFBIG : -EIO;
	}
	data[bytes] = '\0';
	*data_out = data;
	*bytes_out = bytes;
	return 0;
}

int file_open(const char *path)
{
	/* does not wait for the other end of a pipe */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat about;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int file_read(const char *path, size_t max_bytes, char **data_out, size_t *bytes_out,
	      struct tp_error *error)
{
	int rc, fd = file_open(path);
	FILE *stream;

	if (fd == -EINVAL)
		return tp_fail(error, fd, "cannot read %.300s: it is no regular file", path);
	if (fd < 0)
		return fail(error, fd, "read", path);
	stream = fdopen(fd, "r");
	if (!stream) {
		close(fd);
		return fail(error, -ENOMEM, "read", path);
	}
	rc = read_all(stream, max_bytes, data_out, bytes_out);
	fclose(stream);
	if (rc == -EFBIG)
		return tp_fail(error, rc, "cannot read %.300s: larger than %zu bytes", path,
			       max_bytes);
	return rc < 0 ? fail(error, rc, "read", path) : 0;
}

bool file_matches(const char *pattern)
{
	glob_t found;
	int code = glob(pattern, GLOB_BRACE | GLOB_NOSORT, NULL, &found);

	if (code == 0)
		globfree(&found);
	return code == 0;
}
