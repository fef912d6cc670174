/* Every response here is also judged at every split of its bytes, in place and in time. */
#include "apps/load/dialect.h"
#include "dataplane/proto/frame.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY = 5, FIRST_ID = 1000 };

#define HEAD "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define LENGTH_5 HEAD "Content-Length: 5\r\n\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"
#define RIGHT LENGTH_5 "ZZZZZ"

static struct talk talk;
static struct verifier *verifier;
static struct verify verify;
static struct failures failures;

static void open_talk(const struct talk_config *given)
{
	static const struct tp_addr server = {.port = 80};
	struct talk_config config = *given;
	struct tp_error error;

	config.dialect = &dialect_http1;
	config.path = "/";
	config.server = &server;
	config.status = config.status ? config.status : 200;
	CU_ASSERT_EQUAL_FATAL(talk_init(&talk, &config, &error), 0);
	verifier = calloc(1, sizeof(*verifier));
}

static void close_talk(void)
{
	free(verifier);
	talk_fini(&talk);
}

/* Forgets all that was received, also the head that was right. */
static void forget(void)
{
	verifier->talk = &talk;
	verifier->failures = &failures;
	verifier->known_bytes = 0;
	memset(&failures, 0, sizeof(failures));
	memset(&verify, 0, sizeof(verify));
}

/* What came of bytes: responses that were right, and how it ended. */
struct outcome {
	unsigned complete;
	enum verify_result last;
	size_t taken;
};

/* Verifies on; `span_count` spans hold what is there now. */
static void visit(struct outcome *outcome, const struct span *spans, unsigned span_count)
{
	struct span_reader reader = span_reader_of(spans, span_count);
	size_t there = reader.left;

	while (reader.left > 0 && outcome->last != VERIFY_WRONG) {
		outcome->last = dialect_http1.verify(verifier, &verify,
						     FIRST_ID + outcome->complete, &reader, 0);
		outcome->complete += outcome->last == VERIFY_COMPLETE;
		if (outcome->last == VERIFY_MORE)
			break;
	}
	outcome->taken += there - reader.left;
}

/* All at once, in two pieces. */
static struct outcome judge_in_place(const char *bytes, size_t count, size_t split)
{
	const uint8_t *base = (const uint8_t *)bytes;
	const struct span spans[] = {{base, split}, {base + split, count - split}};
	struct outcome outcome = {.last = VERIFY_MORE};

	visit(&outcome, spans, 2);
	return outcome;
}

/* One visit each `step` bytes, the first after `first`. */
static struct outcome judge_in_time(const char *bytes, size_t count, size_t first, size_t step)
{
	struct outcome outcome = {.last = VERIFY_MORE};

	for (size_t there = first; outcome.last != VERIFY_WRONG; there += step) {
		if (there > count)
			there = count;
		visit(&outcome,
		      &(struct span){(const uint8_t *)bytes + outcome.taken, there - outcome.taken},
		      1);
		if (there == count)
			break;
	}
	return outcome;
}

struct row {
	const char *bytes;
	unsigned complete;
	enum verify_result last;
	enum failure_kind kind; /* with VERIFY_WRONG */
	const char *says;
};

static void expect(const struct row *row, const struct outcome *outcome)
{
	bool wrong = row->last == VERIFY_WRONG;

	if (outcome->complete == row->complete && outcome->last == row->last &&
	    failures_total(&failures) == wrong &&
	    (!wrong || strstr(failures.text[row->kind], row->says)))
		return;
	printf("# %u right, then %d: '%s'; wanted %u, %d of '%s'\n", outcome->complete,
	       (int)outcome->last, failures.text[row->kind], row->complete, (int)row->last,
	       row->bytes);
	CU_FAIL("another outcome");
}

/* Judges a row at every split. */
static void judge(const struct row *row)
{
	size_t count = strlen(row->bytes);
	struct outcome outcome;

	for (size_t split = 0; split <= count; split++) {
		forget();
		outcome = judge_in_place(row->bytes, count, split);
		expect(row, &outcome);
		forget();
		outcome = judge_in_time(row->bytes, count, split, count);
		expect(row, &outcome);
	}
	forget();
	outcome = judge_in_time(row->bytes, count, 1, 1);
	expect(row, &outcome);
}

static void judge_rows(const struct talk_config *config, const struct row *rows, unsigned count)
{
	open_talk(config);
	for (unsigned i = 0; i < count; i++)
		judge(&rows[i]);
	close_talk();
}

