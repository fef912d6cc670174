#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <string.h>

static struct peer peer;
static uint8_t got[4096];

static void open_connected(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
}

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static void settle(void)
{
	peer_poll(&peer);
	utcp_advance(peer.utcp, peer.now_ns);
}

/* Takes utcp's next segment, which must be a FIN, and moves on behind it. */
static void take_fin(void)
{
	struct peer_segment out;

	CU_ASSERT_FATAL(peer_take(&peer, &out) && (out.flags & FIN));
	peer.ack = out.seq + (uint32_t)out.bytes + 1;
}

static void we_close_first(void)
{
	struct peer_segment out;

	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send(&peer, ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0);
	peer_send(&peer, FIN | ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.events == (UTCP_FINISHED | UTCP_CLOSED) && peer.reason == UTCP_DONE);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
	settle();
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1);	       /* TIME-WAIT needs no application */
	peer_send_at(&peer, peer.seq - 1, FIN | ACK, NULL, 0); /* our ACK was lost */
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
	peer_jump(&peer, 900 * MS);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1);
	peer_send_at(&peer, peer.seq - 1, FIN | ACK, NULL, 0); /* and again: the time begins anew */
	CU_ASSERT(peer_take(&peer, &out));
	peer_jump(&peer, 900 * MS);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1);
	peer_jump(&peer, 200 * MS);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0 && peer.closed == 1 && COUNT(closed) == 1);
	peer_close(&peer);
}

/* After a closed window it opens: that ends probes, not the wait that runs in the same timer. */
static void windows_do_not_prolong(void)
{
	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer.window = 0;
	peer_send(&peer, FIN | ACK, NULL, 0);
	settle();
	peer.window = 60000;
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 1);
	peer_wait(&peer, 1100 * MS);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void peer_closes_first(void)
{
	struct peer_segment out;

	open_connected();
	peer_send(&peer, FIN | ACK, "bye", 3);
	peer_poll(&peer);
	CU_ASSERT(peer.events == (UTCP_READABLE | UTCP_FINISHED));
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 3);
	CU_ASSERT(peer_app_write(&peer, "and more", 8)); /* half-closed: our side goes on */
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 8);
	peer.ack += 8;
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	CU_ASSERT(peer.closed == 0);
	peer_send(&peer, ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_DONE);
	settle();
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void we_half_close(void)
{
	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	CU_ASSERT(!peer_app_write(&peer, "late", 4));
	peer_send(&peer, ACK, NULL, 0);
	for (unsigned i = 0; i < 20; i++) { /* the peer streams on for minutes */
		peer_send(&peer, ACK, "0123456789", 10);
		CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 10);
		peer_wait(&peer, 13 * SECOND);
		peer_poll(&peer);
		CU_ASSERT(peer.closed == 0);
	}
	peer_send(&peer, FIN | ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_DONE);
	peer_close(&peer);
}

static void both_close_at_once(void)
{
	struct peer_segment out;

	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer.ack--; /* the peer's FIN crosses ours */
	peer_send(&peer, FIN | ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.ack == peer.seq);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0); /* CLOSING: ours is not yet acknowledged */
	peer.ack++;
	peer_send(&peer, ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_DONE);
	peer_wait(&peer, 2 * SECOND);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void fin_acks_fin_and_ours(void)
{
	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send(&peer, FIN | ACK, NULL, 0); /* FIN-WAIT-1 straight to TIME-WAIT */
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_DONE);
	peer_close(&peer);
}

static void fin_waits_for_data(void)
{
	uint32_t first;

	open_connected();
	first = peer.seq;
	peer_send_at(&peer, first + 6, FIN | ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.events == 0);
	peer_send_at(&peer, first + 3, ACK, "def", 3);
	peer_send_at(&peer, first + 6, ACK, "beyond the end", 14);
	peer_send_at(&peer, first, ACK, "abc", 3);
	peer_poll(&peer);
	CU_ASSERT(peer.events == (UTCP_READABLE | UTCP_FINISHED));
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 6 && memcmp(got, "abcdef", 6) == 0);
	peer_close(&peer);
}

static void fin_waits_alone(void)
{
	open_connected();
	peer_send_at(&peer, peer.seq + 3, FIN | ACK, NULL, 0);
	peer_send(&peer, ACK, "abc", 3);
	peer_poll(&peer);
	CU_ASSERT(peer.events == (UTCP_READABLE | UTCP_FINISHED));
	peer_close(&peer);
}

