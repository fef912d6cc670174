#include "stacks/utcp/gaps.h"

#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

#include <string.h>

enum { CONNS = GAPS_MIN + 1, TABLES = GAPS_MIN, BASE = (int)0xffffffc0 };

static struct peer peer;

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static void leases_while_needed(void)
{
	struct seq_range blocks[4];
	uint32_t lease = SLAB_NONE;
	uint64_t withdrawn = 0;
	struct gaps gaps;

	CU_ASSERT_FATAL(gaps_create(&gaps, CONNS, &withdrawn) == 0);
	CU_ASSERT(gaps_add(&gaps, &lease, BASE + 10, BASE + 80) && lease != SLAB_NONE);
	gaps_check(&gaps, 1);
	CU_ASSERT(gaps_take(&gaps, &lease, BASE + 5) == BASE + 5u && lease != SLAB_NONE);
	CU_ASSERT(gaps_take(&gaps, &lease, BASE + 10) == BASE + 80u && lease == SLAB_NONE);
	gaps_note_twice(&gaps, &lease, BASE, BASE + 70);
	CU_ASSERT(gaps_owe_report(&gaps, lease));
	CU_ASSERT(gaps_report(&gaps, &lease, blocks, 0) == 0 && lease != SLAB_NONE);
	CU_ASSERT(gaps_report(&gaps, &lease, blocks, 4) == 1 && lease == SLAB_NONE);
	CU_ASSERT(blocks[0].begin == (uint32_t)BASE && blocks[0].end == BASE + 70u);
	gaps_drop(&gaps, &lease);
	gaps_check(&gaps, 0);
	gaps_destroy(&gaps);
}

/* How many connections an instance for `conn_max` keeps out of order at once. */
static unsigned tables_of(uint32_t conn_max)
{
	static uint32_t leases[4096];
	uint64_t withdrawn = 0;
	unsigned count = 0;
	struct gaps gaps;

	memset(leases, 0xff, sizeof(leases));
	CU_ASSERT_FATAL(gaps_create(&gaps, conn_max, &withdrawn) == 0);
	while (count < conn_max && gaps_add(&gaps, &leases[count], 10, 20))
		count++;
	for (unsigned i = 0; i < count; i++)
		gaps_drop(&gaps, &leases[i]);
	gaps_destroy(&gaps);
	return count;
}

static void there_are_enough(void)
{
	CU_ASSERT(tables_of(1) == 1 && tables_of(4) == 4 && tables_of(256) == 256);
	CU_ASSERT(tables_of(257) == 256 && tables_of(2000) == 256);
	CU_ASSERT(tables_of(4096) == 513);
}

static void oldest_gives_way(void)
{
	uint32_t leases[TABLES + 1];
	uint64_t withdrawn = 0;
	struct gaps gaps;

	memset(leases, 0xff, sizeof(leases));
	CU_ASSERT_FATAL(gaps_create(&gaps, CONNS, &withdrawn) == 0);
	for (unsigned i = 0; i < TABLES; i++)
		CU_ASSERT(gaps_add(&gaps, &leases[i], 10, 20));
	CU_ASSERT(gaps_add(&gaps, &leases[0], 30, 40) && withdrawn == 0);
	for (unsigned i = 0; i < GAPS_PATIENCE; i++)
		CU_ASSERT(!gaps_add(&gaps, &leases[TABLES], 10, 20) && withdrawn == 0);
	CU_ASSERT(gaps_add(&gaps, &leases[TABLES], 10, 20) && withdrawn == 1);
	gaps_check(&gaps, TABLES);
	gaps_note_twice(&gaps, &leases[1], 5, 9); /* that is not worth another's table */
	CU_ASSERT(withdrawn == 1 && leases[1] == SLAB_NONE);
	CU_ASSERT(leases[0] != SLAB_NONE && leases[1] == SLAB_NONE && leases[2] != SLAB_NONE);
	for (unsigned i = 0; i <= TABLES; i++)
		gaps_drop(&gaps, &leases[i]);
	gaps_check(&gaps, 0);
	gaps_destroy(&gaps);
}