#define JUDGE(config, rows) judge_rows(config, rows, sizeof(rows) / sizeof(rows[0]))

static const struct talk_config fill = {.response_bytes = BODY, .method = HTTP1_GET};

/* --- right responses -------------------------------------------------------------------------- */

static void test_right(void)
{
	static const struct row rows[] = {
		{RIGHT, 1, VERIFY_COMPLETE},
		{RIGHT RIGHT RIGHT, 3, VERIFY_COMPLETE},
		{RIGHT LENGTH_5 "ZZ", 1, VERIFY_MORE},
		{RIGHT HEAD, 1, VERIFY_MORE},
		{"HTTP/1.1 200 \r\ncontent-length:5\r\n\r\nZZZZZ" RIGHT, 2, VERIFY_COMPLETE},
		{"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nZZZZZ", 1,
		 VERIFY_COMPLETE},
	};

	JUDGE(&fill, rows);
}

static void test_chunked(void)
{
	static const struct row rows[] = {
		{CHUNKED "5\r\nZZZZZ\r\n0\r\n\r\n", 1, VERIFY_COMPLETE},
		{CHUNKED "1\r\nZ\r\n0004\r\nZZZZ\r\n0\r\n\r\n" RIGHT, 2, VERIFY_COMPLETE},
		{CHUNKED "2;a=b;c=\"d\"\r\nZZ\r\n3\r\nZZZ\r\n0;e\r\nTrailer: x\r\n\r\n" CHUNKED
			 "5\r\nZZZZZ\r\n0\r\n\r\n",
		 2, VERIFY_COMPLETE},
		{CHUNKED "5\r\nZZZZZ\r\n0\r\n", 0, VERIFY_MORE},
	};

	JUDGE(&fill, rows);
}

static void test_interim(void)
{
	static const struct row rows[] = {
		{"HTTP/1.1 100 Continue\r\n\r\n" RIGHT, 1, VERIFY_COMPLETE},
		{RIGHT "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
		       "HTTP/1.1 100 Continue\r\n\r\n" RIGHT RIGHT,
		 3, VERIFY_COMPLETE},
		{"HTTP/1.1 100 Continue\r\n\r\n", 0, VERIFY_MORE},
		{"HTTP/1.1 101 Switching Protocols\r\n\r\n", 0, VERIFY_WRONG, FAILURE_wrong_head,
		 "switches to another protocol"},
	};
	static const char interim[] = "HTTP/1.1 102 Processing\r\n\r\n";
	char many[40 * sizeof(interim)] = "";

	JUDGE(&fill, rows);
	for (unsigned i = 0; i < 17; i++)
		strcat(many, interim);
	JUDGE(&fill, ((const struct row[]){{many, 0, VERIFY_WRONG, FAILURE_wrong_head,
					    "behind too many interim ones"}}));
	many[0] = '\0';
	for (unsigned i = 0; i < 32; i++) {
		strcat(many, interim);
		strcat(many, i % 16 == 15 ? RIGHT : "");
	}
	JUDGE(&fill, ((const struct row[]){{many, 2, VERIFY_COMPLETE}}));
}

static void test_bodiless(void)
{
	static const struct talk_config head = {.response_bytes = BODY, .method = HTTP1_HEAD};
	static const struct talk_config none = {.response_bytes = BODY, .status = 204};
	static const struct talk_config empty = {.response_bytes = 0};
	static const struct row head_rows[] = {
		{LENGTH_5 LENGTH_5 CHUNKED, 3, VERIFY_COMPLETE},
		{HEAD "\r\n", 1, VERIFY_COMPLETE},
		{HEAD "Content-Length: 6\r\n\r\n", 0, VERIFY_WRONG, FAILURE_wrong_length,
		 "6 bytes, asked for 5"},
		{LENGTH_5 "ZZZZZ", 1, VERIFY_WRONG, FAILURE_wrong_head, "first line is malformed"},
	};
	static const struct row none_rows[] = {
		{"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 2,
		 VERIFY_COMPLETE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 0, VERIFY_WRONG,
		 FAILURE_wrong_status, "the server says 200 OK: hi"},
	};
	static const struct row empty_rows[] = {
		{HEAD "Content-Length: 0\r\n\r\n" CHUNKED "0\r\n\r\n", 2, VERIFY_COMPLETE},
		{RIGHT, 0, VERIFY_WRONG, FAILURE_wrong_length, "5 bytes, asked for 0"},
	};

	JUDGE(&head, head_rows);
	JUDGE(&none, none_rows);
	JUDGE(&empty, empty_rows);
}

