/*
 * log: what a child process says, kept in a file of bounded size.
 *
 * Everything up to the bound goes into the file; what is beyond is counted, and the file ends by
 * saying so. The last lines of streams that carry messages are remembered, whatever the
 * file took.
 *
 * Owned by the caller from open to close. Plane: setup and report.
 */
#ifndef WEIR_RUN_LOG_H
#define WEIR_RUN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LOG_BYTES_MAX = 1024 * 1024,
	/* Of a longer line, the rest is dropped from what on_line sees. */
	LOG_LINE_BYTES = 32 * 1024,
	LOG_LAST_LINES = 3,
	LOG_LAST_BYTES = 200,
};

struct log {
	int fd;
	int failed; /* negative errno of the first failed write, or 0 */
	uint64_t kept_bytes;
	uint64_t dropped_bytes;
	char last[LOG_LAST_LINES][LOG_LAST_BYTES];
	unsigned last_count; /* lines seen; the newest is last[(last_count - 1) % LOG_LAST_LINES] */
};

/* One stream of the child, cut into lines. */
struct log_stream {
	struct log *log;
	bool remembered; /* its lines are among those that log_quote knows */
	void (*on_line)(void *user, const char *line); /* NULL: nobody listens */
	void *user;
	size_t line_bytes;
	char line[LOG_LINE_BYTES];
};

/* Begins the file. 0 or negative errno. */
int log_open(struct log *log, const char *path);

/* Ends it. 0, or the first failure of any write. */
int log_close(struct log *log);

/* Takes what the child wrote: to the file at once, to on_line a line at a time. */
void log_stream_feed(struct log_stream *stream, const char *data, size_t bytes);

/* The last lines, joined by " | ", oldest first; "" if there were none. */
void log_quote(const struct log *log, char *text, size_t text_bytes);

#endif
