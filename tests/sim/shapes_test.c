/*
 * Orders and overlaps of segments, all of them, with every pair of initial numbers. What must come
 * out is said by a plain model: bytes at places, of which those that are in order are never
 * changed, and of the others the later ones count.
 */
#include "dataplane/core/check.h"
#include "tests/sim/player.h"
#include "tests/support/suite.h"

#include <string.h>

enum {
	SPAN = 6, /* places that two segments can lie on */
	PIECES = 5,
	ROOM = 64,
};

static struct script_book book;
static struct player player;

/* A receiver as one would write it down. */
struct model {
	uint8_t bytes[ROOM];
	bool there[ROOM];
	uint32_t in_order; /* places that are in order, and can be read */
};

static void model_take(struct model *model, uint32_t begin, uint32_t end, uint8_t fill)
{
	for (uint32_t i = begin; i < end; i++) {
		if (i < model->in_order)
			continue;
		model->bytes[i] = fill;
		model->there[i] = true;
	}
	while (model->in_order < ROOM && model->there[model->in_order])
		model->in_order++;
}

static void open_in(const char *state, unsigned numbers)
{
	player_open(&player, &book, NULL, &player_numbers[numbers]);
	CU_ASSERT_FATAL(player_play(&player, script_block(&book, state)));
}

/* The peer sends the places [begin, end), all of them `fill`. */
static void send(uint32_t begin, uint32_t end, uint8_t fill, uint8_t flags)
{
	struct script_segment segment = {.fields = FIELD_SEQ | FIELD_FILL,
					 .flags = ACK | flags,
					 .seq = 1 + begin,
					 .bytes = end - begin,
					 .fill = fill};

	player_send(&player, &segment);
	while (player_sent(&player))
		;
}

/* Whether our application reads what the model has, and the peer is told of as much. */
static bool reads_like(const struct model *model, uint32_t fin)
{
	const struct script_segment *seen, *last = NULL;
	uint8_t bytes[ROOM];
	size_t count;

	send(0, 0, 0, 0);
	player_wait(&player, 2 * MS);
	while ((seen = player_sent(&player)))
		last = seen;
	count = peer_app_read(&player.peer, bytes, sizeof(bytes));
	return count == model->in_order && memcmp(bytes, model->bytes, count) == 0 &&
	       (!last || last->ack == 1 + model->in_order + fin);
}

/* --- orders ---------------------------------------------------------------------------------- */

/* The n-th of the 120 orders of five. */
static void order_of(unsigned n, unsigned order[PIECES])
{
	unsigned left[PIECES] = {0, 1, 2, 3, 4};

	for (unsigned i = 0; i < PIECES; i++) {
		unsigned at = n % (PIECES - i);

		n /= PIECES - i;
		order[i] = left[at];
		memmove(left + at, left + at + 1, (PIECES - i - at - 1) * sizeof(left[0]));
	}
}

static void play_order(unsigned n, bool fin)
{
	static const uint32_t ends[PIECES + 1] = {0, 7, 8, 28, 31, 43};
	struct model model = {.in_order = 0};
	unsigned order[PIECES];

	order_of(n, order);
	for (unsigned i = 0; i < PIECES; i++) {
		unsigned piece = order[i];
		uint8_t last = fin && piece == PIECES - 1 ? FIN : 0;

		send(ends[piece], ends[piece + 1], (uint8_t)(piece + 1), last);
		model_take(&model, ends[piece], ends[piece + 1], (uint8_t)(piece + 1));
		CU_ASSERT(player_readable(&player) == model.in_order);
	}
	CU_ASSERT(reads_like(&model, fin));
	CU_ASSERT_STRING_EQUAL(player_state(&player), fin ? "CLOSE-WAIT" : "ESTABLISHED");
}

