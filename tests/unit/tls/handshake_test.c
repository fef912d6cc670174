/* How handshakes come about: sessions, protocols, trust, and what is refused. */
#include "dataplane/core/clock.h"
#include "tests/support/suite.h"
#include "tests/unit/tls/foreign.h"
#include "tests/unit/tls/pem.h"
#include "tests/unit/tls/rig.h"

#include <string.h>
#include <time.h>

static const struct tp_limits limits = {.conn_max = 64, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static struct foreign foreign;

/* One exchange, so that a ticket has come, and an end in order. */
static void talk_and_end(struct seen *client, struct seen *server)
{
	uint8_t bytes[100] = {1};

	CU_ASSERT_TRUE(world_transfer(&world, server, client, bytes, sizeof(bytes), 100));
	tp_finish(client->tp, client->conn);
	tp_finish(server->tp, server->conn);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	CU_ASSERT_TRUE(world_until(&world, server, TP_CLOSED));
	CU_ASSERT_EQUAL(client->reason, TP_DONE);
}

static void resume_version(enum tls_version version, bool wanted)
{
	enum { CONNS = 3 };
	struct seen *client, *server;

	rig_reset();
	rig_server.config.version_min = rig_server.config.version_max = version;
	rig_server.config.resumption = wanted;
	if (!world_open(&world, &limits))
		return;
	for (unsigned i = 0; i < CONNS; i++)
		if (world_join(&world, &client, &server))
			talk_and_end(client, server);
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "handshakes"), CONNS);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes"), CONNS);
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "resumed"), wanted ? CONNS - 1 : 0);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "resumed"), wanted ? CONNS - 1 : 0);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_failed"), 0);
	CU_ASSERT_TRUE(rig_detail(world.pair.server, "handshake_ns") > 0);
	world_close(&world);
}

static void sessions_resume_1_2(void)
{
	resume_version(TLS_1_2, true);
}

static void sessions_resume_1_3(void)
{
	resume_version(TLS_1_3, true);
}

static void no_tickets_no_resumption(void)
{
	resume_version(TLS_1_2, false);
	resume_version(TLS_1_3, false);
}

/* What one worker sealed, another opens. */
static void another_worker_resumes(void)
{
	struct seen *client, *server;
	struct tp *first;

	rig_reset();
	if (!world_open(&world, &limits))
		return;
	CU_ASSERT_TRUE_FATAL(world_join(&world, &client, &server));
	talk_and_end(client, server);
	first = world.pair.client;
	world.pair.server->ops->close(world.pair.server);
	CU_ASSERT_EQUAL(rig_reopen_server(&world.pair, &limits), 0);
	CU_ASSERT_TRUE_FATAL(world_join(&world, &client, &server));
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "resumed"), 1);
	CU_ASSERT_EQUAL(rig_detail(first, "resumed"), 1);
	world_close(&world);
}

/* --- ALPN --- */

static void protocol_is_chosen(void)
{
	static const uint8_t offered[] = "\x06"
					 "spdy/9"
					 "\x08"
					 "http/1.1"
					 "\x04"
					 "echo";
	const unsigned char *name;
	unsigned length;

	rig_reset();
	rig_server.config.alpn = "echo,http/1.1";
	rig_client.plain = true;
	if (!world_open(&world, &limits))
		return;
	foreign_open(&foreign);
	SSL_set_alpn_protos(foreign.ssl, offered, sizeof(offered) - 1);
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	SSL_get0_alpn_selected(foreign.ssl, &name, &length);
	CU_ASSERT_EQUAL(length, 8);
	CU_ASSERT_TRUE(length == 8 && memcmp(name, "http/1.1", 8) == 0);
	foreign_close(&foreign);
	world_close(&world);
}

