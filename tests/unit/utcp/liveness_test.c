#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

static struct peer peer;

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static void open_with(uint64_t keepalive_ns, uint64_t user_timeout_ns)
{
	struct utcp_config config = peer_config();

	config.keepalive_ns = keepalive_ns;
	config.user_timeout_ns = user_timeout_ns;
	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
}

static void settle(void)
{
	peer_poll(&peer);
	utcp_advance(peer.utcp, peer.now_ns);
}

/* Runs timers until utcp sends something, at most `ns` long; whether it did. */
static bool wait_for_segment(struct peer_segment *out, uint64_t ns)
{
	uint64_t end = peer.now_ns + ns, next;

	for (;;) {
		if (peer_take(&peer, out))
			return true;
		next = utcp_deadline(peer.utcp);
		if (next > end)
			return false;
		peer_jump(&peer, next > peer.now_ns ? next - peer.now_ns : 0);
	}
}

static void idle_peers_are_left_alone_unless_asked_for(void)
{
	open_with(0, 0);
	peer_wait(&peer, 100000 * SECOND);
	settle();
	CU_ASSERT(peer.closed == 0 && COUNT(keepalives) == 0 && COUNT(out_segments) == 1);
	peer_close(&peer);
}

static void living_idle_peers_are_kept(void)
{
	struct peer_segment out;

	open_with(60 * SECOND, 0);
	for (unsigned i = 0; i < 100; i++) {
		CU_ASSERT_FATAL(wait_for_segment(&out, 125 * SECOND));
		CU_ASSERT(out.seq == peer.ack - 1 && out.bytes == 0 && out.flags == ACK);
		peer_send(&peer, ACK, NULL, 0);
	}
	settle();
	CU_ASSERT(peer.closed == 0 && COUNT(keepalives) == 100 && COUNT(probes) == 100);
	peer_close(&peer);
}

static void a_peer_that_streams_is_not_asked(void)
{
	open_with(10 * SECOND, 0);
	for (unsigned i = 0; i < 100; i++) {
		uint8_t got[8];

		peer_wait(&peer, 9 * SECOND);
		peer_send(&peer, ACK, "data", 4);
		peer_app_read(&peer, got, sizeof(got));
	}
	CU_ASSERT(COUNT(keepalives) == 0);
	for (unsigned i = 0; i < 100; i++) { /* nor one that takes data */
		peer_wait(&peer, 9 * SECOND);
		peer_app_write(&peer, "data", 4);
		peer_drain(&peer);
		peer.ack += 4;
		peer_send(&peer, ACK, NULL, 0);
	}
	CU_ASSERT(COUNT(keepalives) == 0);
	peer_close(&peer);
}

/* T30: a peer that vanished without a word. */
static void silent_idle_peers_are_given_up(void)
{
	struct peer_segment out;
	uint64_t began;

	open_with(60 * SECOND, 0);
	began = peer.now_ns;
	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT(wait_for_segment(&out, 125 * SECOND) && out.seq == peer.ack - 1);
	CU_ASSERT(peer.now_ns - began >= 60 * SECOND + 4 * 15 * SECOND);
	CU_ASSERT(!wait_for_segment(&out, 20 * SECOND));
	settle();
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT && COUNT(keepalives) == 5);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void after_the_peers_fin_too(void)
{
	open_with(60 * SECOND, 0);
	peer_send(&peer, FIN | ACK, NULL, 0);
	peer_wait(&peer, 300 * SECOND);
	settle();
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT && COUNT(keepalives) == 5);
	peer_close(&peer);
}

/* T30: the peer lost all memory and calls again from the same port (RFC 9293 3.5.1, figure 9). */
static void a_rebooted_peer_is_found_out(void)
{
	struct peer_segment out;

	open_with(0, 0);
	peer.seq += 5000;
	peer_send_at(&peer, peer.seq, SYN, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && COUNT(challenge_acks) == 1);
	peer_send_at(&peer, out.ack, RST, NULL, 0);
	settle();
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_RESET && utcp_conn_count(peer.utcp) == 0);
	peer_connect(&peer, NULL, 0);
	CU_ASSERT(peer.accepted == 2);
	peer_close(&peer);
}

/* And we lost ours: whatever the peer sends is answered with RST. */
static void a_peer_learns_of_our_reboot(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;

	peer_open(&peer, &config);
	peer.ack = 4711;
	peer_send(&peer, ACK, "are you there?", 14);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST && out.seq == 4711);
	CU_ASSERT(COUNT(no_listener) == 1);
	peer_close(&peer);
}

