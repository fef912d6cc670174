/* Hellos that want more than a server gives: old and foreign tickets, other shares, early data. */
#include "tests/support/suite.h"
#include "tests/unit/tls/foreign.h"
#include "tests/unit/tls/rig.h"

#include <string.h>
#include <time.h>

static const struct tp_limits limits = {.conn_max = 64, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static struct foreign foreign;

/* Stands before the C library's, for OpenSSL too: what is added to the time of day. */
static time_t clock_ahead_s;

time_t time(time_t *now_out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += clock_ahead_s;
	if (now_out)
		*now_out = now.tv_sec;
	return now.tv_sec;
}

static bool open_for_foreigners(const char *groups)
{
	clock_ahead_s = 0;
	rig_reset();
	rig_server.config.groups = groups;
	rig_client.plain = true;
	return world_open(&world, &limits);
}

static void open_version(int version)
{
	foreign_open(&foreign);
	SSL_set_min_proto_version(foreign.ssl, version);
	SSL_set_max_proto_version(foreign.ssl, version);
}

static void close_all(void)
{
	foreign_close(&foreign);
	world_close(&world);
}

/* --- tickets --- */

/* A session that our server sealed a ticket for; NULL without one. */
static SSL_SESSION *take_session(int version)
{
	SSL_SESSION *session = NULL;
	uint8_t byte;

	open_version(version);
	if (foreign_join(&world, &foreign)) {
		foreign_turn(&world, &foreign);
		SSL_read(foreign.ssl, &byte, 1);
		session = SSL_get1_session(foreign.ssl);
		/* OpenSSL resumes no session of a connection that ended in disorder. */
		SSL_set_shutdown(foreign.ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	}
	CU_ASSERT_TRUE(session && SSL_SESSION_has_ticket(session));
	foreign_close(&foreign);
	return session;
}

/* The same session with one bit of its ticket changed. */
static SSL_SESSION *with_flipped(SSL_SESSION *session, size_t place)
{
	const uint8_t *ticket, *at;
	uint8_t image[8192], *end = image, *found;
	size_t bytes;

	SSL_SESSION_get0_ticket(session, &ticket, &bytes);
	CU_ASSERT_TRUE_FATAL(place < bytes && i2d_SSL_SESSION(session, NULL) <= (int)sizeof(image));
	i2d_SSL_SESSION(session, &end);
	found = memmem(image, (size_t)(end - image), ticket, bytes);
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	found[place] ^= 1;
	at = image;
	SSL_SESSION_free(session);
	return d2i_SSL_SESSION(NULL, &at, end - image);
}

/* Offers a session, which is used up; whether it was resumed. The handshake succeeds anyway. */
static bool offer(int version, SSL_SESSION *session)
{
	bool resumed;

	open_version(version);
	CU_ASSERT_TRUE(SSL_set_session(foreign.ssl, session));
	SSL_SESSION_free(session);
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	resumed = SSL_session_reused(foreign.ssl);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "resumed"), resumed);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes"), 2);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_failed"), 0);
	close_all();
	return resumed;
}

static void good_ticket_resumes(void)
{
	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)
		if (open_for_foreigners(NULL))
			CU_ASSERT_TRUE(offer(version, take_session(version)));
}

/* A bit of the key's name, of what is sealed, and of the seal. */
static void foreign_ticket_does_not(void)
{
	static const size_t places[] = {0, 40, 100};

	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)
		for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
			if (open_for_foreigners(NULL))
				CU_ASSERT_FALSE(offer(
					version, with_flipped(take_session(version), places[i])));
}

/* The client believes in its session; the server knows when it sealed the ticket. */
static void expired_ticket_does_not(void)
{
	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
		SSL_SESSION *session;

		if (!open_for_foreigners(NULL))
			return;
		session = take_session(version);
		clock_ahead_s = 8L * 24 * 3600;
		SSL_SESSION_set_time(session, time(NULL));
		CU_ASSERT_FALSE(offer(version, session));
	}
}

/* --- another share than the server wants --- */

static void count_hellos(int sent, int version, int type, const void *bytes, size_t count, SSL *ssl,
			 void *hellos)
{
	if (!sent && type == SSL3_RT_HANDSHAKE && *(const uint8_t *)bytes == SSL3_MT_SERVER_HELLO)
		++*(unsigned *)hellos;
}

static void other_share_is_asked_for(void)
{
	unsigned hellos = 0;

	if (!open_for_foreigners("P-256"))
		return;
	open_version(TLS1_3_VERSION);
	CU_ASSERT_TRUE(SSL_set1_groups_list(foreign.ssl, "X25519:P-256"));
	SSL_set_msg_callback(foreign.ssl, count_hellos);
	SSL_set_msg_callback_arg(foreign.ssl, &hellos);
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	CU_ASSERT_EQUAL(hellos, 2); /* the first is the HelloRetryRequest */
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes"), 1);
	close_all();
}