static void test_echo(void)
{
	static const struct talk_config config = {
		.answer = TALK_ECHO, .request_bytes = 300, .method = TALK_METHOD_SUITABLE};
	static const char head[] = HEAD "Content-Length: 300\r\n\r\n";
	enum { HEAD_BYTES = sizeof(head) - 1, ALL = 2 * (HEAD_BYTES + 300) };
	char bytes[ALL];
	struct outcome outcome;

	open_talk(&config);
	for (unsigned i = 0; i < 2; i++) {
		memcpy(bytes + i * (ALL / 2), head, HEAD_BYTES);
		memcpy(bytes + i * (ALL / 2) + HEAD_BYTES, bodies_at(&talk.bodies, FIRST_ID + i),
		       300);
	}
	forget();
	outcome = judge_in_time(bytes, ALL, 1, 1);
	CU_ASSERT_EQUAL(outcome.complete, 2);
	forget();
	outcome = judge_in_place(bytes + ALL / 2, ALL / 2, 10);
	CU_ASSERT_EQUAL(outcome.last, VERIFY_WRONG);
	CU_ASSERT_EQUAL(failures.count[FAILURE_wrong_bytes], 1);
	close_talk();
}

/* Longer than what fill bytes are held against at a time, and another file's worth. */
static void test_long(void)
{
	enum { LONG = 100000 };
	static char bytes[256 + LONG];
	char path[] = "/tmp/dialect-XXXXXX";
	struct talk_config config = {.response_bytes = LONG, .method = HTTP1_GET, .file = path};
	int fd = mkstemp(path);
	size_t head_bytes = (size_t)sprintf(bytes, HEAD "Content-Length: %u\r\n\r\n", LONG);

	CU_ASSERT_FATAL(fd >= 0);
	memset(bytes + head_bytes, FRAME_FILL_BYTE, LONG);
	for (unsigned i = 0; i < 2; i++) {
		struct outcome outcome;

		open_talk(&config);
		CU_ASSERT_EQUAL(talk.response_bytes, LONG);
		forget();
		outcome = judge_in_time(bytes, head_bytes + LONG, 1, 30011);
		CU_ASSERT_EQUAL(outcome.complete, 1);
		bytes[head_bytes + LONG - 1] ^= 1;
		forget();
		outcome = judge_in_place(bytes, head_bytes + LONG, 30011);
		CU_ASSERT_EQUAL(outcome.last, VERIFY_WRONG);
		CU_ASSERT_PTR_NOT_NULL(strstr(failures.text[FAILURE_wrong_bytes], "byte 99999 of"));
		close_talk();
		for (unsigned j = 0; j < LONG; j++)
			bytes[head_bytes + j] = (char)(j * 2654435761u >> 13);
		CU_ASSERT_EQUAL(pwrite(fd, bytes + head_bytes, LONG, 0), LONG);
		config.answer = TALK_FILE;
		config.response_bytes = 0;
	}
	close(fd);
	unlink(path);
}

/* --- wrong responses -------------------------------------------------------------------------- */

static void test_status(void)
{
	static const struct row rows[] = {
		{RIGHT "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", 1, VERIFY_WRONG,
		 FAILURE_wrong_status, "connection 0: the server says 404 Not Found: gone"},
		{"HTTP/1.1 500 \x01\xff\r\n\r\n", 0, VERIFY_WRONG, FAILURE_wrong_head,
		 "first line is malformed"},
		{"HTTP/1.1 500 \xe4\r\nContent-Length: 0\r\n\r\n", 0, VERIFY_WRONG,
		 FAILURE_wrong_status, "the server says 500 ?: (no text)"},
		{"HTTP/1.1 503 \r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "2\r\na\n\r\n1\r\nb\r\n0\r\n\r\n",
		 0, VERIFY_WRONG, FAILURE_wrong_status, "the server says 503: a?b"},
		{"HTTP/1.1 301 Moved Permanently\r\nContent-Length: 5\r\n\r\nZZZZZ", 0,
		 VERIFY_WRONG, FAILURE_wrong_status,
		 "the server says 301 Moved Permanently: ZZZZZ"},
		{"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 0, VERIFY_WRONG,
		 FAILURE_wrong_status, "304 Not Modified: (no text)"},
		{"HTTP/1.0 502 Bad Gateway\r\n\r\nno up", 0, VERIFY_MORE},
	};

	JUDGE(&fill, rows);
	open_talk(&fill);
	forget();
	judge_in_time(rows[6].bytes, strlen(rows[6].bytes), 1, 1);
	CU_ASSERT_TRUE(verify.is_error);
	verify_note_error(&verify, 3, &failures);
	CU_ASSERT_STRING_EQUAL(failures.text[FAILURE_wrong_status],
			       "connection 3: the server says 502 Bad Gateway: no up");
	close_talk();
}