/* Our client and our server are not to come together: both count it, the client alone is told. */
static void expect_refusal(bool is_trust)
{
	struct seen *client;
	struct tp_fault fault;

	if (!world_open(&world, &limits))
		return;
	client = world_connect(&world);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	fault = tp_fault_of(client->tp, client->conn);
	CU_ASSERT_PTR_NOT_NULL(fault.text);
	CU_ASSERT_EQUAL(fault.is_trust, is_trust);
	world_idle(&world);
	CU_ASSERT_EQUAL(client->bits, TP_CLOSED);
	CU_ASSERT_EQUAL(world.accepted_count, 0);
	CU_ASSERT_EQUAL(rig_detail(world.pair.client, "handshakes_failed"), 1);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_failed"), 1);
	world_close(&world);
}

static void no_protocol_in_common(void)
{
	rig_reset();
	rig_server.config.alpn = "http/1.1";
	rig_client.config.alpn = "echo";
	expect_refusal(false);
}

/* --- trust --- */

static char certificate[PEM_PATH], key[PEM_PATH];

static bool make_pair(void)
{
	const struct pem_spec spec = {.name = "good.example", .days = 30};

	rig_reset();
	pem_path("pair.crt", certificate);
	pem_path("pair.key", key);
	rig_server.config.version_max = rig_client.config.version_max = TLS_1_2;
	rig_server.config.certificate = certificate;
	rig_server.config.key = key;
	rig_client.config.insecure = false;
	return pem_make(&spec, certificate, key);
}

static void trusted_name_is_taken(void)
{
	struct seen *client, *server;

	CU_ASSERT_TRUE_FATAL(make_pair());
	rig_client.config.authorities = certificate;
	rig_client.config.server_name = "good.example";
	if (world_open_joined(&world, &limits, &client, &server)) {
		talk_and_end(client, server);
		world_close(&world);
	}
	pem_clean();
}

static void other_names_are_refused(void)
{
	CU_ASSERT_TRUE_FATAL(make_pair());
	rig_client.config.authorities = certificate;
	rig_client.config.server_name = "evil.example";
	expect_refusal(true);
	rig_client.config.server_name = "192.0.2.1";
	expect_refusal(true);
	pem_clean();
}

static void untrusted_is_refused(void)
{
	struct seen *client, *server;

	CU_ASSERT_TRUE_FATAL(make_pair());
	rig_client.config.server_name = "good.example";
	expect_refusal(true);
	rig_client.config.insecure = true;
	if (world_open_joined(&world, &limits, &client, &server))
		world_close(&world);
	pem_clean();
}

/* What broke one connection is not told of the next, which ends otherwise. */
static void fault_is_of_one_connection(void)
{
	struct seen *broken, *refused;

	CU_ASSERT_TRUE_FATAL(make_pair());
	rig_client.config.server_name = "good.example";
	if (world_open(&world, &limits)) {
		broken = world_connect(&world);
		CU_ASSERT_TRUE(world_until(&world, broken, TP_CLOSED));
		CU_ASSERT_TRUE(tp_fault_of(broken->tp, broken->conn).is_trust);
		world.pair.addr = world.pair.nobody;
		refused = world_connect(&world);
		CU_ASSERT_TRUE(world_until(&world, refused, TP_CLOSED));
		CU_ASSERT_EQUAL(refused->reason, TP_REFUSED);
		CU_ASSERT_PTR_NULL(tp_fault_of(refused->tp, refused->conn).text);
		CU_ASSERT_FALSE(tp_fault_of(refused->tp, refused->conn).is_trust);
		world_close(&world);
	}
	pem_clean();
}

/* --- what a server does not do --- */

/* A foreign client of one version and one cipher is to be refused with an alert. */
static void expect_alert(int version, const char *ciphers, int alert)
{
	rig_reset();
	rig_client.plain = true;
	if (!world_open(&world, &limits))
		return;
	foreign_open(&foreign);
	SSL_set_security_level(foreign.ssl, 0);
	SSL_set_min_proto_version(foreign.ssl, version);
	SSL_set_max_proto_version(foreign.ssl, version);
	CU_ASSERT_TRUE(SSL_set_cipher_list(foreign.ssl, ciphers));
	foreign_try(&world, &foreign);
	CU_ASSERT_EQUAL(foreign.alert, alert);
	CU_ASSERT_TRUE(world_until(&world, foreign.seen, TP_FINISHED));
	CU_ASSERT_EQUAL(world.accepted_count, 0);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_failed"), 1);
	foreign_close(&foreign);
	world_close(&world);
}

