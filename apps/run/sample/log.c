#include "apps/run/sample/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int log_open(struct log *log, const char *path)
{
	*log = (struct log){.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
	return log->fd < 0 ? -errno : 0;
}

static void write_all(struct log *log, const char *data, size_t bytes)
{
	while (bytes > 0 && log->failed == 0) {
		ssize_t done = write(log->fd, data, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			log->failed = -errno;
			return;
		}
		data += done;
		bytes -= (size_t)done;
	}
}

int log_close(struct log *log)
{
	char text[96];

	if (log->fd < 0)
		return 0;
	if (log->dropped_bytes) {
		int bytes = snprintf(text, sizeof(text), "\n[%llu more bytes were not kept]\n",
				     (unsigned long long)log->dropped_bytes);

		write_all(log, text, (size_t)bytes);
	}
	if (log->failed == 0 && fsync(log->fd) < 0)
		log->failed = -errno;
	close(log->fd);
	log->fd = -1;
	return log->failed;
}

static void end_line(struct log_stream *stream)
{
	struct log *log = stream->log;

	stream->line[stream->line_bytes] = '\0';
	stream->line_bytes = 0;
	if (stream->remembered && stream->line[0])
		snprintf(log->last[log->last_count++ % LOG_LAST_LINES], LOG_LAST_BYTES, "%.*s",
			 LOG_LAST_BYTES - 1, stream->line);
	if (stream->on_line)
		stream->on_line(stream->user, stream->line);
}

static void keep(struct log *log, const char *data, size_t bytes)
{
	size_t room = LOG_BYTES_MAX - (size_t)log->kept_bytes;
	size_t kept = bytes < room ? bytes : room;

	write_all(log, data, kept);
	log->kept_bytes += kept;
	log->dropped_bytes += bytes - kept;
}

void log_stream_feed(struct log_stream *stream, const char *data, size_t bytes)
{
	keep(stream->log, data, bytes);
	for (size_t i = 0; i < bytes; i++) {
		if (data[i] == '\n')
			end_line(stream);
		else if (stream->line_bytes < LOG_LINE_BYTES - 1)
			stream->line[stream->line_bytes++] = data[i];
	}
}

void log_quote(const struct log *log, char *text, size_t text_bytes)
{
	unsigned first = log->last_count > LOG_LAST_LINES ? log->last_count - LOG_LAST_LINES : 0;
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = first; i < log->last_count && used < text_bytes; i++)
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%s",
					 i > first ? " | " : "", log->last[i % LOG_LAST_LINES]);
}