static void fin_is_taken_once(void)
{
	struct peer_segment out;
	uint32_t first;

	open_connected();
	first = peer.seq;
	peer_send(&peer, FIN | ACK, "abc", 3);
	peer_drain(&peer);
	peer_poll(&peer);
	peer.events = 0;
	for (unsigned i = 0; i < 3; i++) {
		peer_send_at(&peer, first, FIN | ACK, "abc", 3);
		peer_send_at(&peer, first + 3, FIN | ACK, NULL, 0);
		CU_ASSERT(peer_take(&peer, &out) && out.ack == peer.seq);
		peer_drain(&peer);
	}
	peer_send_at(&peer, peer.seq, ACK, "after the end", 13);
	peer_poll(&peer);
	CU_ASSERT(peer.events == 0 && peer_app_read(&peer, got, sizeof(got)) == 3);
	peer_close(&peer);
}

static void a_fin_before_data_is_a_lie(void)
{
	uint32_t first;

	open_connected();
	first = peer.seq;
	peer_send_at(&peer, first + 4, ACK, "efgh", 4);
	peer_send_at(&peer, first + 2, FIN | ACK, NULL, 0);
	peer_send_at(&peer, first, ACK, "abcd", 4);
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_READABLE);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 8);
	peer_close(&peer);
}

static void fin_is_sent_again(void)
{
	struct peer_segment out;

	open_connected();
	peer_app_write(&peer, "last", 4);
	utcp_finish(peer.utcp, peer.conn);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == (FIN | PSH | ACK) && out.bytes == 4);
	peer_jump(&peer, 1100 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == (FIN | PSH | ACK) && out.bytes == 4);
	peer.ack += 4; /* only the data arrived */
	peer_send(&peer, ACK, NULL, 0);
	peer_jump(&peer, 1100 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == (FIN | ACK) && out.seq == peer.ack);
	peer_close(&peer);
}

static void fin_waits_for_the_window(void)
{
	struct peer_segment out;

	open_connected();
	peer.window = 0;
	peer_send(&peer, ACK, NULL, 0);
	utcp_finish(peer.utcp, peer.conn);
	CU_ASSERT(!peer_take(&peer, &out));
	peer.window = 10;
	peer_send(&peer, ACK, NULL, 0);
	take_fin();
	peer_close(&peer);
}

static void vanished_peers_are_reaped(void)
{
	/* In FIN-WAIT-1, */
	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	peer_wait(&peer, 400 * SECOND);
	settle();
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT &&
		  utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
	/* in FIN-WAIT-2, */
	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send(&peer, ACK, NULL, 0);
	peer_wait(&peer, 80 * SECOND);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0 && COUNT(probes) == 5);
	peer_wait(&peer, 20 * SECOND);
	settle();
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT &&
		  utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
	/* in LAST-ACK. */
	open_connected();
	peer_send(&peer, FIN | ACK, NULL, 0);
	utcp_finish(peer.utcp, peer.conn);
	peer_wait(&peer, 400 * SECOND);
	settle();
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT &&
		  utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void a_silent_but_living_peer_is_kept(void)
{
	struct peer_segment out;

	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send(&peer, ACK, NULL, 0);
	for (unsigned i = 0; i < 40; i++) {
		peer_jump(&peer, 16 * SECOND);
		CU_ASSERT(peer_take(&peer, &out) && out.bytes == 0 && out.seq == peer.ack - 1);
		peer_send(&peer, ACK, NULL, 0);
	}
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0);
	peer_close(&peer);
}

static void end_waits_for_the_reader(void)
{
	open_connected();
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send(&peer, FIN | ACK, "unread", 6);
	peer_poll(&peer);
	CU_ASSERT(peer.events == (UTCP_READABLE | UTCP_FINISHED));
	peer_wait(&peer, 5 * SECOND); /* TIME-WAIT is long over */
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0 && utcp_conn_count(peer.utcp) == 1);
	CU_ASSERT(peer_app_read(&peer, got, 2) == 2);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0);
	CU_ASSERT(peer_app_read(&peer, got, 4) == 4);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_DONE);
	settle();
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void aborts(void)
{
	struct peer_segment out;

	open_connected();
	peer_app_write(&peer, "never sent", 10);
	utcp_abort(peer.utcp, peer.conn);
	utcp_abort(peer.utcp, peer.conn);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_ABORTED);
	CU_ASSERT(peer_take(&peer, &out) && (out.flags & RST) && out.seq == peer.ack);
	CU_ASSERT(!peer_take(&peer, &out));
	settle();
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_send(&peer, ACK, "anybody?", 8);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == RST);
	peer_close(&peer);
	open_connected(); /* done but unread: abort ends that too */
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send(&peer, FIN | ACK, "unread", 6);
	peer_poll(&peer);
	utcp_abort(peer.utcp, peer.conn);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_ABORTED);
	peer_close(&peer);
}

static void aborts_a_call(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;

	peer_open(&peer, &config);
	peer_be_called(&peer);
	utcp_abort(peer.utcp, peer.conn);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_ABORTED && !peer_take(&peer, &out));
	peer_close(&peer);
}

