/* What handshakes came to: counted by kind on both sides alike, in a table that has an end. */
#include "dataplane/tls/tls_agreed.h"

#include "tests/support/suite.h"
#include "tests/unit/tls/rig.h"

#include <string.h>

static const struct tp_limits limits = {.conn_max = 16, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;

static struct tls_agreed_row row_of(const char *cipher, bool resumed, uint64_t conns)
{
	return (struct tls_agreed_row){"TLSv1.3", cipher, "X25519", resumed, conns};
}

static void kinds_are_counted_apart(void)
{
	const struct tls_agreed_row rows[] = {row_of("A", false, 1), row_of("B", false, 2),
					      row_of("A", true, 4), row_of("A", false, 8)};
	struct tls_agreed agreed = {0};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tls_agreed_add(&agreed, &rows[i]);
	CU_ASSERT_EQUAL_FATAL(agreed.rows, 3);
	CU_ASSERT_EQUAL(agreed.row[0].conns, 9);
	CU_ASSERT_EQUAL(agreed.row[1].conns, 2);
	CU_ASSERT_EQUAL(agreed.row[2].conns, 4);
	CU_ASSERT_EQUAL(agreed.other_conns, 0);
}

/* Rows may stand in another order in each worker's table. */
static void tables_merge_by_name(void)
{
	const struct tls_agreed_row a = row_of("A", false, 1), b = row_of("B", false, 2);
	struct tls_agreed one = {.other_conns = 3}, other = {.other_conns = 4};

	tls_agreed_add(&one, &a);
	tls_agreed_add(&one, &b);
	tls_agreed_add(&other, &b);
	tls_agreed_merge(&one, &other);
	CU_ASSERT_EQUAL_FATAL(one.rows, 2);
	CU_ASSERT_EQUAL(one.row[0].conns, 1);
	CU_ASSERT_EQUAL(one.row[1].conns, 4);
	CU_ASSERT_EQUAL(one.other_conns, 7);
}

static void table_has_an_end(void)
{
	enum { KINDS = TLS_AGREED_ROWS + 3 };
	char ciphers[KINDS][8];
	struct tls_agreed agreed = {0};

	for (unsigned i = 0; i < 2 * KINDS; i++) {
		struct tls_agreed_row row = row_of(ciphers[i % KINDS], false, 1);

		snprintf(ciphers[i % KINDS], sizeof(ciphers[0]), "C%u", i % KINDS);
		tls_agreed_add(&agreed, &row);
	}
	CU_ASSERT_EQUAL(agreed.rows, TLS_AGREED_ROWS);
	for (unsigned i = 0; i < agreed.rows; i++)
		CU_ASSERT_EQUAL(agreed.row[i].conns, 2);
	CU_ASSERT_EQUAL(agreed.other_conns, 6);
}

/* Both sides' only row is this one, with so many connections. */
static void expect_row(const char *name, unsigned at, uint64_t conns)
{
	const struct tp *sides[] = {world.pair.server, world.pair.client};
	char text[TLS_AGREED_TEXT];

	for (unsigned i = 0; i < 2; i++) {
		struct tls_agreed agreed = tls_agreed_of(sides[i]);

		CU_ASSERT_TRUE_FATAL(at < agreed.rows);
		CU_ASSERT_STRING_EQUAL(tls_agreed_print(&agreed.row[at], text), name);
		CU_ASSERT_EQUAL(agreed.row[at].conns, conns);
		CU_ASSERT_EQUAL(agreed.other_conns, 0);
	}
}

/* Two handshakes, the second with a ticket of the first. */
static void join_twice(enum tls_version version, bool tickets)
{
	struct seen *client, *server;
	uint8_t byte = 1;

	rig_reset();
	rig_server.config.version_min = rig_server.config.version_max = version;
	rig_server.config.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
	rig_server.config.ciphersuites = "TLS_CHACHA20_POLY1305_SHA256";
	rig_server.config.groups = "P-256";
	rig_server.config.resumption = tickets;
	CU_ASSERT_TRUE_FATAL(world_open_joined(&world, &limits, &client, &server));
	CU_ASSERT_TRUE(seen_write(server, &byte, 1));
	CU_ASSERT_TRUE(world_read(&world, client, &byte, 1));
	CU_ASSERT_TRUE(world_join(&world, &client, &server));
}

static void both_sides_say_the_same(void)
{
	join_twice(TLS_1_3, false);
	expect_row("TLSv1.3 TLS_CHACHA20_POLY1305_SHA256 P-256", 0, 2);
	world_close(&world);
	join_twice(TLS_1_2, false);
	expect_row("TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384 P-256", 0, 2);
	world_close(&world);
}

static void resumed_ones_stand_apart(void)
{
	join_twice(TLS_1_3, true);
	expect_row("TLSv1.3 TLS_CHACHA20_POLY1305_SHA256 P-256", 0, 1);
	expect_row("TLSv1.3 TLS_CHACHA20_POLY1305_SHA256 P-256 resumed", 1, 1);
	world_close(&world);
	join_twice(TLS_1_2, true);
	expect_row("TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384 P-256", 0, 1);
	expect_row("TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384 P-256 resumed", 1, 1);
	world_close(&world);
}

static void plain_transport_has_none(void)
{
	rig_reset();
	rig_server.plain = rig_client.plain = true;
	if (!world_open(&world, &limits))
		return;
	CU_ASSERT_EQUAL(tls_agreed_of(world.pair.server).rows, 0);
	world_close(&world);
}

static const struct suite_test tests[] = {
	{"kinds are counted apart", kinds_are_counted_apart},
	{"tables merge by name", tables_merge_by_name},
	{"a table has an end, and counts what is beyond it", table_has_an_end},
	{"both sides say the same of a connection", both_sides_say_the_same},
	{"resumed connections stand apart", resumed_ones_stand_apart},
	{"a plain transport has none", plain_transport_has_none},
};

SUITE_MAIN("tls agreed", tests)