static void old_versions_are_refused(void)
{
	expect_alert(TLS1_VERSION, "ALL:@SECLEVEL=0", SSL_AD_PROTOCOL_VERSION);
	expect_alert(TLS1_1_VERSION, "ALL:@SECLEVEL=0", SSL_AD_PROTOCOL_VERSION);
}

static void no_cipher_in_common(void)
{
	expect_alert(TLS1_2_VERSION, "ECDHE-RSA-AES128-GCM-SHA256", SSL_AD_HANDSHAKE_FAILURE);
}

/* --- bounds --- */

/* A hello that never ends costs its time and no more; the same bytes in time are fine. */
static void slow_hello_is_late(void)
{
	rig_reset();
	rig_client.plain = true;
	if (!world_open(&world, &limits))
		return;
	foreign_open(&foreign);
	foreign.step_bytes = 1;
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	foreign_close(&foreign);
	world_close(&world);

	rig_server.config.handshake_timeout_ns = 5 * 1000 * 1000;
	if (!world_open(&world, &limits))
		return;
	foreign_open(&foreign);
	foreign.seen = world_connect(&world);
	SSL_do_handshake(foreign.ssl);
	foreign.step_bytes = 1;
	for (unsigned i = 0; i < 100; i++)
		foreign_turn(&world, &foreign);
	CU_ASSERT_TRUE(world_until(&world, foreign.seen, TP_CLOSED));
	CU_ASSERT_EQUAL(foreign.seen->reason, TP_RESET);
	CU_ASSERT_EQUAL(world.accepted_count, 0);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_late"), 1);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_failed"), 1);
	foreign_close(&foreign);
	world_close(&world);
}

static void handshakes_are_bounded(void)
{
	enum { MOST = 2, ALL = 6 };
	struct seen *silent[ALL];

	rig_reset();
	rig_server.config.handshakes_max = MOST;
	rig_client.plain = true;
	if (!world_open(&world, &limits))
		return;
	for (unsigned i = 0; i < ALL; i++)
		silent[i] = world_connect(&world);
	CU_ASSERT_TRUE(rig_until(&world, world.pair.server, "handshakes_refused", ALL - MOST));
	world_idle(&world);
	for (unsigned i = 0; i < ALL; i++)
		CU_ASSERT_EQUAL((silent[i]->bits & TP_CLOSED) != 0, i >= MOST);
	tp_abort(silent[0]->tp, silent[0]->conn);
	CU_ASSERT_TRUE(rig_until(&world, world.pair.server, "handshakes_failed", 1));
	foreign_open(&foreign);
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_refused"), ALL - MOST);
	foreign_close(&foreign);
	world_close(&world);
}

static void turn_for(uint64_t span_ns)
{
	uint64_t end_ns = clock_now_ns() + span_ns;

	while (clock_now_ns() < end_ns)
		world_turn(&world);
}

/* Who comes while all places are taken gets that of a peer that says nothing, at once. */
static void silent_peers_do_not_shut_out(void)
{
	static const struct tp_limits many = {
		.conn_max = 512, .recv_bytes = 4096, .send_bytes = 4096};
	struct seen *silent[TLS_HANDSHAKES_MAX];
	unsigned closed = 0;
	uint64_t start_ns;

	rig_reset();
	rig_client.plain = true;
	if (!world_open(&world, &many))
		return;
	for (unsigned i = 0; i < TLS_HANDSHAKES_MAX; i++)
		silent[i] = world_connect(&world);
	turn_for(TLS_HANDSHAKE_GRACE_NS + CLOCK_MS_NS);
	start_ns = clock_now_ns();
	foreign_open(&foreign);
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	CU_ASSERT_TRUE(clock_now_ns() - start_ns < TLS_HANDSHAKE_NS); /* no silent one has ended */
	world_idle(&world);
	for (unsigned i = 0; i < TLS_HANDSHAKES_MAX; i++)
		closed += (silent[i]->bits & TP_CLOSED) != 0;
	CU_ASSERT_EQUAL(closed, 1);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_evicted"), 1);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_failed"), 1);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_refused"), 0);
	foreign_close(&foreign);
	world_close(&world);
}

