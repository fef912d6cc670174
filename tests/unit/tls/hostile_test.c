/* Peers that mean harm or are broken: each harms itself alone, and is counted. */
#include "dataplane/core/clock.h"
#include "tests/support/suite.h"
#include "tests/unit/tls/foreign.h"
#include "tests/unit/tls/rig.h"

#include <openssl/err.h>
#include <string.h>

static const struct tp_limits limits = {.conn_max = 256, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static struct foreign foreign;

static const struct tp *server_tp(void)
{
	return world.pair.server;
}

static bool open_for_foreigners(void)
{
	rig_reset();
	rig_client.plain = true;
	return world_open(&world, &limits);
}

/* A foreign client that is connected in one version. */
static bool join_version(int version)
{
	if (!open_for_foreigners())
		return false;
	foreign_open(&foreign);
	SSL_set_min_proto_version(foreign.ssl, version);
	SSL_set_max_proto_version(foreign.ssl, version);
	if (foreign_join(&world, &foreign))
		return true;
	CU_FAIL("no handshake");
	foreign_close(&foreign);
	world_close(&world);
	return false;
}

static void close_all(void)
{
	foreign_close(&foreign);
	world_close(&world);
}

/* --- not TLS at all --- */

static void plaintext_is_turned_away(void)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	struct seen *client;

	if (!open_for_foreigners())
		return;
	client = world_connect(&world);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CONNECTED));
	CU_ASSERT_TRUE(seen_write(client, (const uint8_t *)request, sizeof(request) - 1));
	CU_ASSERT_TRUE(world_until(&world, client, TP_FINISHED));
	tp_finish(client->tp, client->conn);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	CU_ASSERT_EQUAL(world.accepted_count, 0);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "handshakes_failed"), 1);
	world_close(&world);
}

/* Random bytes end in an alert, or wait for more until the handshake's time is over. */
static void random_bytes_are_turned_away(void)
{
	enum { CONNS = 200 };
	uint8_t bytes[600];

	rig_reset();
	rig_server.config.handshake_timeout_ns = 2 * 1000 * 1000;
	rig_server.config.shutdown_timeout_ns = 2 * 1000 * 1000;
	rig_client.plain = true;
	if (!world_open(&world, &limits))
		return;
	for (unsigned i = 0; i < CONNS; i++) {
		struct seen *client = world_connect(&world);

		fill_pattern(bytes, sizeof(bytes), i);
		if (i % 2) /* what looks like a record of a handshake */
			memcpy(bytes, "\x16\x03\x01\x02\x00", 5);
		CU_ASSERT_TRUE(seen_write(client, bytes, sizeof(bytes)));
		CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	}
	CU_ASSERT_EQUAL(world.accepted_count, 0);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "handshakes_failed"), CONNS);
	world_close(&world);
}

static void empty_records_are_bounded(void)
{
	static const uint8_t record[] = {22, 3, 1, 0, 0};
	struct seen *client;
	unsigned sent = 0;

	if (!open_for_foreigners())
		return;
	client = world_connect(&world);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CONNECTED));
	while (!(client->bits & TP_FINISHED) && sent < 1000) {
		sent += seen_write(client, record, sizeof(record));
		world_turn(&world);
	}
	CU_ASSERT_TRUE(sent < 100);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "handshakes_failed"), 1);
	world_close(&world);
}

/* --- bad records on a connection --- */

/* The connection's end as broken, with an alert told; no byte of it was lent. */
static void expect_broken(int alert)
{
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_CLOSED));
	CU_ASSERT_EQUAL(foreign.server->reason, TP_FAILED);
	CU_ASSERT_FALSE(foreign.server->bits & (TP_READABLE | TP_FINISHED));
	CU_ASSERT_EQUAL(foreign_alert(&world, &foreign), alert);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "broken"), 1);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "records_in"), 0);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "truncated"), 0);
}

