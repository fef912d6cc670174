/* What becomes of bytes: each arrives, and runs and records are counted as they are. */
#include "tests/support/suite.h"
#include "tests/unit/tls/rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = TLS_RECORD_BYTES, LARGEST = 5 << 20 };

static const struct tp_limits limits = {.conn_max = 16, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;

static void open_version(enum tls_version version)
{
	rig_reset();
	rig_server.config.version_min = rig_server.config.version_max = version;
	rig_client.config.version_min = rig_client.config.version_max = version;
}

/* Sizes around the record's and the rings', and one that needs both many times, both ways. */
static void carry_all_sizes(enum tls_version version, const char *name)
{
	static const size_t sizes[] = {0,	   1,	      RECORD - 1, RECORD,
				       RECORD + 1, 65536 + 1, 100000,	  LARGEST};
	uint8_t *bytes = malloc(LARGEST);
	struct seen *client, *server;

	open_version(version);
	if (world_open_joined(&world, &limits, &client, &server)) {
		CU_ASSERT_STRING_EQUAL(tls_conn_version(client->conn), name);
		CU_ASSERT_STRING_EQUAL(tls_conn_version(server->conn), name);
		CU_ASSERT_STRING_EQUAL(tls_conn_cipher(server->conn),
				       tls_conn_cipher(client->conn));
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			fill_pattern(bytes, sizes[i], i);
			CU_ASSERT_TRUE(
				world_transfer(&world, client, server, bytes, sizes[i], 60000));
			CU_ASSERT_TRUE(
				world_transfer(&world, server, client, bytes, sizes[i], 16384));
		}
		world_close(&world);
	}
	free(bytes);
}

static void all_sizes_1_2(void)
{
	carry_all_sizes(TLS_1_2, "TLSv1.2");
}

static void all_sizes_1_3(void)
{
	carry_all_sizes(TLS_1_3, "TLSv1.3");
}

static void runs_are_exact(void)
{
	static const struct {
		size_t bytes;
		unsigned records;
	} cases[] = {{1, 1},	      {RECORD - 1, 1}, {RECORD, 1},	    {RECORD + 1, 2},
		     {2 * RECORD, 2}, {40000, 3},      {3 * RECORD + 9, 4}, {3 * RECORD, 3}};
	static uint8_t bytes[4 * RECORD], back[4 * RECORD];
	struct seen *client, *server;

	open_version(TLS_1_3);
	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t runs = rig_detail(client->tp, "runs_out");
		uint64_t records = rig_detail(client->tp, "records_out");
		uint64_t received = rig_detail(server->tp, "records_in");
		uint64_t sent_bytes = rig_detail(client->tp, "record_bytes_out");
		uint64_t taken_bytes = rig_detail(server->tp, "record_bytes_in");
		uint64_t writes = world_counters(client->tp).writes;

		CU_ASSERT_TRUE(seen_write(client, bytes, cases[i].bytes));
		CU_ASSERT_TRUE(world_read(&world, server, back, cases[i].bytes));
		CU_ASSERT_EQUAL(rig_detail(client->tp, "runs_out") - runs, 1);
		CU_ASSERT_EQUAL(rig_detail(client->tp, "records_out") - records, cases[i].records);
		CU_ASSERT_EQUAL(rig_detail(server->tp, "records_in") - received, cases[i].records);
		CU_ASSERT_EQUAL(rig_detail(client->tp, "record_bytes_out") - sent_bytes,
				cases[i].bytes);
		CU_ASSERT_EQUAL(rig_detail(server->tp, "record_bytes_in") - taken_bytes,
				cases[i].bytes);
		CU_ASSERT_EQUAL(world_counters(client->tp).writes - writes, 1);
	}
	world_close(&world);
}

static void commits_make_one_run(void)
{
	struct seen *client, *server;
	static uint8_t back[3200];

	open_version(TLS_1_3);
	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	for (unsigned i = 0; i < 32; i++)
		CU_ASSERT_TRUE(seen_commit(server, back, 100));
	CU_ASSERT_EQUAL(rig_detail(server->tp, "records_out"), 0);
	CU_ASSERT_TRUE(world_read(&world, client, back, sizeof(back)));
	tp_flush(server->tp, server->conn);
	world_idle(&world);
	CU_ASSERT_EQUAL(rig_detail(server->tp, "runs_out"), 1);
	CU_ASSERT_EQUAL(rig_detail(server->tp, "records_out"), 1);
	CU_ASSERT_EQUAL(rig_detail(server->tp, "record_bytes_out"), sizeof(back));
	world_close(&world);
}

