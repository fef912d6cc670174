#include "apps/run/sample/log.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static struct log log_file;
static struct log_stream stream;
static char heard[4][64];
static unsigned heard_count;

static void listen(void *user, const char *line)
{
	if (heard_count < 4)
		snprintf(heard[heard_count], sizeof(heard[0]), "%.60s", line);
	heard_count++;
}

static void begin(void)
{
	int fd;

	strcpy(path, "/tmp/weir-log-XXXXXX");
	fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	CU_ASSERT_EQUAL_FATAL(log_open(&log_file, path), 0);
	stream = (struct log_stream){.log = &log_file, .on_line = listen, .remembered = true};
	heard_count = 0;
}

static long end(void)
{
	struct stat about = {0};

	CU_ASSERT_EQUAL(log_close(&log_file), 0);
	stat(path, &about);
	unlink(path);
	return (long)about.st_size;
}

static void lines_come_whole(void)
{
	static const char text[] = "config a=b\nready {\"x\":1}\n\nlast";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		begin();
		for (size_t at = 0; at < strlen(text); at += piece)
			log_stream_feed(&stream, text + at,
					strlen(text) - at < piece ? strlen(text) - at : piece);
		CU_ASSERT_EQUAL(heard_count, 3);
		CU_ASSERT_STRING_EQUAL(heard[1], "ready {\"x\":1}");
		CU_ASSERT_STRING_EQUAL(heard[2], "");
		CU_ASSERT_EQUAL(end(), (long)strlen(text));
	}
}

static void a_flood_is_bounded(void)
{
	char piece[4096];
	char quote[700];

	begin();
	memset(piece, 'x', sizeof(piece));
	for (unsigned i = 0; i < 1024; i++)
		log_stream_feed(&stream, piece, sizeof(piece));
	log_stream_feed(&stream, "\nlast words\n", 12);
	log_quote(&log_file, quote, sizeof(quote));
	CU_ASSERT_PTR_NOT_NULL(strstr(quote, " | last words"));
	CU_ASSERT_EQUAL(log_file.dropped_bytes, 1024 * sizeof(piece) + 12 - LOG_BYTES_MAX);
	CU_ASSERT(end() < LOG_BYTES_MAX + 100);
}

static void the_last_lines_are_quoted(void)
{
	char quote[64];

	begin();
	log_quote(&log_file, quote, sizeof(quote));
	CU_ASSERT_STRING_EQUAL(quote, "");
	log_stream_feed(&stream, "a\nb\n\nc\nd\n", 9);
	log_quote(&log_file, quote, sizeof(quote));
	CU_ASSERT_STRING_EQUAL(quote, "b | c | d");
	log_quote(&log_file, quote, 5);
	CU_ASSERT_EQUAL(strlen(quote), 4);
	end();
}

static void a_full_disk_is_told(void)
{
	CU_ASSERT_EQUAL_FATAL(log_open(&log_file, "/dev/full"), 0);
	stream = (struct log_stream){.log = &log_file, .on_line = listen, .remembered = true};
	heard_count = 0;
	log_stream_feed(&stream, "ready\n", 6);
	CU_ASSERT_EQUAL(heard_count, 1);
	CU_ASSERT(log_close(&log_file) < 0);
}

static const struct suite_test tests[] = {
	{"lines come whole, however they were cut", lines_come_whole},
	{"a flood is kept up to a bound and its end remembered", a_flood_is_bounded},
	{"the last lines can be quoted", the_last_lines_are_quoted},
	{"a full disk is told and lines are heard all the same", a_full_disk_is_told},
};

SUITE_MAIN("run log", tests)
