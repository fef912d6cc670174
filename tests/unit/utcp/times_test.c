#include "stacks/utcp/times.h"

#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

#include <string.h>

#define DAY (24 * 3600 * SECOND)
#define COUNT(name) (utcp_counters(peer.utcp)->name)

enum { FIRST = (int)0xfffffffc }; /* the peer's clock, just under the wrap */

static struct peer peer;
static uint8_t got[4096];

static void open_with_times(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer.times = true;
	peer.times_value = (uint32_t)FIRST;
	peer_connect(&peer, NULL, 0);
}

/* What utcp's next segment says; false if there is none, or it has no timestamps. */
static bool take_times(uint32_t *value, uint32_t *echo)
{
	struct peer_segment segment;

	return peer_take(&peer, &segment) && peer_times(&segment, value, echo);
}

static void agrees_to_both(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;
	uint32_t value, echo;

	open_with_times();
	peer_app_write(&peer, "x", 1);
	CU_ASSERT(take_times(&value, &echo) && echo == (uint32_t)FIRST);
	peer_close(&peer);
	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0); /* a peer without */
	peer_app_write(&peer, "x", 1);
	CU_ASSERT(peer_take(&peer, &out) && out.options_bytes == 0);
	peer_close(&peer);
	config.timestamps_off = true;
	peer_open(&peer, &config);
	peer.times = true;
	peer_connect(&peer, NULL, 0);
	peer_app_write(&peer, "x", 1);
	CU_ASSERT(peer_take(&peer, &out) && out.options_bytes == 0);
	peer_close(&peer);
}

static void offers_when_told(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment syn;

	config.timestamps_off = true;
	peer_open(&peer, &config);
	peer_be_called(&peer);
	CU_ASSERT(memcmp(peer.frame + peer_tcp_at() + 20, "\2\4\x05\xb4\4\2\1\1\1\3\3\0", 12) == 0);
	peer_send(&peer, RST | ACK, NULL, 0);
	peer_close(&peer);
	config.timestamps_off = false;
	peer_open(&peer, &config);
	peer_be_called(&peer);
	peer.times = true;
	peer.times_value = (uint32_t)FIRST;
	peer_send(&peer, SYN | ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &syn) && syn.flags == ACK && peer_option(&syn, 8));
	peer_close(&peer);
}

/* RFC 9293 3.7.1: the MSS does not count options. */
static void leaves_room(void)
{
	static const uint8_t data[8000];
	struct peer_segment out;

	open_with_times();
	peer_app_write(&peer, data, sizeof(data));
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1448 &&
		  peer.frame_bytes == peer_tcp_at() + 20 + 1460);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1448);
	peer_close(&peer);
}

static void shows_milliseconds(void)
{
	uint32_t first, value, echo;

	open_with_times();
	peer_app_write(&peer, "x", 1);
	CU_ASSERT(take_times(&first, &echo));
	peer_send(&peer, ACK, NULL, 0);
	peer.now_ns += 1000 * (1ull << TIMES_TICK_SHIFT);
	peer_app_write(&peer, "y", 1);
	CU_ASSERT(take_times(&value, &echo) && value - first == 1000);
	peer_close(&peer);
}

/* What a first SYN-ACK to this port shows. */
static uint32_t first_value(uint16_t port, uint64_t wait_ns)
{
	struct utcp_config config = peer_config();
	struct peer_segment syn = {.seq = 1,
				   .port = port,
				   .own_port = OWN_PORT,
				   .flags = SYN,
				   .options = (const uint8_t *)"\1\1\10\12\0\0\0\1\0\0\0\0",
				   .options_bytes = 12};
	uint32_t value = 0, echo = 0;

	peer_open(&peer, &config);
	peer.now_ns += wait_ns;
	peer_put(&peer, &syn);
	CU_ASSERT(take_times(&value, &echo) && echo == 1);
	peer_close(&peer);
	return value;
}

static void begins_where_nobody_knows(void)
{
	uint32_t first = first_value(1000, 0);

	CU_ASSERT(first_value(1000, 0) == first);
	CU_ASSERT(first_value(1000, 20 * SECOND) - first == (20 * SECOND) >> TIMES_TICK_SHIFT);
	CU_ASSERT(first_value(1001, 0) - first > 1000000 && first - first_value(1001, 0) > 1000000);
}

/* RFC 7323 4.3: of segments that one ACK covers the first is echoed; behind a gap none. */
static void echoes_the_earliest(void)
{
	uint32_t value, echo;

	open_with_times();
	peer.times_value += 2;
	peer_send(&peer, ACK, "a", 1);
	peer.times_value += 2; /* now over the wrap */
	peer_send(&peer, ACK, "b", 1);
	peer_jump(&peer, 5 * MS);
	CU_ASSERT(take_times(&value, &echo) && echo == (uint32_t)FIRST + 2);
	peer.times_value += 2;
	peer_send_at(&peer, peer.seq + 1, ACK, "d", 1);
	CU_ASSERT(take_times(&value, &echo) && echo == (uint32_t)FIRST + 2);
	peer_send(&peer, ACK, "c", 1);
	CU_ASSERT(take_times(&value, &echo) && echo == (uint32_t)FIRST + 6);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 4 && memcmp(got, "abcd", 4) == 0);
	peer_close(&peer);
}