static void large_record_overflows(void)
{
	static const uint8_t head[] = {23, 3, 3, 0x41, 0x01}; /* 2^14 + 257 bytes */

	if (!join_version(TLS1_3_VERSION))
		return;
	foreign_inject(&foreign, head, sizeof(head));
	expect_broken(SSL_AD_RECORD_OVERFLOW);
	close_all();
}

static void wrong_type_is_unexpected(void)
{
	static const uint8_t record[] = {99, 3, 3, 0, 1, 0};

	if (!join_version(TLS1_3_VERSION))
		return;
	foreign_inject(&foreign, record, sizeof(record));
	expect_broken(SSL_AD_UNEXPECTED_MESSAGE);
	close_all();
}

/* A byte of a sealed record changes on its way: the first, one within, the last. */
static void flip_one(int version, unsigned place)
{
	static const uint8_t secret[1000] = "secret";
	uint8_t sealed[2000];
	int bytes;

	if (!join_version(version))
		return;
	CU_ASSERT_EQUAL(SSL_write(foreign.ssl, secret, sizeof(secret)), sizeof(secret));
	bytes = BIO_read(foreign.out, sealed, sizeof(sealed));
	CU_ASSERT_TRUE(bytes > (int)sizeof(secret));
	sealed[place == 0 ? 5 : place == 1 ? 500 : bytes - 1] ^= 1;
	foreign_inject(&foreign, sealed, (size_t)bytes);
	expect_broken(SSL_AD_BAD_RECORD_MAC);
	close_all();
}

static void flipped_byte_releases_nothing(void)
{
	for (unsigned place = 0; place < 3; place++) {
		flip_one(TLS1_2_VERSION, place);
		flip_one(TLS1_3_VERSION, place);
	}
}

/* --- truncation --- */

static void cut(bool reset)
{
	static const uint8_t bytes[50];

	if (!join_version(TLS1_3_VERSION))
		return;
	CU_ASSERT_EQUAL(SSL_write(foreign.ssl, bytes, sizeof(bytes)), sizeof(bytes));
	foreign_turn(&world, &foreign);
	if (reset)
		tp_abort(foreign.seen->tp, foreign.seen->conn);
	else
		tp_finish(foreign.seen->tp, foreign.seen->conn);
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_READABLE | TP_CLOSED));
	CU_ASSERT_EQUAL(foreign.server->reason, TP_RESET);
	CU_ASSERT_FALSE(foreign.server->bits & TP_FINISHED);
	CU_ASSERT_EQUAL(seen_readable(foreign.server), sizeof(bytes));
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "truncated"), !reset);
	close_all();
}

static void end_without_notify_is_truncation(void)
{
	cut(false);
	cut(true);
}

static void close_notify_is_an_end(void)
{
	if (!join_version(TLS1_2_VERSION))
		return;
	SSL_shutdown(foreign.ssl);
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_FINISHED));
	CU_ASSERT_FALSE(foreign.server->bits & TP_CLOSED);
	tp_finish(foreign.server->tp, foreign.server->conn);
	CU_ASSERT_EQUAL(foreign_alert(&world, &foreign), SSL_AD_CLOSE_NOTIFY);
	tp_finish(foreign.seen->tp, foreign.seen->conn);
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_CLOSED));
	CU_ASSERT_EQUAL(foreign.server->reason, TP_DONE);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "truncated"), 0);
	close_all();
}