/* Who answers a HelloRetryRequest with the same hello gets an alert, and no second request. */
static void other_share_is_asked_for_once(void)
{
	static const uint8_t alert[] = {SSL3_RT_ALERT,		 3, 3, 0, 2, SSL3_AL_FATAL,
					SSL_AD_ILLEGAL_PARAMETER};
	uint8_t hello[2048], answer[2048];
	size_t answer_bytes;
	int hello_bytes;

	if (!open_for_foreigners("P-256"))
		return;
	open_version(TLS1_3_VERSION);
	CU_ASSERT_TRUE(SSL_set1_groups_list(foreign.ssl, "X25519:P-256"));
	SSL_do_handshake(foreign.ssl);
	hello_bytes = BIO_read(foreign.out, hello, sizeof(hello));
	foreign.seen = world_connect(&world);
	foreign_inject(&foreign, hello, (size_t)hello_bytes);
	CU_ASSERT_TRUE(world_until(&world, foreign.seen, TP_CONNECTED));
	CU_ASSERT_TRUE(seen_write(foreign.seen, hello, (size_t)hello_bytes));
	CU_ASSERT_TRUE(world_until(&world, foreign.seen, TP_READABLE));
	CU_ASSERT_TRUE(seen_write(foreign.seen, hello, (size_t)hello_bytes));
	CU_ASSERT_TRUE(world_until(&world, foreign.seen, TP_FINISHED));
	answer_bytes = seen_read(foreign.seen, answer, sizeof(answer));
	CU_ASSERT_TRUE_FATAL(answer_bytes > sizeof(alert));
	CU_ASSERT_EQUAL(memcmp(answer + answer_bytes - sizeof(alert), alert, sizeof(alert)), 0);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_failed"), 1);
	CU_ASSERT_EQUAL(world.accepted_count, 0);
	close_all();
}

/* --- early data --- */

/* A client that has sent a hello with early data, as its session does not allow it to. */
static bool begin_early(void)
{
	static const char early[] = "GET /early HTTP/1.1\r\n\r\n";
	SSL_SESSION *session;
	size_t written = 0;

	if (!open_for_foreigners(NULL))
		return false;
	session = take_session(TLS1_3_VERSION);
	CU_ASSERT_EQUAL(SSL_SESSION_get_max_early_data(session), 0);
	SSL_SESSION_set_max_early_data(session, 1 << 20);
	open_version(TLS1_3_VERSION);
	SSL_set_session(foreign.ssl, session);
	SSL_SESSION_free(session);
	CU_ASSERT_TRUE(SSL_write_early_data(foreign.ssl, early, sizeof(early) - 1, &written));
	return true;
}

static void early_data_is_passed_over(void)
{
	if (!begin_early())
		return;
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	CU_ASSERT_EQUAL(SSL_get_early_data_status(foreign.ssl), SSL_EARLY_DATA_REJECTED);
	CU_ASSERT_EQUAL(SSL_write(foreign.ssl, "late", 4), 4);
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_READABLE));
	CU_ASSERT_EQUAL(seen_readable(foreign.server), 4);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "records_in"), 1);
	close_all();
}

/* What cannot be opened is taken for early data, but only so much of it. */
static void early_garbage_is_bounded(void)
{
	enum { RECORDS = 50, BYTES = 1000 };
	static uint8_t record[5 + BYTES] = {SSL3_RT_APPLICATION_DATA, 3, 3, BYTES >> 8,
					    BYTES & 0xff};

	if (!begin_early())
		return;
	for (unsigned i = 0; i < RECORDS; i++)
		foreign_inject(&foreign, record, sizeof(record));
	foreign_try(&world, &foreign);
	CU_ASSERT_TRUE(world_until(&world, foreign.seen, TP_FINISHED));
	CU_ASSERT_EQUAL(foreign_alert(&world, &foreign), SSL_AD_UNEXPECTED_MESSAGE);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_failed"), 1);
	CU_ASSERT_EQUAL(world.accepted_count, 1);
	close_all();
}

static const struct suite_test tests[] = {
	{"a ticket resumes its session", good_ticket_resumes},
	{"a ticket of another key, or a changed one, gets a full handshake",
	 foreign_ticket_does_not},
	{"an expired ticket gets a full handshake", expired_ticket_does_not},
	{"a client is asked for the share that it did not offer", other_share_is_asked_for},
	{"a client is asked for another share once", other_share_is_asked_for_once},
	{"early data is passed over, and the handshake goes on", early_data_is_passed_over},
	{"garbage in place of early data is bounded", early_garbage_is_bounded},
};

SUITE_MAIN("tls session", tests)