/* RFC 7323 3.2. */
static void wants_what_was_agreed(void)
{
	struct peer_segment out;

	open_with_times();
	peer.times = false;
	peer_send_at(&peer, peer.seq, ACK, "x", 1);
	peer_poll(&peer);
	CU_ASSERT(peer.events == 0 && COUNT(times_missing) == 1 && !peer_take(&peer, &out));
	peer_send_at(&peer, peer.seq, SYN, NULL, 0); /* a peer that began anew must learn of us */
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && COUNT(challenge_acks) == 1);
	peer_send_at(&peer, peer.seq, RST, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_RESET);
	peer_close(&peer);
}

static void ignores_what_was_not(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	peer.times = true;
	for (unsigned i = 0; i < 3; i++) {
		peer.times_value -= 1000;
		peer_send(&peer, ACK, "x", 1);
	}
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 3 && COUNT(times_old) == 0);
	peer_jump(&peer, 5 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.ack == peer.seq && out.options_bytes == 0);
	peer_close(&peer);
}

static void refuses_the_old(void)
{
	struct peer_segment out;

	open_with_times();
	peer.times_value += 10; /* over the wrap */
	peer_send(&peer, ACK, "a", 1);
	peer_jump(&peer, 5 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.ack == peer.seq);
	peer.times_value -= 1;
	peer_send_at(&peer, peer.seq, ACK, "X", 1); /* in order, but for its age */
	CU_ASSERT(peer_take(&peer, &out) && out.ack == peer.seq && COUNT(times_old) == 1);
	for (unsigned i = 0; i < 100; i++) /* empty ones get a bounded number of answers */
		peer_send_at(&peer, peer.seq, ACK, NULL, 0);
	CU_ASSERT(COUNT(times_old) == 101);
	peer_drain(&peer);
	CU_ASSERT(COUNT(out_acks) <= 2 + 10);
	peer_send_at(&peer, peer.seq, RST, NULL, 0); /* a RST is judged by its number alone */
	peer_poll(&peer);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 1 && peer.closed == 1);
	peer_close(&peer);
}

/* RFC 7323 5.5. */
static void forgets_after_24_days(void)
{
	open_with_times();
	peer.times_value -= 5;
	peer_jump(&peer, 23 * DAY);
	peer_send_at(&peer, peer.seq, ACK, "a", 1);
	CU_ASSERT(COUNT(times_old) == 1);
	peer_jump(&peer, 2 * DAY);
	peer_send(&peer, ACK, "a", 1);
	peer_jump(&peer, 5 * MS);
	peer_drain(&peer);
	peer_send(&peer, ACK, "b", 1); /* and the new value counts */
	CU_ASSERT(COUNT(times_old) == 1);
	peer.times_value -= 1;
	peer_send_at(&peer, peer.seq, ACK, "c", 1);
	CU_ASSERT(COUNT(times_old) == 2 && peer_app_read(&peer, got, sizeof(got)) == 2);
	peer_close(&peer);
}

static void refuses_no_zero(void)
{
	uint32_t value, echo;

	open_with_times();
	peer.times_value = 0; /* after 0xfffffffc as good as any */
	peer_send(&peer, ACK, "a", 1);
	peer_jump(&peer, 5 * MS);
	CU_ASSERT(take_times(&value, &echo) && echo == 0 && COUNT(times_old) == 0);
	peer.times_echo = 0; /* nor is what we never sent held against a segment */
	peer_send(&peer, ACK, "b", 1);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 2);
	peer_close(&peer);
}

static void resets_with_times(void)
{
	struct peer_segment out;

	open_with_times();
	utcp_abort(peer.utcp, peer.conn);
	CU_ASSERT(peer_take(&peer, &out) && out.flags & RST && peer_option(&out, 8));
	peer_poll(&peer);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"timestamps are used if both sides offer them", agrees_to_both},
	{"our SYN offers them unless told otherwise", offers_when_told},
	{"segments leave room for them", leaves_room},
	{"our clock moves once in 2^20 ns", shows_milliseconds},
	{"values begin where only the ends' hash says, and grow from call to call",
	 begins_where_nobody_knows},
	{"what is echoed is the earliest that an ACK covers", echoes_the_earliest},
	{"a segment without them is dropped once they are agreed on, RST and SYN excepted",
	 wants_what_was_agreed},
	{"timestamps that were not agreed on change nothing", ignores_what_was_not},
	{"an old timestamp is refused and answered at a bounded rate, over the wrap too",
	 refuses_the_old},
	{"after 24 days of silence no timestamp is old", forgets_after_24_days},
	{"a value or an echo of 0 is like any other", refuses_no_zero},
	{"our RST has them", resets_with_times},
};

SUITE_MAIN("times", tests)