/* Who goes on adding keeps what it has, however often others ask. */
static void those_in_use_stay(void)
{
	uint32_t leases[TABLES + 1];
	uint64_t withdrawn = 0;
	struct gaps gaps;

	memset(leases, 0xff, sizeof(leases));
	CU_ASSERT_FATAL(gaps_create(&gaps, CONNS, &withdrawn) == 0);
	for (unsigned i = 0; i < 10 * GAPS_PATIENCE; i++) {
		for (unsigned k = 0; k < TABLES; k++)
			CU_ASSERT(gaps_add(&gaps, &leases[k], 10, 20 + i));
		CU_ASSERT(!gaps_add(&gaps, &leases[TABLES], 10, 20));
	}
	CU_ASSERT(withdrawn == 0);
	for (unsigned i = 0; i < TABLES; i++)
		gaps_drop(&gaps, &leases[i]);
	gaps_check(&gaps, 0);
	gaps_destroy(&gaps);
}

/* A connection of its own for this port; its segments then go there. */
static void call_from(uint16_t port)
{
	peer.port = port;
	peer.seq = (uint32_t)PEER_ISN;
	peer_connect(&peer, NULL, 0);
}

/* Bytes with one missing before them, from this port. */
static void leave_a_gap(uint16_t port)
{
	peer.port = port;
	peer_send_at(&peer, (uint32_t)PEER_ISN + 2, ACK, "bcd", 3);
	peer_drain(&peer);
}

static size_t fill_the_gap(uint16_t port, struct utcp_conn *conn)
{
	uint8_t got[64];

	peer.port = port;
	peer_send_at(&peer, (uint32_t)PEER_ISN + 1, ACK, "a", 1);
	peer_drain(&peer);
	peer.conn = conn;
	return peer_app_read(&peer, got, sizeof(got));
}

static void a_stream_survives_it(void)
{
	struct utcp_config config = peer_config();
	struct utcp_conn *conns[TABLES + 1];

	config.conn_max = CONNS;
	peer_open(&peer, &config);
	for (uint16_t i = 0; i <= TABLES; i++) {
		call_from((uint16_t)(1000 + i));
		conns[i] = peer.conn;
		leave_a_gap((uint16_t)(1000 + i));
	}
	for (unsigned i = 0; i < GAPS_PATIENCE; i++)
		leave_a_gap(1000 + TABLES);
	CU_ASSERT(COUNT(gaps_withdrawn) == 1 && COUNT(ooo_dropped) == GAPS_PATIENCE);
	CU_ASSERT(COUNT(ooo_segments) == TABLES + 1);
	CU_ASSERT(fill_the_gap(1000, conns[0]) == 1); /* what it had is to be sent again */
	peer_send_at(&peer, (uint32_t)PEER_ISN + 2, ACK, "bcd", 3);
	CU_ASSERT(fill_the_gap(1000, conns[0]) == 3);
	for (uint16_t i = 1; i <= TABLES; i++)
		CU_ASSERT(fill_the_gap((uint16_t)(1000 + i), conns[i]) == 4);
	peer_close(&peer);
}

static void an_end_gives_back(void)
{
	struct utcp_config config = peer_config();

	config.conn_max = 2;
	peer_open(&peer, &config);
	for (uint16_t i = 0; i < 4; i++) {
		call_from((uint16_t)(1000 + i));
		leave_a_gap((uint16_t)(1000 + i));
		peer_send_at(&peer, (uint32_t)PEER_ISN + 1, RST, NULL, 0);
		peer_poll(&peer);
		peer_jump(&peer, 2 * MS);
	}
	CU_ASSERT(COUNT(gaps_withdrawn) == 0 && utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"a table is leased only while something is missing or to be reported",
	 leases_while_needed},
	{"each of 256 connections has a table, and of many more an eighth", there_are_enough},
	{"when none is left, the one not added to for longest gives way", oldest_gives_way},
	{"a table that is added to stays, however many ask for one", those_in_use_stay},
	{"a stream whose table gave way is whole once sent again", a_stream_survives_it},
	{"a connection that ends gives its table back", an_end_gives_back},
};

SUITE_MAIN("gaps", tests)