/* Silent peers keep coming, not faster than their places' number in a grace. */
static void stream_of_silent_peers_does_not_shut_out(void)
{
	enum { MOST = 8, ALL = 60 };
	const uint64_t pause_ns = 2 * TLS_HANDSHAKE_GRACE_NS / MOST;
	unsigned joined = 0;

	rig_reset();
	rig_server.config.handshakes_max = MOST;
	rig_client.plain = true;
	if (!world_open(&world, &limits))
		return;
	for (unsigned i = 0; i < ALL; i++) {
		world_connect(&world);
		turn_for(pause_ns);
		if (i % 4)
			continue;
		foreign_open(&foreign);
		joined += foreign_join(&world, &foreign);
		tp_abort(foreign.seen->tp, foreign.seen->conn);
		foreign_close(&foreign);
	}
	CU_ASSERT_EQUAL(joined, ALL / 4);
	CU_ASSERT_TRUE(rig_detail(world.pair.server, "handshakes_evicted") >= ALL - 2 * MOST);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_refused"), 0);
	world_close(&world);
}

/* Single bytes are no progress: who sends a hello so slowly makes room like who sends none. */
static void dribbled_hello_makes_room(void)
{
	enum { BYTES = 30 };
	struct foreign slow;

	rig_reset();
	rig_server.config.handshakes_max = 1;
	rig_client.plain = true;
	if (!world_open(&world, &limits))
		return;
	foreign_open(&slow);
	slow.seen = world_connect(&world);
	slow.step_bytes = 1;
	SSL_do_handshake(slow.ssl);
	for (unsigned i = 0; i < BYTES; i++) {
		foreign_turn(&world, &slow);
		turn_for(2 * TLS_HANDSHAKE_GRACE_NS / BYTES);
	}
	CU_ASSERT_FALSE(slow.seen->bits & TP_CLOSED);
	foreign_open(&foreign);
	CU_ASSERT_TRUE(foreign_join(&world, &foreign));
	CU_ASSERT_TRUE(world_until(&world, slow.seen, TP_CLOSED));
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_evicted"), 1);
	foreign_close(&foreign);
	foreign_close(&slow);
	world_close(&world);
}

/* Of hellos that come all at once a turn answers so many, and the next ones the others. */
static void handshakes_have_a_share_of_a_turn(void)
{
	enum { ALL = 4 * TLS_TURN_STEPS, TURNS = 1000 };
	static const struct tp_limits many = {
		.conn_max = ALL, .recv_bytes = 4096, .send_bytes = 4096};
	uint8_t hello[2048];
	int bytes;
	unsigned answered = 0;

	rig_reset();
	rig_client.plain = true;
	if (!world_open(&world, &many))
		return;
	foreign_open(&foreign);
	SSL_do_handshake(foreign.ssl);
	bytes = BIO_read(foreign.out, hello, sizeof(hello));
	for (unsigned i = 0; i < ALL; i++)
		world_connect(&world);
	world_idle(&world);
	for (unsigned i = 0; i < ALL; i++)
		CU_ASSERT_TRUE(seen_write(&world.seen[i], hello, (size_t)bytes));
	for (unsigned i = 0; i < TURNS && answered < ALL; i++) {
		unsigned before = answered;

		world_turn(&world);
		answered = 0;
		for (unsigned k = 0; k < ALL; k++)
			answered += (world.seen[k].bits & TP_READABLE) != 0;
		CU_ASSERT_TRUE(answered - before <= TLS_TURN_STEPS);
	}
	CU_ASSERT_EQUAL(answered, ALL);
	foreign_close(&foreign);
	world_close(&world);
}