/* Who does not answer our end is not waited for, but may still read what was sent. */
static void silent_peer_is_left(void)
{
	static uint8_t bytes[60000], back[sizeof(bytes)];
	size_t received = 0;
	int step;

	rig_reset();
	rig_client.plain = true;
	rig_server.config.shutdown_timeout_ns = 3 * 1000 * 1000;
	if (!world_open(&world, &limits))
		return;
	foreign_open(&foreign);
	CU_ASSERT_TRUE_FATAL(foreign_join(&world, &foreign));
	fill_pattern(bytes, sizeof(bytes), 6);
	CU_ASSERT_TRUE(seen_write(foreign.server, bytes, sizeof(bytes)));
	tp_finish(foreign.server->tp, foreign.server->conn);
	CU_ASSERT_TRUE(world_until(&world, foreign.server, TP_CLOSED));
	CU_ASSERT_EQUAL(foreign.server->reason, TP_TIMEOUT);
	world_idle(&world);
	foreign_turn(&world, &foreign);
	while ((step = SSL_read(foreign.ssl, back + received, 16384)) > 0)
		received += (size_t)step;
	CU_ASSERT_EQUAL(received, sizeof(bytes));
	CU_ASSERT_EQUAL(memcmp(bytes, back, sizeof(bytes)), 0);
	CU_ASSERT_EQUAL(foreign.alert, SSL_AD_CLOSE_NOTIFY);
	tp_finish(foreign.seen->tp, foreign.seen->conn);
	CU_ASSERT_TRUE(world_until(&world, foreign.seen, TP_CLOSED));
	CU_ASSERT_EQUAL(foreign.seen->reason, TP_DONE);
	close_all();
}

/* A peer that goes on sending after our end is not waited for without bound. */
static void dribbling_peer_is_left(void)
{
	uint64_t deadline = clock_now_ns() + 20 * CLOCK_SECOND_NS;
	uint8_t byte;

	rig_reset();
	rig_client.plain = true;
	rig_server.config.shutdown_timeout_ns = 5 * CLOCK_MS_NS;
	if (!world_open(&world, &limits))
		return;
	foreign_open(&foreign);
	CU_ASSERT_TRUE_FATAL(foreign_join(&world, &foreign));
	tp_finish(foreign.server->tp, foreign.server->conn);
	while (!(foreign.server->bits & TP_CLOSED) && clock_now_ns() < deadline) {
		SSL_write(foreign.ssl, "x", 1);
		foreign_turn(&world, &foreign);
		seen_read(foreign.server, &byte, 1);
	}
	CU_ASSERT_TRUE(foreign.server->bits & TP_CLOSED);
	CU_ASSERT_EQUAL(foreign.server->reason, TP_TIMEOUT);
	close_all();
}

/* What comes behind a peer's end is taken from the stack to the last byte, and dropped. */
static void nothing_behind_the_end_stays(void)
{
	static const uint8_t more[16384];

	rig_reset();
	rig_client.plain = true;
	rig_server.in_crumbs = true;
	if (!world_open(&world, &limits))
		return;
	foreign_open(&foreign);
	CU_ASSERT_TRUE_FATAL(foreign_join(&world, &foreign));
	SSL_shutdown(foreign.ssl);
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_FINISHED));
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_TRUE(seen_commit(foreign.seen, more, sizeof(more)));
	world_idle(&world);
	CU_ASSERT_EQUAL(rig_consumed_bytes, world_counters(server_tp()).received_bytes);
	close_all();
}

/* --- messages behind the handshake --- */

static void key_updates_are_bounded(void)
{
	enum { FEW = 5, MANY = 500 };
	struct tp_fault fault;

	if (!join_version(TLS1_3_VERSION))
		return;
	for (unsigned i = 0; i < FEW; i++) {
		CU_ASSERT_TRUE(SSL_key_update(foreign.ssl, SSL_KEY_UPDATE_REQUESTED));
		CU_ASSERT_EQUAL(SSL_write(foreign.ssl, "x", 1), 1);
		foreign_turn(&world, &foreign);
	}
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_READABLE));
	CU_ASSERT_EQUAL(seen_readable(foreign.server), FEW);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "key_updates"), FEW);
	for (unsigned i = 0; i < MANY && !(foreign.server->bits & TP_CLOSED); i++) {
		SSL_key_update(foreign.ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
		SSL_do_handshake(foreign.ssl);
	}
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_CLOSED));
	CU_ASSERT_TRUE(rig_detail(server_tp(), "key_updates") < 100);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "broken"), 1);
	fault = tp_fault_of(server_tp(), foreign.server->conn);
	CU_ASSERT_PTR_NOT_NULL_FATAL(fault.text);
	CU_ASSERT_STRING_EQUAL(fault.text, "too many KeyUpdates");
	CU_ASSERT_FALSE(fault.is_trust);
	close_all();
}

