#include "dataplane/core/limits.h"
#include "dataplane/handlers/spec.h"
#include "tests/support/suite.h"
#include "tests/unit/handlers/hand.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PORT = 80, LARGE_BYTES = 300000 };

static struct hand hand;
static struct hand_end *end;
static char folder[64];

/* Runs a command of the shell in the folder above the one served. */
static void shell(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), "cd %s && %s", folder, command);
	CU_ASSERT_EQUAL_FATAL(system(line), 0);
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/served/%s", folder, name);
	return path;
}

static void write_file(const char *name, size_t bytes)
{
	FILE *file = fopen(path_of(name), "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	for (size_t i = 0; i < bytes; i++)
		fputc('a' + (int)(i * i / 7 % 26), file);
	fclose(file);
}

static void open_static(void)
{
	char spec[128];

	strcpy(folder, "/tmp/weir-static-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	shell("mkdir served served/sub served/empty && printf secret > outside");
	write_file("a.txt", 26);
	write_file("index.html", 100);
	write_file("sub/index.html", 50);
	write_file("large.bin", LARGE_BYTES);
	write_file("none", 0);
	hand_open(&hand);
	snprintf(spec, sizeof(spec), "static:%s/served", folder);
	hand_serve(&hand, PORT, spec);
	end = hand_connect(&hand, PORT);
}

static void close_static(void)
{
	char line[128];

	hand_close(&hand);
	snprintf(line, sizeof(line), "rm -r %s", folder);
	CU_ASSERT_EQUAL(system(line), 0);
}

static unsigned get(const char *target, const char *fields)
{
	return hand_get(&hand, end, target, fields);
}

/* Whether the response's body is the file's bytes from `first` on. */
static bool body_is(const char *name, size_t first, size_t bytes)
{
	char *expected = calloc(1, LARGE_BYTES + 1);
	FILE *file = fopen(path_of(name), "r");
	size_t body_bytes = end->bytes - (size_t)(hand_body(end) - end->text);
	bool same;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fseek(file, (long)first, SEEK_SET);
	same = fread(expected, 1, bytes, file) == bytes && body_bytes == bytes &&
	       memcmp(expected, hand_body(end), bytes) == 0;
	fclose(file);
	free(expected);
	return same;
}

static void small_and_large_files_come_whole(void)
{
	open_static();
	CU_ASSERT_EQUAL(get("/a.txt", ""), 200);
	CU_ASSERT_TRUE(body_is("a.txt", 0, 26));
	CU_ASSERT_TRUE(hand_has(end, "Content-Type: text/plain\r\n"));
	CU_ASSERT_TRUE(hand_has(end, "Accept-Ranges: bytes\r\n"));
	CU_ASSERT_EQUAL(get("/large.bin?query", ""), 200);
	CU_ASSERT_TRUE(body_is("large.bin", 0, LARGE_BYTES));
	CU_ASSERT_TRUE(hand_has(end, "Content-Type: application/octet-stream\r\n"));
	CU_ASSERT_EQUAL(get("/none", ""), 200);
	CU_ASSERT_TRUE(hand_has(end, "Content-Length: 0\r\n"));
	CU_ASSERT_EQUAL(hand_counters(&hand, 0)->files_cached, 2);
	CU_ASSERT_EQUAL(hand_counters(&hand, 0)->files_streamed, 1);
	close_static();
}

static void files_of_every_size_around_a_piece_come_whole(void)
{
	static const size_t sizes[] = {1,
				       LIMIT_CHUNK_BYTES - 1,
				       LIMIT_CHUNK_BYTES,
				       LIMIT_CHUNK_BYTES + 1,
				       LIMIT_FILE_KEPT_BYTES - 1,
				       LIMIT_FILE_KEPT_BYTES,
				       LIMIT_FILE_KEPT_BYTES + 1};
	char name[16], target[32];

	open_static();
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(name, sizeof(name), "%zu", sizes[i]);
		snprintf(target, sizeof(target), "/%s", name);
		write_file(name, sizes[i]);
		for (unsigned again = 0; again < 2; again++) {
			CU_ASSERT_EQUAL(get(target, ""), 200);
			CU_ASSERT_TRUE(body_is(name, 0, sizes[i]));
		}
	}
	CU_ASSERT_EQUAL(hand_counters(&hand, 0)->files_streamed, 2);
	close_static();
}

static void a_folder_is_its_index(void)
{
	open_static();
	CU_ASSERT_EQUAL(get("/", ""), 200);
	CU_ASSERT_TRUE(body_is("index.html", 0, 100));
	CU_ASSERT_TRUE(hand_has(end, "Content-Type: text/html\r\n"));
	CU_ASSERT_EQUAL(get("/sub/", ""), 200);
	CU_ASSERT_TRUE(body_is("sub/index.html", 0, 50));
	CU_ASSERT_EQUAL(get("/empty/", ""), 404);
	shell("mkdir served/empty/index.html");
	CU_ASSERT_EQUAL(get("/empty/", ""), 404);
	CU_ASSERT_EQUAL(get("/empty/index.html", ""), 301);
	CU_ASSERT_EQUAL(get("/a.txt/", ""), 404);
	close_static();
}

static void a_folder_without_its_slash_is_elsewhere(void)
{
	open_static();
	CU_ASSERT_EQUAL(get("/sub", ""), 301);
	CU_ASSERT_TRUE(hand_has(end, "Location: /sub/\r\n"));
	CU_ASSERT_TRUE(hand_has(end, "Content-Length: 0\r\n"));
	CU_ASSERT_EQUAL(get("/s%75b?a=1&b", ""), 301);
	CU_ASSERT_TRUE(hand_has(end, "Location: /s%75b/?a=1&b\r\n"));
	CU_ASSERT_EQUAL(get("/sub/", ""), 200);
	CU_ASSERT_EQUAL(get("/sub", ""), 301);
	CU_ASSERT_EQUAL(get("/sub/", ""), 200);
	close_static();
}

static void nothing_outside_of_the_folder_is_served(void)
{
	static const char *const targets[] = {
		"/../outside",	 "/sub/../../outside", "/%2e%2e/outside",
		"/..%2foutside", "/%2e%2e%2foutside",  "/sub/%2e%2e/a.txt",
		"//a.txt",	 "/.hidden",	       "/%252e%252e/outside"};

	open_static();
	shell("printf x > served/.hidden");
	for (unsigned i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		CU_ASSERT_EQUAL(get(targets[i], ""), 404);
	CU_ASSERT_EQUAL(get("/a.txt%00", ""), 400);
	end = hand_connect(&hand, PORT);
	CU_ASSERT_EQUAL(get("/a%2", ""), 400);
	close_static();
}

static void links_lead_within_the_folder_alone(void)
{
	open_static();
	shell("ln -s ../outside served/out && ln -s $PWD/outside served/absolute");
	shell("ln -s .. served/up && ln -s ../a.txt served/sub/in && ln -s loop served/loop");
	CU_ASSERT_EQUAL(get("/out", ""), 403);
	CU_ASSERT_EQUAL(get("/absolute", ""), 403);
	CU_ASSERT_EQUAL(get("/up/outside", ""), 403);
	CU_ASSERT_EQUAL(get("/loop", ""), 403);
	CU_ASSERT_EQUAL(get("/sub/in", ""), 200);
	CU_ASSERT_TRUE(body_is("a.txt", 0, 26));
	close_static();
}

static void what_is_no_file_is_refused_at_once(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), watch = inotify_init1(IN_NONBLOCK);
	struct inotify_event event;

	open_static();
	CU_ASSERT_EQUAL(mkfifo(path_of("fifo"), 0600), 0);
	strcpy(address.sun_path, path_of("socket"));
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_TRUE(inotify_add_watch(watch, path_of("fifo"), IN_OPEN) >= 0);
	CU_ASSERT_EQUAL(get("/fifo", ""), 403);
	CU_ASSERT_TRUE(read(watch, &event, sizeof(event)) < 0); /* nobody has opened it */
	CU_ASSERT_EQUAL(get("/socket", ""), 403);
	CU_ASSERT_EQUAL(get("/missing", ""), 404);
	close(watch);
	close(fd);
	close_static();
}

static void methods_other_than_get_and_head_are_named(void)
{
	open_static();
	hand_send(&hand, end, "DELETE /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");
	CU_ASSERT_TRUE(hand_await_text(&hand, end, "\r\n\r\n"));
	CU_ASSERT_TRUE(hand_has(end, "HTTP/1.1 405 "));
	CU_ASSERT_TRUE(hand_has(end, "Allow: GET, HEAD\r\n"));
	hand_forget(end);
	hand_send(&hand, end,
		  "POST /a.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
		  "HEAD /large.bin HTTP/1.1\r\nHost: a\r\n\r\n"
		  "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");
	CU_ASSERT_TRUE(hand_await_text(&hand, end, "text/plain"));
	CU_ASSERT_TRUE(hand_has(end, "HTTP/1.1 405 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(end->text, "Content-Length: 300000\r\n"));
	CU_ASSERT_TRUE(end->bytes < 2000);
	close_static();
}

static void ranges_are_parts(void)
{
	open_static();
	CU_ASSERT_EQUAL(get("/large.bin", "Range: bytes=100000-269999\r\n"), 206);
	CU_ASSERT_TRUE(hand_has(end, "Content-Range: bytes 100000-269999/300000\r\n"));
	CU_ASSERT_TRUE(body_is("large.bin", 100000, 170000));
	CU_ASSERT_EQUAL(get("/a.txt", "Range: bytes=-5\r\n"), 206);
	CU_ASSERT_TRUE(hand_has(end, "Content-Range: bytes 21-25/26\r\n"));
	CU_ASSERT_TRUE(body_is("a.txt", 21, 5));
	CU_ASSERT_EQUAL(get("/a.txt", "Range: bytes=26-\r\n"), 416);
	CU_ASSERT_TRUE(hand_has(end, "Content-Range: bytes */26\r\n"));
	CU_ASSERT_EQUAL(get("/a.txt", "Range: bytes=0-1,5-6\r\n"), 200);
	CU_ASSERT_TRUE(body_is("a.txt", 0, 26));
	CU_ASSERT_EQUAL(get("/a.txt", "Range: bytes=0-1\r\nIf-Range: \"other\"\r\n"), 200);
	close_static();
}

static void conditions_are_judged_by_tag_and_date(void)
{
	char fields[256], tag[128], date[128];

	open_static();
	CU_ASSERT_EQUAL(get("/a.txt", ""), 200);
	CU_ASSERT_EQUAL(sscanf(strstr(end->text, "ETag: "), "ETag: %127[^\r]", tag), 1);
	CU_ASSERT_EQUAL(
		sscanf(strstr(end->text, "Last-Modified: "), "Last-Modified: %127[^\r]", date), 1);
	snprintf(fields, sizeof(fields), "If-None-Match: %s\r\n", tag);
	CU_ASSERT_EQUAL(get("/a.txt", fields), 304);
	CU_ASSERT_EQUAL(hand_body(end) - end->text, (ptrdiff_t)end->bytes);
	CU_ASSERT_TRUE(hand_has(end, tag));
	snprintf(fields, sizeof(fields), "If-Modified-Since: %s\r\n", date);
	CU_ASSERT_EQUAL(get("/a.txt", fields), 304);
	snprintf(fields, sizeof(fields), "Range: bytes=1-2\r\nIf-Range: %s\r\n", tag);
	CU_ASSERT_EQUAL(get("/a.txt", fields), 206);
	CU_ASSERT_EQUAL(get("/a.txt", "If-None-Match: \"other\"\r\n"), 200);
	CU_ASSERT_EQUAL(get("/a.txt", "If-Match: \"other\"\r\n"), 412);
	close_static();
}

static void changed_files_are_seen(void)
{
	open_static();
	CU_ASSERT_EQUAL(get("/a.txt", ""), 200);
	CU_ASSERT_EQUAL(get("/none", ""), 200);
	CU_ASSERT_EQUAL(get("/sub/", ""), 200);
	write_file("a.txt", 40);
	unlink(path_of("none"));
	shell("mv served/index.html served/sub/index.html");
	hand_wait(&hand, LIMIT_FILE_TRUSTED_NS - 1);
	CU_ASSERT_EQUAL(get("/none", ""), 200);
	hand_wait(&hand, 1);
	CU_ASSERT_EQUAL(get("/a.txt", ""), 200);
	CU_ASSERT_TRUE(body_is("a.txt", 0, 40));
	CU_ASSERT_EQUAL(get("/none", ""), 404);
	CU_ASSERT_EQUAL(get("/sub/", ""), 200);
	CU_ASSERT_TRUE(body_is("sub/index.html", 0, 100));
	close_static();
}

/* Of the same length, and its time is kept. */
static void a_file_that_is_replaced_has_another_tag(void)
{
	char fields[256], tag[128];

	open_static();
	CU_ASSERT_EQUAL(get("/a.txt", ""), 200);
	CU_ASSERT_EQUAL(sscanf(strstr(end->text, "ETag: "), "ETag: %127[^\r]", tag), 1);
	shell("cp -p served/a.txt other && tr a-z A-Z <served/a.txt >other");
	shell("touch -r served/a.txt other && mv other served/a.txt");
	hand_wait(&hand, LIMIT_FILE_TRUSTED_NS);
	snprintf(fields, sizeof(fields), "Range: bytes=1-2\r\nIf-Range: %s\r\n", tag);
	CU_ASSERT_EQUAL(get("/a.txt", fields), 200);
	CU_ASSERT_TRUE(body_is("a.txt", 0, 26));
	close_static();
}

/* Asks for the large file and takes only what is sent without our reading. */
static void begin_large(void)
{
	end->holds = true;
	hand_send(&hand, end, "GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n");
	for (unsigned i = 0; i < 5; i++)
		hand_turn(&hand);
}

static void a_file_that_shrinks_breaks_the_connection(void)
{
	open_static();
	begin_large();
	end->holds = false;
	CU_ASSERT_EQUAL(truncate(path_of("large.bin"), LARGE_BYTES - 1), 0);
	hand_await(&hand, end, LARGE_BYTES + 1000);
	for (unsigned i = 0; i < 5; i++)
		hand_turn(&hand);
	CU_ASSERT_TRUE(end->closed);
	CU_ASSERT_EQUAL(end->reason, TP_RESET);
	CU_ASSERT_TRUE(hand_has(end, "Content-Length: 300000\r\n"));
	CU_ASSERT_TRUE(end->bytes < LARGE_BYTES);
	close_static();
}

static void of_a_file_that_grows_no_more_is_sent(void)
{
	open_static();
	begin_large();
	end->holds = false;
	write_file("large.bin", LARGE_BYTES + 5000);
	hand_await(&hand, end, LARGE_BYTES + 5000);
	CU_ASSERT_TRUE(body_is("large.bin", 0, LARGE_BYTES));
	CU_ASSERT_EQUAL(get("/large.bin", ""), 200);
	CU_ASSERT_TRUE(hand_has(end, "Content-Length: 305000\r\n"));
	close_static();
}

static void without_descriptors_the_answer_is_503(void)
{
	struct rlimit limit, none;

	open_static();
	CU_ASSERT_EQUAL(get("/a.txt", ""), 200);
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	CU_ASSERT_EQUAL(get("/large.bin", ""), 503);
	CU_ASSERT_EQUAL(get("/a.txt", ""), 200);
	setrlimit(RLIMIT_NOFILE, &limit);
	CU_ASSERT_EQUAL(get("/large.bin", ""), 200);
	CU_ASSERT_EQUAL(hand_counters(&hand, 0)->files_refused, 1);
	close_static();
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void descriptors_are_given_back(void)
{
	unsigned before;

	open_static();
	before = open_descriptors();
	begin_large();
	CU_ASSERT_EQUAL(open_descriptors(), before + 1);
	hand_reset(&hand, end);
	hand_turn(&hand);
	CU_ASSERT_EQUAL(open_descriptors(), before);
	end = hand_connect(&hand, PORT);
	for (unsigned i = 0; i <= LIMIT_FILE_STREAMS; i++)
		CU_ASSERT_EQUAL(get("/large.bin", "Range: bytes=0-0\r\n"), 206);
	close_static();
}

static void descriptors_are_held_within_a_bound(void)
{
	open_static();
	for (unsigned i = 0; i < LIMIT_FILE_STREAMS; i++) {
		begin_large();
		end = hand_connect(&hand, PORT);
	}
	CU_ASSERT_EQUAL(get("/large.bin", ""), 503);
	CU_ASSERT_EQUAL(get("/a.txt", ""), 200);
	CU_ASSERT_EQUAL(hand_counters(&hand, 0)->files_refused, 1);
	hand_reset(&hand, &hand.clients[0]);
	hand_turn(&hand);
	CU_ASSERT_EQUAL(get("/large.bin", ""), 200);
	close_static();
}

static void a_folder_that_is_none_is_refused(void)
{
	struct tp_error error = {""};

	CU_ASSERT_TRUE(spec_judge("static:/nonexistent", &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/nonexistent"));
	CU_ASSERT_TRUE(spec_judge("static:/dev/null", &error) < 0);
	CU_ASSERT_TRUE(spec_judge("static:", &error) < 0);
	CU_ASSERT_TRUE(spec_judge("static", &error) < 0);
	CU_ASSERT_EQUAL(spec_judge("static:/tmp", &error), 0);
}

static const struct suite_test tests[] = {
	{"small and large files come whole", small_and_large_files_come_whole},
	{"files of every size around a piece come whole",
	 files_of_every_size_around_a_piece_come_whole},
	{"a folder is its index", a_folder_is_its_index},
	{"a folder without its slash is elsewhere", a_folder_without_its_slash_is_elsewhere},
	{"a file that is replaced has another tag", a_file_that_is_replaced_has_another_tag},
	{"nothing outside of the folder is served", nothing_outside_of_the_folder_is_served},
	{"links lead within the folder alone", links_lead_within_the_folder_alone},
	{"what is no file is refused at once", what_is_no_file_is_refused_at_once},
	{"methods other than GET and HEAD are told which there are",
	 methods_other_than_get_and_head_are_named},
	{"ranges are parts", ranges_are_parts},
	{"conditions are judged by tag and date", conditions_are_judged_by_tag_and_date},
	{"changed files are seen", changed_files_are_seen},
	{"a file that shrinks breaks the connection", a_file_that_shrinks_breaks_the_connection},
	{"of a file that grows no more is sent", of_a_file_that_grows_no_more_is_sent},
	{"without descriptors the answer is 503", without_descriptors_the_answer_is_503},
	{"descriptors are held within a bound", descriptors_are_held_within_a_bound},
	{"descriptors are given back", descriptors_are_given_back},
	{"a folder that is none is refused", a_folder_that_is_none_is_refused},
};

SUITE_MAIN("static", tests)