/* Hellos that we have not come to yet are not dropped for standing still. */
static void who_waits_for_us_keeps_its_place(void)
{
	enum { ALL = 4 * TLS_TURN_STEPS, NEWCOMERS = 2 };
	static const struct tp_limits many = {
		.conn_max = ALL + NEWCOMERS, .recv_bytes = 4096, .send_bytes = 4096};
	struct timespec pause = {.tv_nsec = (long)(TLS_HANDSHAKE_GRACE_NS + CLOCK_MS_NS)};
	uint8_t hello[2048];
	int bytes;

	rig_reset();
	rig_server.config.handshakes_max = ALL;
	rig_client.plain = true;
	if (!world_open(&world, &many))
		return;
	foreign_open(&foreign);
	SSL_do_handshake(foreign.ssl);
	bytes = BIO_read(foreign.out, hello, sizeof(hello));
	for (unsigned i = 0; i < ALL; i++)
		world_connect(&world);
	world_idle(&world);
	turn_for(TLS_HANDSHAKE_GRACE_NS); /* all have stood still so far */
	for (unsigned i = 0; i < ALL; i++)
		CU_ASSERT_TRUE(seen_write(&world.seen[i], hello, (size_t)bytes));
	world_turn(&world); /* half of them are answered, and stand still from now on */
	nanosleep(&pause, NULL);
	for (unsigned i = 0; i < NEWCOMERS; i++)
		world_connect(&world);
	for (unsigned i = 0; i < 10; i++)
		world_turn(&world);
	for (unsigned i = 0; i < ALL; i++) /* only who was answered has been dropped */
		CU_ASSERT_TRUE(!(world.seen[i].bits & TP_CLOSED) ||
			       world.seen[i].bits & TP_READABLE);
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_evicted"), NEWCOMERS);
	foreign_close(&foreign);
	world_close(&world);
}

/* Who finds no slot is told apart from who comes while too many shake hands. */
static void slots_are_bounded(void)
{
	static const struct tp_limits few = {
		.conn_max = 2, .recv_bytes = 65536, .send_bytes = 65536};

	rig_reset();
	rig_server.conns_more = rig_client.conns_more = 4;
	rig_client.plain = true;
	if (!world_open(&world, &few))
		return;
	for (unsigned i = 0; i < 5; i++)
		world_connect(&world);
	CU_ASSERT_TRUE(rig_until(&world, world.pair.server, "conns_refused", 3));
	CU_ASSERT_EQUAL(rig_detail(world.pair.server, "handshakes_refused"), 0);
	world_close(&world);
}

static const struct suite_test tests[] = {
	{"a session is resumed in TLS 1.2", sessions_resume_1_2},
	{"a session is resumed in TLS 1.3", sessions_resume_1_3},
	{"without tickets no session is resumed", no_tickets_no_resumption},
	{"a session of one worker is resumed by another", another_worker_resumes},
	{"a server takes the client's first protocol that it knows", protocol_is_chosen},
	{"without a protocol in common the handshake ends", no_protocol_in_common},
	{"a trusted certificate with the right name is taken", trusted_name_is_taken},
	{"a certificate for another name is refused", other_names_are_refused},
	{"an untrusted certificate is refused unless all are taken", untrusted_is_refused},
	{"a fault is told of the connection that broke, and of no other",
	 fault_is_of_one_connection},
	{"versions before 1.2 are refused", old_versions_are_refused},
	{"without a cipher in common the handshake ends", no_cipher_in_common},
	{"a hello may come in single bytes, but not too slowly", slow_hello_is_late},
	{"no more handshakes at a time than allowed", handshakes_are_bounded},
	{"silent peers do not shut others out", silent_peers_do_not_shut_out},
	{"nor does a stream of them", stream_of_silent_peers_does_not_shut_out},
	{"a hello that dribbles in makes room for others", dribbled_hello_makes_room},
	{"handshakes have a bounded share of a turn", handshakes_have_a_share_of_a_turn},
	{"who waits for us is not dropped for standing still", who_waits_for_us_keeps_its_place},
	{"no more connections than there are slots", slots_are_bounded},
};

SUITE_MAIN("tls handshake", tests)