static void all_orders(void)
{
	for (unsigned numbers = 0; numbers < player_numbers_count; numbers++)
		for (unsigned n = 0; n < 120; n++)
			for (unsigned fin = 0; fin < 2; fin++) {
				open_in("ESTABLISHED", numbers);
				play_order(n, fin);
				player_close(&player);
			}
}

/* --- overlaps -------------------------------------------------------------------------------- */

/* Two segments at any places, and then one over all. */
static void play_overlap(const uint32_t at[4], uint8_t second, uint8_t third)
{
	struct model model = {.in_order = 0};

	send(at[0], at[1], 1, 0);
	model_take(&model, at[0], at[1], 1);
	send(at[2], at[3], second, 0);
	model_take(&model, at[2], at[3], second);
	CU_ASSERT(player_readable(&player) == model.in_order);
	send(0, SPAN, third, 0);
	model_take(&model, 0, SPAN, third);
	CU_ASSERT(reads_like(&model, 0));
}

static void play_overlaps(uint8_t second, uint8_t third)
{
	uint32_t at[4];

	for (unsigned n = 0; n < SPAN * SPAN * SPAN * SPAN; n++) {
		at[0] = n % SPAN, at[1] = 1 + n / SPAN % SPAN;
		at[2] = n / (SPAN * SPAN) % SPAN, at[3] = 1 + n / (SPAN * SPAN * SPAN);
		if (at[0] >= at[1] || at[2] >= at[3])
			continue;
		for (unsigned numbers = 0; numbers < player_numbers_count; numbers++) {
			open_in("ESTABLISHED", numbers);
			play_overlap(at, second, third);
			player_close(&player);
		}
	}
}

static void equal_overlaps(void)
{
	play_overlaps(1, 1);
}

static void unequal_overlaps(void)
{
	play_overlaps(2, 3);
}

/* The same number, another length: what mTCP and F-Stack got wrong. */
static void same_start(void)
{
	for (uint32_t first = 1; first < 20; first++)
		for (uint32_t second = 1; second < 20; second++) {
			struct model model = {.in_order = 0};

			open_in("ESTABLISHED", (first + second) % player_numbers_count);
			send(0, first, 1, 0);
			model_take(&model, 0, first, 1);
			send(0, second, 2, 0);
			model_take(&model, 0, second, 2);
			CU_ASSERT(reads_like(&model, 0));
			player_close(&player);
		}
}

/* The FIN's place is fixed once it was seen: nothing behind it counts, from whichever side. */
static void fin_in_any_place(void)
{
	for (unsigned numbers = 0; numbers < player_numbers_count; numbers++)
		for (uint32_t fin = 0; fin <= SPAN; fin++) {
			struct model model = {.in_order = 0};

			open_in("ESTABLISHED", numbers);
			send(fin, fin, 0, FIN);
			send(0, SPAN + 4, 1, 0);
			model_take(&model, 0, fin, 1);
			CU_ASSERT(fin == 0 || reads_like(&model, 1));
			CU_ASSERT_STRING_EQUAL(player_state(&player), "CLOSE-WAIT");
			player_close(&player);
		}
}

static const struct suite_test tests[] = {
	{"five segments in any of their 120 orders give one stream (RFC 9293 3.10.7.4, step 7)",
	 all_orders},
	{"two segments that overlap in any of 441 ways, and one over both, give one stream "
	 "(RFC 9293 3.10.7.4, step 7)",
	 equal_overlaps},
	{"where overlaps disagree, what is in order stays, and of the rest the later counts "
	 "(RFC 9293 3.10.7.4, step 7)",
	 unequal_overlaps},
	{"segments of the same number and other lengths give one stream (RFC 9293 3.10.7.4, step "
	 "7)",
	 same_start},
	{"nothing behind a FIN counts, wherever it stands (RFC 9293 3.10.7.4, step 8)",
	 fin_in_any_place},
};

int main(int argc, char **argv)
{
	script_read(&book, SCRIPTS_FOLDER "/states.txt");
	return suite_run("shapes", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
