/*
 * Servers that mean harm or are broken, against our client: each costs its own connection one
 * CLOSED with a fault in words, in bounded time, and a neighbour nothing.
 */
#include "dataplane/core/clock.h"
#include "tests/support/suite.h"
#include "tests/unit/tls/foreign.h"
#include "tests/unit/tls/rig.h"

#include <string.h>

enum { FLIGHT_BYTES = 4096, HEAD = 5 };

static const struct tp_limits limits = {.conn_max = 256, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static struct foreign foreign, neighbour;

/* --- a client with an honest connection beside --- */

static bool open_beside(enum tls_version version, uint64_t timeout_ns)
{
	rig_reset();
	rig_server.plain = true;
	rig_client.config.version_min = rig_client.config.version_max = version;
	rig_client.config.handshake_timeout_ns = timeout_ns;
	if (!world_open(&world, &limits))
		return false;
	foreign_open_server(&neighbour);
	CU_ASSERT_TRUE(foreign_accept(&world, &neighbour));
	foreign_open_server(&foreign);
	return true;
}

/* The neighbour still carries bytes both ways; then all is closed. */
static void close_beside(void)
{
	static const uint8_t there[100] = {1};
	uint8_t back[sizeof(there)];
	int received = 0;

	CU_ASSERT_EQUAL(SSL_write(neighbour.ssl, there, sizeof(there)), sizeof(there));
	CU_ASSERT_TRUE(foreign_until(&world, &neighbour, TP_READABLE));
	CU_ASSERT_EQUAL(seen_read(neighbour.server, back, sizeof(back)), sizeof(there));
	CU_ASSERT_TRUE(seen_write(neighbour.server, back, sizeof(back)));
	for (unsigned i = 0; i < 1000 && received <= 0; i++) {
		foreign_turn(&world, &neighbour);
		received = SSL_read(neighbour.ssl, back, sizeof(back));
	}
	CU_ASSERT_EQUAL(received, sizeof(there));
	CU_ASSERT_EQUAL(memcmp(there, back, sizeof(there)), 0);
	CU_ASSERT_FALSE(neighbour.server->bits & (TP_CLOSED | TP_FINISHED));
	foreign_close(&foreign);
	foreign_close(&neighbour);
	world_close(&world);
}

static const char *fault_text(void)
{
	const char *text = tp_fault_of(foreign.server->tp, foreign.server->conn).text;

	return text ? text : "";
}

/* The client's end of the foreign connection has ended once, for this reason and in words. */
static void expect_end(enum tp_reason reason, const char *words)
{
	CU_ASSERT_TRUE_FATAL(world_until(&world, foreign.server, TP_CLOSED));
	CU_ASSERT_STRING_EQUAL(tp_reason_name(foreign.server->reason), tp_reason_name(reason));
	CU_ASSERT_PTR_NOT_NULL(strstr(fault_text(), words));
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(foreign.server, TP_CLOSED), 1);
}

/* Likewise, before its handshake was complete. */
static void expect_no_handshake(enum tp_reason reason, const char *words)
{
	expect_end(reason, words);
	CU_ASSERT_FALSE(foreign.server->bits & TP_CONNECTED);
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "handshakes"), 1);
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "handshakes_failed"), 1);
}

/* --- instead of a ServerHello --- */

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void other_bytes_are_refused(void)
{
	static const struct {
		const uint8_t *bytes;
		size_t count;
		enum tp_reason reason;
		const char *words;
	} answers[] = {
		{BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"), TP_FAILED,
		 "wrong version number; do both sides speak TLS, or neither?"},
		{BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"), TP_FAILED, "wrong version number"},
		{BYTES("\x16\x03\x03\xff\xff"), TP_FAILED, "packet length too long"},
		{BYTES("\x16\x03\x03\x00\x05\x02\xff\xff\xff\xff"), TP_FAILED,
		 "excessive message size"},
		{BYTES("\x17\x03\x03\x00\x01x"), TP_FAILED, ""},
		{BYTES("\x15\x03\x03\x00\x02\x02\x28"), TP_RESET,
		 "alert handshake failure: the two sides have no version, cipher or certificate"},
	};

	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (!open_beside(TLS_1_3, 0))
			return;
		CU_ASSERT_TRUE_FATAL(foreign_meet(&world, &foreign));
		CU_ASSERT_TRUE(seen_write(foreign.seen, answers[i].bytes, answers[i].count));
		expect_no_handshake(answers[i].reason, answers[i].words);
		CU_ASSERT_TRUE(fault_text()[0]);
		close_beside();
	}
}

/* --- in the middle of a handshake --- */

/* A server's first flight under TLS 1.2, where nothing of it is sealed; how long it is. */
static size_t take_flight(uint8_t flight[FLIGHT_BYTES])
{
	int bytes;

	CU_ASSERT_TRUE_FATAL(foreign_meet(&world, &foreign));
	foreign_turn(&world, &foreign);
	foreign_turn(&world, &foreign);
	SSL_do_handshake(foreign.ssl);
	bytes = BIO_read(foreign.out, flight, FLIGHT_BYTES);
	CU_ASSERT_TRUE_FATAL(bytes > 0);
	return (size_t)bytes;
}

/* The certificate breaks off at any place, and the connection with it. */
static void cut_flight_is_no_handshake(void)
{
	enum { STEP = 61 };
	uint8_t flight[FLIGHT_BYTES];
	size_t bytes = 1;

	for (size_t at = 0; at < bytes; at += STEP) {
		if (!open_beside(TLS_1_2, 0))
			return;
		bytes = take_flight(flight);
		if (at > 0)
			CU_ASSERT_TRUE(seen_write(foreign.seen, flight, at));
		tp_finish(foreign.seen->tp, foreign.seen->conn);
		expect_no_handshake(TP_RESET, "ended within the handshake; do both sides");
		close_beside();
	}
	CU_ASSERT_TRUE(bytes > 5 * STEP);
}

