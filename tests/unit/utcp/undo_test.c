#include "stacks/utcp/undo.h"

#include "stacks/utcp/seq.h"
#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

#include <string.h>

enum { MSS = 1448, FLIGHT = 10 }; /* with timestamps; the first window, in segments */

static struct peer peer;
static uint8_t data[65536];

#define COUNT(name) (utcp_counters(peer.utcp)->name)

/* --- the verdict ----------------------------------------------------------------------------- */

static void tells_late_from_lost(void)
{
	const struct congestion before = {.cwnd = 7};
	struct undo undo = {0};

	CU_ASSERT(undo_take(&undo, 100, 5, false) == UNDO_NOTHING);
	undo_note_cut(&undo, &before);
	CU_ASSERT(undo_take(&undo, 100, 5, true) == UNDO_NOTHING);
	undo_note_resent(&undo, 300, (uint32_t)-2); /* both just under the wrap */
	undo_note_resent(&undo, 200, 3);
	CU_ASSERT(undo_take(&undo, 200, (uint32_t)-3, true) == UNDO_LATE);
	CU_ASSERT(undo_take(&undo, 300, (uint32_t)-3, true) == UNDO_ALL && undo.before.cwnd == 7);
	CU_ASSERT(undo.state == UNDO_OFF);
	undo_note_cut(&undo, &before);
	CU_ASSERT(undo_take(&undo, 400, 9, false) == UNDO_ALL); /* it came before it was resent */
	undo_note_cut(&undo, &before);
	undo_note_resent(&undo, 600, 9);
	CU_ASSERT(undo_take(&undo, 500, 9, true) == UNDO_NOTHING && undo.state == UNDO_OFF);
	CU_ASSERT(undo_take(&undo, 600, 8, false) == UNDO_NOTHING);
}

/* RFC 4015 3.4, and no more than there was. */
static void gives_back_what_was(void)
{
	const struct congestion_algorithm *algorithm = &congestion_newreno;
	struct congestion before = {.algorithm = algorithm, .cwnd = 30000, .ssthresh = 20000};
	struct congestion now = {.algorithm = algorithm, .recovering = true, .cwnd = 1000};

	congestion_undo(&now, &before, 1000, 12000, 3000);
	CU_ASSERT(now.cwnd == 15000 && now.ssthresh == 30000 && !now.recovering);
	congestion_undo(&now, &before, 1000, 12000, 15000);
	CU_ASSERT(now.cwnd == 22000); /* no burst beyond the initial window */
	congestion_undo(&now, &before, 1000, 60000, 15000);
	CU_ASSERT(now.cwnd == 30000);
}

/* --- a connection ---------------------------------------------------------------------------- */

/* Takes all that leaves, and notes its timestamps; how many segments. */
static unsigned take_all(void)
{
	struct peer_segment out;
	unsigned count = 0;

	while (peer_take(&peer, &out))
		count++;
	return count;
}

/* A peer with timestamps, 40 ms away; ten segments have left. */
static void open_and_write(void)
{
	struct utcp_config config = peer_config();

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 13 >> 2);
	config.send_bytes = sizeof(data);
	peer.times = true;
	peer_open(&peer, &config);
	peer.times = true;
	peer_connect(&peer, NULL, 0);
	for (unsigned i = 0; i < 50; i++) {
		CU_ASSERT(peer_app_write(&peer, data, 100));
		CU_ASSERT(take_all() == 1);
		peer_jump(&peer, 40 * MS);
		peer.ack += 100;
		peer_send(&peer, ACK, NULL, 0);
	}
	CU_ASSERT(peer_app_write(&peer, data, 40 * MSS));
	CU_ASSERT(take_all() == FLIGHT);
}