/* T22: sockstress. The peer answers each probe, and its window stays shut. */
static void a_shut_window_ends_with_the_user_timeout(void)
{
	struct peer_segment out;
	uint64_t began;

	open_with(0, 100 * SECOND);
	peer.window = 0;
	peer_send(&peer, ACK, NULL, 0);
	peer_app_write(&peer, "wanted", 6);
	began = peer.now_ns;
	while (wait_for_segment(&out, 61 * SECOND)) {
		CU_ASSERT(out.bytes == 0 && out.seq == peer.ack - 1);
		peer_send(&peer, ACK, NULL, 0);
	}
	settle();
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT && COUNT(user_timeouts) == 1);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0 && COUNT(probes) < 12);
	CU_ASSERT(peer.now_ns - began < 170 * SECOND);
	peer_close(&peer);
}

/* The same, by one that opens its window a little now and then and takes nothing. */
static void a_teasing_window_ends_too(void)
{
	uint64_t began;

	open_with(0, 100 * SECOND);
	peer.window = 0;
	peer_send(&peer, ACK, NULL, 0);
	peer_app_write(&peer, "wanted", 6);
	began = peer.now_ns;
	while (peer.closed == 0 && peer.now_ns - began < 1000 * SECOND) {
		peer_wait(&peer, 3 * SECOND);
		peer.window ^= 1;
		peer_send(&peer, ACK, NULL, 0);
		settle();
	}
	CU_ASSERT(peer.closed == 1 && COUNT(user_timeouts) == 1);
	CU_ASSERT(peer.now_ns - began >= 99 * SECOND && peer.now_ns - began < 110 * SECOND);
	peer_close(&peer);
}

static void progress_renews_the_user_timeout(void)
{
	static const uint8_t data[64];
	struct peer_segment out;

	open_with(0, 100 * SECOND);
	peer.window = 0;
	peer_send(&peer, ACK, NULL, 0);
	peer_app_write(&peer, data, sizeof(data));
	for (unsigned i = 0; i < 20; i++) { /* one byte a minute */
		peer_wait(&peer, 50 * SECOND);
		peer.window = 1;
		peer_send(&peer, ACK, NULL, 0);
		CU_ASSERT_FATAL(wait_for_segment(&out, 9 * SECOND) && out.bytes == 1);
		peer.ack++;
		peer.window = 0;
		peer_send(&peer, ACK, NULL, 0);
	}
	settle();
	CU_ASSERT(peer.closed == 0 && COUNT(out_bytes) == 20);
	peer_close(&peer);
}

static void the_user_timeout_replaces_r2(void)
{
	uint64_t began;

	open_with(0, 20 * SECOND); /* shorter, */
	peer_app_write(&peer, "lost", 4);
	began = peer.now_ns;
	while (peer.closed == 0) {
		peer_wait(&peer, 100 * MS);
		settle();
	}
	CU_ASSERT(peer.reason == UTCP_TIMEOUT && COUNT(user_timeouts) == 1);
	CU_ASSERT(peer.now_ns - began >= 19 * SECOND && peer.now_ns - began <= 21 * SECOND);
	peer_close(&peer);
	open_with(0, 5000 * SECOND); /* and longer */
	peer_app_write(&peer, "lost", 4);
	peer_wait(&peer, 4990 * SECOND);
	settle();
	CU_ASSERT(peer.closed == 0 && COUNT(timeouts) > 60);
	peer.ack += 4;
	peer_send(&peer, ACK, NULL, 0);
	peer_wait(&peer, 100 * SECOND);
	settle();
	CU_ASSERT(peer.closed == 0);
	peer_close(&peer);
}

/* T38: a program that stood still must not blame its peer for it. */
static void our_own_absence_is_not_held_against_the_peer(void)
{
	open_with(0, 100 * SECOND);
	peer_app_write(&peer, "slow", 4);
	peer_wait(&peer, 5 * SECOND);
	peer_jump(&peer, 1000 * SECOND);
	settle();
	CU_ASSERT(peer.closed == 0);
	peer.ack += 4;
	peer_send(&peer, ACK, NULL, 0);
	settle();
	CU_ASSERT(peer.closed == 0);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"an idle peer is left alone unless keep-alive is on",
	 idle_peers_are_left_alone_unless_asked_for},
	{"an idle peer that answers keep-alives is kept", living_idle_peers_are_kept},
	{"a peer whose stream moves is not asked", a_peer_that_streams_is_not_asked},
	{"an idle peer that vanished is given up", silent_idle_peers_are_given_up},
	{"one that vanished after its FIN, too", after_the_peers_fin_too},
	{"a peer that rebooted and calls again is found out", a_rebooted_peer_is_found_out},
	{"a peer learns that we rebooted", a_peer_learns_of_our_reboot},
	{"a window that stays shut ends with the user timeout",
	 a_shut_window_ends_with_the_user_timeout},
	{"a window that opens and takes nothing ends with it too", a_teasing_window_ends_too},
	{"progress begins the user timeout anew", progress_renews_the_user_timeout},
	{"the user timeout takes the place of R2, shorter and longer",
	 the_user_timeout_replaces_r2},
	{"a long absence of our own is not held against the peer",
	 our_own_absence_is_not_held_against_the_peer},
};

SUITE_MAIN("liveness", tests)