static void renegotiation_is_refused(void)
{
	if (!join_version(TLS1_2_VERSION))
		return;
	CU_ASSERT_TRUE(SSL_renegotiate(foreign.ssl));
	SSL_do_handshake(foreign.ssl);
	CU_ASSERT_EQUAL(foreign_alert(&world, &foreign), SSL_AD_NO_RENEGOTIATION);
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "handshakes"), 1);
	close_all();
}

/* --- neighbours --- */

/* A connection breaks and OpenSSL's queue is full of it; no other connection hears of that. */
static void others_do_not_suffer(void)
{
	enum { GOOD = 100 };
	static const uint8_t garbage[] = "\x17\x03\x03\x00\x20this is not what was agreed upon";
	struct seen *clients[GOOD];
	struct tp *ours, *strange;
	uint8_t bytes[64] = {7}, back[64];

	rig_reset();
	if (!world_open(&world, &limits))
		return;
	for (unsigned i = 0; i < GOOD; i++) {
		struct seen *server;

		CU_ASSERT_TRUE_FATAL(world_join(&world, &clients[i], &server));
	}
	ours = world.pair.client;
	rig_client.plain = true;
	CU_ASSERT_EQUAL(rig_reopen_client(&world.pair, &limits), 0);
	strange = world.pair.client;
	foreign_open(&foreign);
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	foreign_inject(&foreign, garbage, sizeof(garbage) - 1);
	for (unsigned i = 0; i < GOOD; i++)
		CU_ASSERT_TRUE(seen_write(world.accepted[i], bytes, sizeof(bytes)));
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_CLOSED));
	world.pair.client = ours;
	for (unsigned i = 0; i < GOOD; i++) {
		ERR_raise(ERR_LIB_SSL, SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC);
		CU_ASSERT_TRUE(world_read(&world, clients[i], back, sizeof(back)));
		CU_ASSERT_TRUE(seen_write(clients[i], bytes, sizeof(bytes)));
		CU_ASSERT_TRUE(world_read(&world, world.accepted[i], back, sizeof(back)));
		CU_ASSERT_FALSE((clients[i]->bits | world.accepted[i]->bits) & TP_CLOSED);
	}
	CU_ASSERT_EQUAL(rig_detail(server_tp(), "broken"), 1);
	strange->ops->close(strange);
	close_all();
}

static const struct suite_test tests[] = {
	{"plaintext on the TLS port is turned away", plaintext_is_turned_away},
	{"random bytes are turned away", random_bytes_are_turned_away},
	{"empty records are bounded", empty_records_are_bounded},
	{"a record that is too large breaks its connection", large_record_overflows},
	{"a record of an unknown type breaks its connection", wrong_type_is_unexpected},
	{"a flipped byte breaks its connection and releases nothing",
	 flipped_byte_releases_nothing},
	{"an end without close_notify is a truncation", end_without_notify_is_truncation},
	{"close_notify ends one side", close_notify_is_an_end},
	{"a peer that does not answer our end is left", silent_peer_is_left},
	{"a peer that goes on sending after our end is left", dribbling_peer_is_left},
	{"nothing that comes behind a peer's end stays", nothing_behind_the_end_stays},
	{"KeyUpdates are taken, but not without bound", key_updates_are_bounded},
	{"renegotiation is refused", renegotiation_is_refused},
	{"a broken connection does not harm the others", others_do_not_suffer},
};

SUITE_MAIN("tls hostile", tests)