/* The peer acknowledges so many bytes and echoes this; SACK blocks are offsets from there. */
static void acknowledge(uint32_t bytes, uint32_t echo, unsigned blocks, const uint32_t *offsets)
{
	uint8_t options[40] = {1, 1, 8, 10, 0, 0, 0, 0,
			       0, 0, 0, 0,  1, 1, 5, (uint8_t)(2 + 8 * blocks)};
	struct peer_segment segment = {.seq = peer.seq,
				       .window = peer.window,
				       .port = peer.port,
				       .own_port = peer.own_port,
				       .flags = ACK,
				       .options = options,
				       .options_bytes = 12 + (blocks > 0 ? 4 + 8 * blocks : 0)};

	peer.ack += bytes;
	segment.ack = peer.ack;
	for (unsigned i = 0; i < 4; i++) {
		options[4 + i] = (uint8_t)(peer.times_value >> (24 - 8 * i));
		options[8 + i] = (uint8_t)(echo >> (24 - 8 * i));
	}
	for (unsigned i = 0; i < 8 * blocks; i++)
		options[16 + i] = (uint8_t)((peer.ack + offsets[i / 4]) >> (24 - 8 * (i % 4)));
	peer_put(&peer, &segment);
}

/* What the last segment that came says of its time. */
static uint32_t time_of_last(void)
{
	return peer.times_echo;
}

/* Ten segments are out, one more as a probe, and nothing is heard until the timeout; then the first
 * is acknowledged, whose echo is of its first sending or of its second. What may be out then. */
static unsigned window_after_timeout(bool late)
{
	uint32_t first;
	unsigned sent;

	open_and_write();
	first = time_of_last();
	peer_wait(&peer, 90 * MS);
	CU_ASSERT(COUNT(tail_probes) == 1 && COUNT(timeouts) == 0);
	peer_jump(&peer, 300 * MS);
	CU_ASSERT(COUNT(timeouts) == 1 && take_all() == 1 && COUNT(retransmits) == 1);
	peer_jump(&peer, 5 * MS);
	acknowledge(MSS, late ? first : time_of_last(), 0, NULL);
	CU_ASSERT(COUNT(cuts_undone) == late);
	sent = take_all();
	CU_ASSERT(late == (COUNT(retransmits) == 1));
	acknowledge(FLIGHT * MSS, late ? first : time_of_last(), 0, NULL);
	sent = take_all();
	peer_close(&peer);
	return sent;
}

static void a_timeout_may_be_in_vain(void)
{
	CU_ASSERT(window_after_timeout(true) >= FLIGHT);
	CU_ASSERT(window_after_timeout(false) < FLIGHT / 2);
}

/* The first two of ten are overtaken by the others, and sent again. */
static void lose_two(void)
{
	open_and_write();
	peer_jump(&peer, 40 * MS);
	acknowledge(0, time_of_last(), 1, (uint32_t[]){2 * MSS, FLIGHT * MSS});
	peer_jump(&peer, 5 * MS);
	CU_ASSERT(COUNT(fast_retransmits) == 1);
	take_all();
	peer_jump(&peer, 5 * MS);
	acknowledge(0, time_of_last(), 1, (uint32_t[]){2 * MSS, FLIGHT * MSS});
	take_all();
	CU_ASSERT(COUNT(retransmits) == 2);
}

static void a_recovery_may_be_in_vain(void)
{
	uint32_t first;

	for (unsigned late = 0; late < 2; late++) {
		lose_two();
		first = time_of_last() - 20; /* before anything was sent again */
		acknowledge(MSS, first, 0, NULL);
		CU_ASSERT(COUNT(cuts_undone) == 0);
		acknowledge((FLIGHT - 1) * MSS, late ? first : time_of_last(), 0, NULL);
		CU_ASSERT(COUNT(cuts_undone) == late);
		take_all();
		peer_jump(&peer, 40 * MS);
		peer_close(&peer);
	}
}

static const struct suite_test tests[] = {
	{"what was late is told from what was lost, over the wrap", tells_late_from_lost},
	{"a cut in vain gives back what was, and no more", gives_back_what_was},
	{"a timeout whose first segment was only late gives the window back",
	 a_timeout_may_be_in_vain},
	{"a recovery is in vain if all that was sent again was only late",
	 a_recovery_may_be_in_vain},
};

SUITE_MAIN("undo", tests)