/* The message is whole and says that its certificate is a byte shorter than it is. */
static void short_certificate_is_no_certificate(void)
{
	uint8_t flight[FLIGHT_BYTES];
	size_t bytes, at = 0;

	if (!open_beside(TLS_1_2, 0))
		return;
	bytes = take_flight(flight);
	while (at < bytes && flight[at + HEAD] != SSL3_MT_CERTIFICATE)
		at += HEAD + (size_t)(flight[at + 3] << 8 | flight[at + 4]);
	CU_ASSERT_TRUE_FATAL(at < bytes);
	flight[at + HEAD + 4 + 3 + 2]--; /* behind the message's head and the list's length */
	CU_ASSERT_TRUE(seen_write(foreign.seen, flight, bytes));
	expect_no_handshake(TP_FAILED, "too long");
	close_beside();
}

/* Whoever answers a byte at a time has the handshake's time and no more. */
static void dribbled_answer_is_late(void)
{
	const uint64_t timeout_ns = 50 * CLOCK_MS_NS;
	uint8_t flight[FLIGHT_BYTES];
	uint64_t start_ns = clock_now_ns(), next_ns = start_ns;
	size_t bytes, at = 0;

	if (!open_beside(TLS_1_2, timeout_ns))
		return;
	bytes = take_flight(flight);
	while (!(foreign.server->bits & TP_CLOSED) && at < bytes) {
		if (clock_now_ns() >= next_ns) {
			CU_ASSERT_TRUE(seen_write(foreign.seen, &flight[at++], 1));
			next_ns = clock_now_ns() + CLOCK_MS_NS;
		}
		world_turn(&world);
	}
	CU_ASSERT_TRUE(clock_now_ns() - start_ns < CLOCK_SECOND_NS);
	expect_no_handshake(TP_TIMEOUT, "took too long");
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "handshakes_late"), 1);
	close_beside();
}

static void reset_is_no_handshake(void)
{
	if (!open_beside(TLS_1_3, 0))
		return;
	CU_ASSERT_TRUE_FATAL(foreign_meet(&world, &foreign));
	tp_abort(foreign.seen->tp, foreign.seen->conn);
	CU_ASSERT_TRUE(world_until(&world, foreign.server, TP_CLOSED));
	CU_ASSERT_EQUAL(foreign.server->reason, TP_RESET);
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "handshakes_failed"), 1);
	close_beside();
}

/* --- behind the handshake --- */

static bool accept_beside(enum tls_version version)
{
	if (!open_beside(version, 0))
		return false;
	CU_ASSERT_TRUE_FATAL(foreign_accept(&world, &foreign));
	return true;
}

static void end_in_the_middle_is_truncation(void)
{
	if (!accept_beside(TLS_1_3))
		return;
	tp_finish(foreign.seen->tp, foreign.seen->conn);
	expect_end(TP_RESET, "ended without close_notify");
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "truncated"), 1);
	close_beside();
}

static void oversized_record_breaks(void)
{
	static const uint8_t head[] = {23, 3, 3, 0x41, 0x01}; /* 2^14 + 257 bytes */

	if (!accept_beside(TLS_1_3))
		return;
	foreign_inject(&foreign, head, sizeof(head));
	foreign_turn(&world, &foreign);
	expect_end(TP_FAILED, "length too long");
	CU_ASSERT_EQUAL(foreign_alert(&world, &foreign), SSL_AD_RECORD_OVERFLOW);
	close_beside();
}

/* RFC 5246, section 7.4.1.1: a HelloRequest may be refused; OpenSSL's server then gives up. */
static void renegotiation_is_refused(void)
{
	if (!accept_beside(TLS_1_2))
		return;
	CU_ASSERT_TRUE(SSL_renegotiate(foreign.ssl));
	SSL_do_handshake(foreign.ssl);
	CU_ASSERT_EQUAL(foreign_alert(&world, &foreign), SSL_AD_NO_RENEGOTIATION);
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "handshakes"), 2);
	CU_ASSERT_FALSE(foreign.server->bits & TP_CLOSED);
	tp_finish(foreign.seen->tp, foreign.seen->conn);
	expect_end(TP_RESET, "ended without close_notify");
	close_beside();
}

static void key_update_flood_breaks(void)
{
	enum { MANY = 500 };

	if (!accept_beside(TLS_1_3))
		return;
	for (unsigned i = 0; i < MANY; i++) {
		SSL_key_update(foreign.ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
		SSL_do_handshake(foreign.ssl);
	}
	foreign_turn(&world, &foreign);
	expect_end(TP_FAILED, "too many KeyUpdates");
	CU_ASSERT_TRUE(rig_detail(world.pair.client, "key_updates") < 100);
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "broken"), 1);
	close_beside();
}

static const struct suite_test tests[] = {
	{"what is no ServerHello ends the handshake", other_bytes_are_refused},
	{"a flight cut short at any place is no handshake", cut_flight_is_no_handshake},
	{"a certificate shorter than it says is none", short_certificate_is_no_certificate},
	{"an answer that dribbles in is late", dribbled_answer_is_late},
	{"a reset within the handshake ends it", reset_is_no_handshake},
	{"an end without close_notify is a truncation", end_in_the_middle_is_truncation},
	{"a record that is too large breaks its connection", oversized_record_breaks},
	{"renegotiation is refused", renegotiation_is_refused},
	{"a flood of KeyUpdates breaks its connection", key_update_flood_breaks},
};

SUITE_MAIN("tls hostile server", tests)