/* Brings a connection from `port` into TIME-WAIT. */
static void into_time_wait(uint16_t port)
{
	peer.port = port;
	peer_connect(&peer, NULL, 0);
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send(&peer, FIN | ACK, NULL, 0);
	peer_drain(&peer);
	settle();
}

static void time_wait_gives_way(void)
{
	struct utcp_config config = peer_config();

	config.time_wait_ns = 1000 * SECOND;
	peer_open(&peer, &config);
	for (uint16_t i = 0; i < 8; i++)
		into_time_wait((uint16_t)(PEER_PORT + i));
	CU_ASSERT(utcp_conn_count(peer.utcp) == 8);
	for (uint16_t i = 8; i < 30; i++) /* a full table, and still all are served */
		into_time_wait((uint16_t)(PEER_PORT + i));
	CU_ASSERT(utcp_conn_count(peer.utcp) == 8 && COUNT(drop_tcp_full) == 0);
	CU_ASSERT(COUNT(time_waits_cut) == 22);
	CU_ASSERT(peer.closed == 30);
	peer_close(&peer);
}

/* What an application still reads from cannot give way. */
static void unread_connections_keep_their_place(void)
{
	struct utcp_config config = peer_config();

	config.conn_max = 1;
	config.time_wait_ns = 1000 * SECOND;
	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send(&peer, FIN | ACK, "unread", 6);
	peer_drain(&peer);
	settle();
	peer.port++;
	peer_send_at(&peer, 1, SYN, NULL, 0);
	CU_ASSERT(COUNT(drop_tcp_full) == 1 && peer_drain(&peer) == 0);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 6);
	settle();
	peer_send_at(&peer, 1, SYN, NULL, 0);
	CU_ASSERT(COUNT(drop_tcp_full) == 1 && peer_drain(&peer) == 1);
	peer_close(&peer);
}

/* A handle is good until the turn after its end was told, and does nothing more. */
static void calls_after_the_end_do_nothing(void)
{
	struct room rooms[2];

	open_connected();
	peer_send(&peer, ACK, "last words", 10);
	peer_send_at(&peer, peer.seq, RST, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_RESET);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 10);
	CU_ASSERT(utcp_reserve(peer.utcp, peer.conn, 5, rooms) == 0);
	utcp_finish(peer.utcp, peer.conn);
	utcp_abort(peer.utcp, peer.conn);
	utcp_check(peer.utcp);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer_drain(&peer) == 0 && utcp_conn_count(peer.utcp) == 1);
	utcp_advance(peer.utcp, peer.now_ns);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void reset_in_last_ack_after_all_is_done(void)
{
	open_connected();
	peer_send(&peer, FIN | ACK, NULL, 0);
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send_at(&peer, peer.seq, RST, NULL, 0); /* the peer's TIME-WAIT was over */
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_DONE);
	peer_close(&peer);
	open_connected();
	peer_send(&peer, FIN | ACK, NULL, 0);
	peer_app_write(&peer, "not acknowledged", 16);
	utcp_finish(peer.utcp, peer.conn);
	take_fin();
	peer_send_at(&peer, peer.seq, RST, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_RESET);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"we close first: TIME-WAIT, without the application", we_close_first},
	{"a window that opens does not stop TIME-WAIT from ending", windows_do_not_prolong},
	{"the peer closes first: CLOSE-WAIT still sends", peer_closes_first},
	{"after our FIN the peer may stream for minutes", we_half_close},
	{"both close at once", both_close_at_once},
	{"a FIN may bring the ACK of ours", fin_acks_fin_and_ours},
	{"a FIN ahead of data waits, and nothing comes after it", fin_waits_for_data},
	{"a FIN that alone came early is taken with the data before it", fin_waits_alone},
	{"a FIN is taken once, with data and without", fin_is_taken_once},
	{"a FIN before data that has come is ignored", a_fin_before_data_is_a_lie},
	{"our FIN is sent again, with data and alone", fin_is_sent_again},
	{"a FIN waits for the window", fin_waits_for_the_window},
	{"a vanished peer is reaped in every closing state", vanished_peers_are_reaped},
	{"a silent but living peer is kept in FIN-WAIT-2", a_silent_but_living_peer_is_kept},
	{"the end is told when all has been read", end_waits_for_the_reader},
	{"abort resets at once", aborts},
	{"a call can be aborted", aborts_a_call},
	{"TIME-WAIT gives way when the table is full, oldest first", time_wait_gives_way},
	{"a connection with unread data keeps its place", unread_connections_keep_their_place},
	{"calls after the end do nothing", calls_after_the_end_do_nothing},
	{"a reset is no error only after all data was acknowledged",
	 reset_in_last_ack_after_all_is_done},
};

SUITE_MAIN("close", tests)