static void test_status_cut(void)
{
	char bytes[512] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 200\r\n\r\n";

	open_talk(&fill);
	forget();
	for (unsigned i = 0; i < 200; i++)
		strcat(bytes, i < 120 ? "x" : "Q");
	judge_in_time(bytes, strlen(bytes), 1, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(failures.text[FAILURE_wrong_status], "400 Bad Request: xx"));
	CU_ASSERT_PTR_NULL(strchr(failures.text[FAILURE_wrong_status], 'Q'));
	close_talk();
}

static void test_length(void)
{
	static const struct row rows[] = {
		{RIGHT HEAD "Content-Length: 4\r\n\r\nZZZZ", 1, VERIFY_WRONG, FAILURE_wrong_length,
		 "a response body of 4 bytes, asked for 5"},
		{HEAD "Content-Length: 6\r\n\r\n", 0, VERIFY_WRONG, FAILURE_wrong_length,
		 "a response body of 6 bytes, asked for 5"},
		{HEAD "Content-Length: 9223372036854775807\r\n\r\n", 0, VERIFY_WRONG,
		 FAILURE_wrong_length, "9223372036854775807 bytes"},
		{CHUNKED "2\r\nZZ\r\n2\r\nZZ\r\n0\r\n\r\n", 0, VERIFY_WRONG, FAILURE_wrong_length,
		 "a response body of 4 bytes"},
		{CHUNKED "5\r\nZZZZZ\r\n1\r\n", 0, VERIFY_WRONG, FAILURE_wrong_length,
		 "a response body of 6 bytes"},
		{CHUNKED "7fffffffffffffff\r\n", 0, VERIFY_WRONG, FAILURE_wrong_length,
		 "9223372036854775807 bytes"},
		{HEAD "\r\nZZZZZ", 0, VERIFY_WRONG, FAILURE_wrong_head, "without a length"},
	};

	JUDGE(&fill, rows);
}

static void test_bytes(void)
{
	static const struct row rows[] = {
		{RIGHT LENGTH_5 "ZZZZY", 1, VERIFY_WRONG, FAILURE_wrong_bytes,
		 "byte 4 of a response body is 0x59, wanted 0x5a"},
		{CHUNKED "3\r\nZZZ\r\n2\r\nzZ\r\n", 0, VERIFY_WRONG, FAILURE_wrong_bytes,
		 "byte 3 of a response body is 0x7a"},
	};

	JUDGE(&fill, rows);
}

static void test_malformed(void)
{
	static const struct row rows[] = {
		{RIGHT "ZHTTP/1.1 200 OK\r\n", 1, VERIFY_WRONG, FAILURE_wrong_head,
		 "a malformed response: first line is malformed"},
		{"HTTP/2.0 200 OK\r\n", 0, VERIFY_WRONG, FAILURE_wrong_head, "version of HTTP"},
		{HEAD "Content-Length: 5\r\nContent-Length: 6\r\n\r\nZZZZZ", 0, VERIFY_WRONG,
		 FAILURE_wrong_head, "Content-Length or Transfer-Encoding"},
		{HEAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nZZZZZ", 0,
		 VERIFY_WRONG, FAILURE_wrong_head, "Content-Length or Transfer-Encoding"},
		{HEAD "Broken : x\r\n", 0, VERIFY_WRONG, FAILURE_wrong_head,
		 "field line is malformed"},
		{CHUNKED "5\r\nZZZZZ0\r\n\r\n", 0, VERIFY_WRONG, FAILURE_wrong_head,
		 "chunk is malformed"},
		{CHUNKED "-1\r\n", 0, VERIFY_WRONG, FAILURE_wrong_head, "chunk is malformed"},
	};

	JUDGE(&fill, rows);
}

