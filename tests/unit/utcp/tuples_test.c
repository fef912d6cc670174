/*
 * tuples_test: the table that finds connections by their ends, of both families.
 */
#include "stacks/utcp/tuples.h"

#include "dataplane/core/check.h"
#include "dataplane/core/siphash.h"
#include "tests/support/suite.h"

enum {
	PEERS = 20000, /* so many that the 24 bits that hash an address meet a dozen times */
	PORT = 7878,
};

static const uint8_t secret[16] = {1, 2, 3};
static const struct siphash_key scatter = {4, 5}; /* of the peers' host parts */
static struct tuples tuples;
static struct slab conns;
static struct utcp_conn *held[2 * PEERS]; /* all that were taken of the slab */
static uint32_t held_count;

/* Peer `number` of a family, at one port for all: only addresses tell them apart. */
static struct segment_ends ends_of(uint32_t number, bool is_ip6)
{
	uint8_t own[16] = {0xfd, 0x77, [15] = 1}, peer[16] = {0xfd, 0x77};
	uint64_t host = siphash_words(&scatter, &(uint64_t){number}, 1);
	struct segment_ends ip6 = {.own_port = PORT, .peer_port = PORT};
	struct segment_ends ip4 = {addr_of_ip4(0x0a000001), addr_of_ip4(0x0a010000 + number), PORT,
				   PORT};

	memcpy(peer + 8, &host, sizeof(host));
	ip6.own = addr_of_ip6(own);
	ip6.peer = addr_of_ip6(peer);
	return is_ip6 ? ip6 : ip4;
}

static struct utcp_conn *add(const struct segment_ends *ends)
{
	static const uint8_t mac[MAC_BYTES] = {2};
	struct utcp_conn *conn = slab_acquire(&conns);

	CHECK(conn != NULL);
	held[held_count++] = conn;
	segment_head_init(&conn->head, mac, mac, ends);
	conn->key = tuples_key(&tuples, ends);
	tuples_add(&tuples, &conns, conn);
	return conn;
}

static struct utcp_conn *add_peer(uint32_t number)
{
	struct segment_ends ends = ends_of(number, number % 2);

	return add(&ends);
}

static void open_table(void)
{
	CU_ASSERT_FATAL(slab_create(&conns, 2 * PEERS, sizeof(struct utcp_conn)) == 0);
	CU_ASSERT_FATAL(tuples_init(&tuples, 2 * PEERS, secret) == 0);
}

static void close_table(void)
{
	tuples_fini(&tuples);
	while (held_count > 0)
		slab_release(&conns, held[--held_count]);
	slab_destroy(&conns);
}

static void finds_each_of_many(void)
{
	static struct utcp_conn *added[2][PEERS];

	open_table();
	for (uint32_t i = 0; i < 2 * PEERS; i++) {
		struct segment_ends ends = ends_of(i / 2, i % 2);

		CU_ASSERT_FATAL(tuples_find(&tuples, &conns, &ends) == NULL);
		added[i % 2][i / 2] = add(&ends);
	}
	for (uint32_t i = 0; i < 2 * PEERS; i++) {
		struct segment_ends ends = ends_of(i / 2, i % 2);

		CU_ASSERT_FATAL(tuples_find(&tuples, &conns, &ends) == added[i % 2][i / 2]);
		tuples_remove(&tuples, &conns, added[i % 2][i / 2]);
		CU_ASSERT_FATAL(tuples_find(&tuples, &conns, &ends) == NULL);
	}
	CU_ASSERT(tuples.count == 0);
	close_table();
}

/* Many more than the table was made for: most find no place in their bucket, and get one as others
 * leave, in whatever order. */
static void holds_more_than_have_places(void)
{
	static struct utcp_conn *added[64 * TUPLES_PLACES];
	enum { MANY = sizeof(added) / sizeof(added[0]) };

	for (uint32_t stride = 1; stride <= 5; stride += 2) {
		CU_ASSERT_FATAL(slab_create(&conns, MANY, sizeof(struct utcp_conn)) == 0);
		CU_ASSERT_FATAL(tuples_init(&tuples, 2 * TUPLES_PLACES, secret) == 0);
		for (uint32_t i = 0; i < MANY; i++)
			added[i] = add_peer(i);
		tuples_check(&tuples, &conns);
		for (uint32_t i = 0; i < MANY; i++) {
			uint32_t gone = i * stride % MANY, later = (i + 1) * stride % MANY;
			struct segment_ends ends = ends_of(gone, gone % 2);

			CU_ASSERT_FATAL(tuples_find(&tuples, &conns, &ends) == added[gone]);
			tuples_remove(&tuples, &conns, added[gone]);
			CU_ASSERT_FATAL(tuples_find(&tuples, &conns, &ends) == NULL);
			tuples_check(&tuples, &conns);
			ends = ends_of(later, later % 2);
			CU_ASSERT_FATAL(i + 1 == MANY ||
					tuples_find(&tuples, &conns, &ends) == added[later]);
		}
		CU_ASSERT(tuples.count == 0);
		close_table();
	}
}

/* Which of our addresses was called is part of a connection's name, too. */
static void tells_our_addresses_apart(void)
{
	struct segment_ends ends = ends_of(1, true), others = ends;
	struct utcp_conn *conn;

	open_table();
	others.own = ends_of(2, true).peer;
	conn = add(&ends);
	CU_ASSERT(tuples_find(&tuples, &conns, &others) == NULL);
	CU_ASSERT(add(&others) == tuples_find(&tuples, &conns, &others));
	CU_ASSERT(tuples_find(&tuples, &conns, &ends) == conn);
	close_table();
}

/* So IPv4 never has to look at more than the key. */
static void keys_of_families_differ(void)
{
	open_table();
	for (uint32_t i = 0; i < PEERS; i++) {
		struct segment_ends ip4 = ends_of(i, false), ip6 = ends_of(i, true);

		CU_ASSERT_FATAL(tuples_key(&tuples, &ip4) >> 56 != 0);
		CU_ASSERT_FATAL(tuples_key(&tuples, &ip6) >> 56 == 0);
	}
	close_table();
}

/* Whoever knows the addresses cannot know the buckets: another secret, other keys. */
static void keys_follow_the_secret(void)
{
	static const uint8_t other[16] = {9};
	struct segment_ends ends = ends_of(1, true);
	unsigned same = 0;
	uint64_t key;

	open_table();
	for (uint32_t i = 0; i < 64; i++) {
		ends = ends_of(i, true);
		key = tuples_key(&tuples, &ends);
		tuples_fini(&tuples);
		CU_ASSERT_FATAL(tuples_init(&tuples, 2 * PEERS, i & 1 ? secret : other) == 0);
		same += key == tuples_key(&tuples, &ends);
	}
	CU_ASSERT(same <= 1);
	close_table();
}

static const struct suite_test tests[] = {
	{"each of many connections is found, of both families, at one port", finds_each_of_many},
	{"those without a place in their bucket are found, and get one as others leave",
	 holds_more_than_have_places},
	{"connections to two of our addresses are two", tells_our_addresses_apart},
	{"keys of IPv4 and of IPv6 are never equal", keys_of_families_differ},
	{"the keys of IPv6 follow the secret", keys_follow_the_secret},
};

SUITE_MAIN("tuples", tests)