/* Records that wrap in the ring are whole: as many as their bytes need. */
static void wrapped_records_are_whole(void)
{
	static uint8_t bytes[10 * 40000], back[sizeof(bytes)];
	struct seen *client, *server;
	size_t sent = 0, received = 0;

	open_version(TLS_1_3);
	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, sizeof(bytes), 3);
	while (received < sizeof(bytes)) {
		while (sent < sizeof(bytes) && seen_commit(client, bytes + sent, 5000))
			sent += 5000;
		tp_flush(client->tp, client->conn);
		world_turn(&world);
		received += seen_read(server, back + received, 7001);
	}
	CU_ASSERT_EQUAL(memcmp(bytes, back, sizeof(bytes)), 0);
	CU_ASSERT_EQUAL(rig_detail(server->tp, "record_bytes_in"), sizeof(bytes));
	CU_ASSERT_EQUAL(rig_detail(server->tp, "records_in"),
			rig_detail(client->tp, "records_out"));
	world_close(&world);
}

/* 16 KiB records through 4 KiB of memory on every side; nothing is lost, and nobody spins. */
static void small_memory_loses_nothing(void)
{
	static const struct tp_limits small = {
		.conn_max = 4, .recv_bytes = 4096, .send_bytes = 4096};
	static uint8_t bytes[300000];
	struct seen *client, *server;
	struct tp_counters before;

	open_version(TLS_1_3);
	if (!world_open_joined(&world, &small, &client, &server))
		return;
	fill_pattern(bytes, sizeof(bytes), 4);
	CU_ASSERT_TRUE(world_transfer(&world, client, server, bytes, sizeof(bytes), 4096));
	CU_ASSERT_TRUE(world_transfer(&world, server, client, bytes, sizeof(bytes), 4001));
	for (unsigned i = 0; i < 50; i++) {
		seen_write(client, bytes, 1000);
		world_turn(&world);
	}
	before = world_counters(client->tp);
	world_idle(&world);
	CU_ASSERT_EQUAL(world_counters(client->tp).reserves_refused, before.reserves_refused);
	world_close(&world);
}

/* Memory that no ring can have is refused before any is taken. */
static void odd_memory_is_refused(void)
{
	static const uint32_t sizes[] = {0, 3, 65537, 1u << 30, 1u << 31};
	const struct tls_config config = {.insecure = true, .version_max = TLS_1_3};
	struct tp_error error;
	struct tp *tp, *lower = NULL; /* it is not looked at */

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct tp_limits odd = {.conn_max = 1, .recv_bytes = sizes[i], .send_bytes = 4096};

		CU_ASSERT_EQUAL(tls_open(&config, &odd, lower, &tp, &error), -EINVAL);
		odd = (struct tp_limits){.conn_max = 1, .recv_bytes = 4096, .send_bytes = sizes[i]};
		CU_ASSERT_EQUAL(tls_open(&config, &odd, lower, &tp, &error), -EINVAL);
	}
}

/* What a server connects to bypasses TLS; events and bytes are the lower transport's. */
static void plain_connections_bypass(void)
{
	static uint8_t bytes[100000];
	struct seen *client, *server;

	rig_reset();
	rig_client.config =
		(struct tls_config){.server = true, .connects_plain = true, .version_max = TLS_1_3};
	rig_server.plain = true;
	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	CU_ASSERT_STRING_EQUAL(tls_conn_version(client->conn), "none");
	fill_pattern(bytes, sizeof(bytes), 5);
	CU_ASSERT_TRUE(world_transfer(&world, client, server, bytes, sizeof(bytes), 9000));
	CU_ASSERT_TRUE(world_transfer(&world, server, client, bytes, sizeof(bytes), 9000));
	CU_ASSERT_EQUAL(world_counters(client->tp).written_bytes, sizeof(bytes));
	CU_ASSERT_EQUAL(rig_detail(client->tp, "records_out"), 0);
	tp_finish(server->tp, server->conn);
	CU_ASSERT_TRUE(world_until(&world, client, TP_FINISHED));
	CU_ASSERT_TRUE(seen_write(client, bytes, 100));
	tp_finish(client->tp, client->conn);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	CU_ASSERT_EQUAL(client->reason, TP_DONE);
	CU_ASSERT_EQUAL(seen_readable(server), 100);
	if (world_join(&world, &client, &server)) {
		tp_abort(client->tp, client->conn);
		CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
		CU_ASSERT_EQUAL(client->reason, TP_ABORTED);
		CU_ASSERT_TRUE(world_until_reset(&world, server));
	}
	world_close(&world);
}

static const struct suite_test tests[] = {
	{"every size arrives byte for byte in TLS 1.2", all_sizes_1_2},
	{"every size arrives byte for byte in TLS 1.3", all_sizes_1_3},
	{"one write is one run of as many records as it needs", runs_are_exact},
	{"commits that nobody flushed leave as one run at the next poll", commits_make_one_run},
	{"records that wrap in the ring arrive whole", wrapped_records_are_whole},
	{"small memory loses nothing and makes nobody spin", small_memory_loses_nothing},
	{"memory that is no ring's is refused", odd_memory_is_refused},
	{"connections of a proxying server bypass TLS", plain_connections_bypass},
};

SUITE_MAIN("tls record", tests)