static void test_closing(void)
{
	static const struct row rows[] = {
		{RIGHT HEAD "Connection: close\r\nContent-Length: 5\r\n\r\nZZZZZ", 1, VERIFY_WRONG,
		 FAILURE_wrong_head,
		 "behind which the server closes the connection; was it told to end, or"},
		{"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nZZZZZ", 0, VERIFY_WRONG,
		 FAILURE_wrong_head,
		 "behind which the server closes the connection; does it bound the requests"},
	};

	JUDGE(&fill, rows);
}

/* A head that does not end is told as soon as it is too large, wherever its pieces end. */
static void test_endless(void)
{
	static char bytes[64 * 1024] = HEAD;
	struct outcome outcome;

	while (strlen(bytes) < 40 * 1024)
		strcat(bytes,
		       "A-Field: of some length, and there are many of them that follow\r\n");
	open_talk(&fill);
	for (size_t split = 0; split < 32 * 1024; split += 997) {
		forget();
		outcome = judge_in_place(bytes, 32 * 1024, split);
		CU_ASSERT_EQUAL(outcome.last, VERIFY_WRONG);
		CU_ASSERT_EQUAL(failures.count[FAILURE_wrong_head], 1);
	}
	forget();
	outcome = judge_in_time(bytes, 32 * 1024, 1, 61);
	CU_ASSERT_EQUAL(outcome.last, VERIFY_WRONG);
	close_talk();
}

/* --- heads that are known --------------------------------------------------------------------- */

/*
 * Behind a right response, one whose head differs in any one byte is judged as if none had been
 * before.
 */
static void expect_nothing_remembered(const char *right)
{
	size_t count = strlen(right);
	char bytes[512];

	for (size_t at = 0; at < count; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			struct outcome behind, alone;
			uint64_t of_kind[FAILURE_KIND_COUNT];

			memcpy(bytes, right, count);
			memcpy(bytes + count, right, count);
			bytes[count + at] = (char)(bytes[count + at] ^ 1 << bit);
			forget();
			alone = judge_in_place(bytes + count, count, 0);
			memcpy(of_kind, failures.count, sizeof(of_kind));
			forget();
			behind = judge_in_place(bytes, 2 * count, count);
			CU_ASSERT_EQUAL(behind.complete, 1 + alone.complete);
			CU_ASSERT_EQUAL(behind.last, alone.last);
			CU_ASSERT_EQUAL(memcmp(of_kind, failures.count, sizeof(of_kind)), 0);
		}
	}
}

static void test_known(void)
{
	open_talk(&fill);
	expect_nothing_remembered(RIGHT);
	CU_ASSERT_EQUAL(verifier->known_bytes, strlen(LENGTH_5));
	expect_nothing_remembered(CHUNKED "5\r\nZZZZZ\r\n0\r\n\r\n");
	CU_ASSERT_EQUAL(verifier->known_bytes, strlen(CHUNKED));
	close_talk();
}

static void test_known_bound(void)
{
	char bytes[2 * VERIFY_KNOWN_BYTES] = HEAD "Content-Length: 5\r\nX: ";
	struct outcome outcome;

	while (strlen(bytes) < VERIFY_KNOWN_BYTES)
		strcat(bytes, "y");
	strcat(bytes, "\r\n\r\nZZZZZ");
	open_talk(&fill);
	forget();
	outcome = judge_in_place(bytes, strlen(bytes), 0);
	CU_ASSERT_EQUAL(outcome.complete, 1);
	CU_ASSERT_EQUAL(verifier->known_bytes, 0);
	close_talk();
}

static const struct suite_test tests[] = {
	{"a right response is right at every split", test_right},
	{"chunks are a body, without extensions and trailers", test_chunked},
	{"interim responses are passed over, but not without end", test_interim},
	{"a response that has no body ends with its head", test_bodiless},
	{"an echo is held against its own request", test_echo},
	{"a long body is held against fill bytes, or a file, to its last byte", test_long},
	{"another status is told in the server's words", test_status},
	{"what a server says of an error is cut", test_status_cut},
	{"another length is told as soon as it is known", test_length},
	{"a changed byte is found", test_bytes},
	{"what is malformed is never guessed at", test_malformed},
	{"a connection that is to be closed is not kept", test_closing},
	{"a head without end is a wrong one", test_endless},
	{"a head is known again by all of its bytes alone", test_known},
	{"a head that is too long to be remembered is read each time", test_known_bound},
};

SUITE_MAIN("dialect http1", tests)
