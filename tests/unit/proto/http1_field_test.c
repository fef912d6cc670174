#include "tests/support/suite.h"
#include "tests/unit/proto/http1_judge.h"

#include <string.h>

static void takes_field_lines_as_they_must_be(void)
{
	static const struct http1_verdict cases[] = {
		{LINE HOST "A:\r\n" END, HTTP1_OK},
		{LINE HOST "A: \t b\x80\xFF c \t\r\n" END, HTTP1_OK},
		{LINE HOST "!#$%&'*+-.^_`|~09azAZ: x\r\n" END, HTTP1_OK},
		{LINE HOST "A:::\r\n" END, HTTP1_OK},
		{LINE HOST "A : b", HTTP1_BAD_FIELD},
		{LINE HOST "A\t: b", HTTP1_BAD_FIELD},
		{LINE HOST " A: b", HTTP1_BAD_FIELD},
		{LINE " A: b", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\r\n c\r\n", HTTP1_BAD_FIELD}, /* obs-fold */
		{LINE HOST "A: b\r\n\tc\r\n", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\r\n \r\n", HTTP1_BAD_FIELD},
		{LINE HOST ": b", HTTP1_BAD_FIELD},
		{LINE HOST "A\r\n", HTTP1_BAD_FIELD},
		{LINE HOST "A b: c", HTTP1_BAD_FIELD},
		{LINE HOST "A(: c", HTTP1_BAD_FIELD},
		{LINE HOST "A\x80: c", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\n", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\rc\r\n", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\r\r\n", HTTP1_BAD_FIELD},
		{LINE HOST "A: \x7F", HTTP1_BAD_FIELD},
		{LINE HOST "A: \x0B", HTTP1_BAD_FIELD},
		{LINE HOST "\n", HTTP1_BAD_FIELD},
		{LINE HOST "\r\r", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\r", HTTP1_MORE},
		{LINE HOST "\r", HTTP1_MORE},
	};
	static const char nul_in_name[] = LINE "A\0: b", nul_in_value[] = LINE "A: b\0";
	static const char nul_in_target[] = "GET /\0";
	const struct http1_fed *fed;

	http1_judge_all(cases, COUNT(cases));
	http1_judge(nul_in_name, sizeof(nul_in_name) - 1, HTTP1_BAD_FIELD);
	http1_judge(nul_in_value, sizeof(nul_in_value) - 1, HTTP1_BAD_FIELD);
	http1_judge(nul_in_target, sizeof(nul_in_target) - 1, HTTP1_BAD_LINE);
	fed = http1_feed_text(cases[1].text);
	CU_ASSERT(http1_is_text(fed->request.fields[1].value, "b\x80\xFF c"));
}

/* Every byte at every place of a head: those that may stand there are known to the grammar. */
static void refuses_control_bytes_everywhere(void)
{
	static const char text[] = LINE "Host: a\r\nName: value\r\n" END;

	for (size_t place = 0; place < sizeof(text) - 1; place++) {
		for (int c = 0; c < 0x20; c++) {
			char changed[sizeof(text)];
			struct http1_fed fed = {0};
			bool is_space_or_same;

			memcpy(changed, text, sizeof(text));
			is_space_or_same = changed[place] == c || c == '\t';
			changed[place] = (char)c;
			http1_feed_request((const uint8_t *)changed, sizeof(text) - 1,
					   &http1_feed_limits, &fed);
			if (!is_space_or_same)
				CU_ASSERT(fed.status > HTTP1_MORE);
		}
	}
}

static void takes_content_length_as_digits_alone(void)
{
	static const struct http1_verdict cases[] = {
		{" 0", HTTP1_OK},
		{"5 ", HTTP1_OK},
		{" 010", HTTP1_OK},
		{"9223372036854775807", HTTP1_OK},
		{"9223372036854775808", HTTP1_BAD_FRAMING},
		{"18446744073709551616", HTTP1_BAD_FRAMING},
		{"00000000000000000005", HTTP1_BAD_FRAMING},
		{"", HTTP1_BAD_FRAMING},
		{"+1", HTTP1_BAD_FRAMING},
		{"-1", HTTP1_BAD_FRAMING},
		{"0x10", HTTP1_BAD_FRAMING},
		{"1_0", HTTP1_BAD_FRAMING},
		{"1 0", HTTP1_BAD_FRAMING},
		{"1Z", HTTP1_BAD_FRAMING},
		{"5, 5", HTTP1_BAD_FRAMING},
		{"5,", HTTP1_BAD_FRAMING},
		{"1.0", HTTP1_BAD_FRAMING},
		{"\"5\"", HTTP1_BAD_FRAMING},
		{"5;", HTTP1_BAD_FRAMING},
		{"\t5", HTTP1_BAD_FRAMING},
		{"5\t", HTTP1_BAD_FRAMING},
		{" \t 5", HTTP1_BAD_FRAMING},
		{"5 \t ", HTTP1_BAD_FRAMING},
		{"\t", HTTP1_BAD_FRAMING},
	};
	static const struct http1_verdict twice[] = {
		{LINE "Content-Length: 5\r\ncontent-length: 5\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\nContent-Length: 6\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\n\r\n", HTTP1_BAD_HOST},
	};

	http1_judge_values("CONTENT-length", cases, COUNT(cases));
	http1_judge_all(twice, COUNT(twice));
	CU_ASSERT_EQUAL(http1_feed_text(LINE HOST "Content-Length: 9223372036854775807\r\n" END)
				->request.framing.length_bytes,
			INT64_MAX);
	CU_ASSERT_FALSE(http1_feed_text(LINE HOST END)->request.framing.has_length);
}

static void takes_transfer_encoding_as_chunked_alone(void)
{
	static const struct http1_verdict cases[] = {
		{"chunked", HTTP1_OK},
		{"  Chunked ", HTTP1_OK},
		{"\tchunked", HTTP1_BAD_FRAMING},
		{"chunked\t", HTTP1_BAD_FRAMING},
		{"chunked \t ", HTTP1_BAD_FRAMING},
		{"gzip\t", HTTP1_CODING_UNKNOWN},
		{"", HTTP1_BAD_FRAMING},
		{"xchunked", HTTP1_CODING_UNKNOWN},
		{"identity", HTTP1_CODING_UNKNOWN},
		{"gzip, chunked", HTTP1_CODING_UNKNOWN},
		{"chunked, cow", HTTP1_CODING_UNKNOWN},
		{"chunked, chunked", HTTP1_BAD_FRAMING},
		{",chunked", HTTP1_BAD_FRAMING},
		{"chunked,", HTTP1_BAD_FRAMING},
		{"chunked;a=b", HTTP1_BAD_FRAMING},
		{"chunked chunked", HTTP1_BAD_FRAMING},
		{"\"chunked\"", HTTP1_BAD_FRAMING},
		{"chunked\x0B", HTTP1_BAD_FIELD},
	};
	static const struct http1_verdict wholes[] = {
		{LINE "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
		 HTTP1_BAD_FRAMING},
		{LINE "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n", HTTP1_BAD_FRAMING},
		{"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", HTTP1_BAD_FRAMING},
		{LINE HOST "Transfer_Encoding: cow\r\n" END, HTTP1_OK},
	};

	http1_judge_values("transfer-ENCODING", cases, COUNT(cases));
	http1_judge_all(wholes, COUNT(wholes));
	CU_ASSERT(http1_feed_text(LINE HOST "Transfer-Encoding: chunked\r\n" END)
			  ->request.framing.chunked);
}

static void keeps_alive_as_told(void)
{
	static const struct {
		const char *value;
		bool by_1_1, by_1_0;
	} cases[] = {
		{"", true, false},
		{"close", false, false},
		{"CLOSE", false, false},
		{"Keep-Alive", true, true},
		{"upgrade, keep-alive", true, true},
		{"keep-alive , close", false, false},
		{",,close,", false, false},
		{"closed", true, false},
		{"x-close", true, false},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[200];

		snprintf(text, sizeof(text), LINE HOST "Connection: %s\r\n" END, cases[i].value);
		CU_ASSERT_EQUAL(http1_feed_text(text)->request.framing.keep_alive, cases[i].by_1_1);
		text[strlen("GET / HTTP/1.")] = '0';
		CU_ASSERT_EQUAL(http1_feed_text(text)->request.framing.keep_alive, cases[i].by_1_0);
	}
	CU_ASSERT_FALSE(
		http1_feed_text(LINE HOST "Connection: keep-alive\r\nconnection: close\r\n" END)
			->request.framing.keep_alive);
}

static void knows_what_is_expected(void)
{
	static const struct http1_verdict cases[] = {
		{LINE "Expect: 200-ok\r\n", HTTP1_EXPECTATION},
		{LINE "Expect:\r\n", HTTP1_EXPECTATION},
		{LINE "Expect: 100-continue, 100-continue\r\n", HTTP1_EXPECTATION},
		{LINE "Expect: 100-continue\r\nEXPECT: 100-continue\r\n", HTTP1_BAD_FIELD},
		{"GET / HTTP/1.0\r\nExpect: 200-ok\r\n" END, HTTP1_OK},
		{"GET / HTTP/1.0\r\nExpect: 200-ok\r\nExpect: a\r\n", HTTP1_BAD_FIELD},
	};

	http1_judge_all(cases, COUNT(cases));
	CU_ASSERT(http1_feed_text(LINE HOST "Expect: 100-Continue\r\n" END)
			  ->request.expects_continue);
	CU_ASSERT_FALSE(http1_feed_text("GET / HTTP/1.0\r\nExpect: 100-continue\r\n" END)
				->request.expects_continue);
}

static const struct suite_test tests[] = {
	{"field lines are taken as the grammar has them and in no other way",
	 takes_field_lines_as_they_must_be},
	{"a control byte is refused at every place", refuses_control_bytes_everywhere},
	{"Content-Length is digits alone, once, within 63 bits",
	 takes_content_length_as_digits_alone},
	{"Transfer-Encoding is chunked alone, once, and not beside a length",
	 takes_transfer_encoding_as_chunked_alone},
	{"Connection decides what follows, or else the version", keeps_alive_as_told},
	{"100-continue is expected by HTTP/1.1 alone", knows_what_is_expected},
};

SUITE_MAIN("http1_field", tests)
