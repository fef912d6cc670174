/*
 * Every state, kind of segment and edge of the window, as scripts/grid.txt has them. What a cell
 * says is what the RFC of its row says, not what a program was seen to do.
 */
#include "dataplane/core/check.h"
#include "tests/sim/player.h"
#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMNS_MAX = 8,
	CELL_BYTES = 64,
	DATA = 10, /* bytes of a segment with data */
	ROW_BYTES = 512,
	NAME_BYTES = 320,
	ROWS_MAX = 128,
};

#define ACK_WAIT_NS (2 * MS) /* longer than an ACK is delayed */
#define FAR (1 << 30)

/* What a column moves, and from where. */
enum place {
	FROM_NEXT,    /* the sequence number, from the next that we expect */
	FROM_EDGE,    /* the sequence number, from the edge of the window that we offered */
	FROM_UNACKED, /* the ACK, from the first that was not acknowledged */
	FROM_MAX,     /* the ACK, from the first that was not sent */
	FROM_OLDEST,  /* the ACK, from the oldest that RFC 5961 5.2 lets pass */
};

struct column {
	const char *name;
	enum place from;
	int32_t by;
};

struct grid {
	const char *name;
	const char *of;
	struct column columns[COLUMNS_MAX];
	unsigned count;
};

struct kind {
	const char *name;
	uint8_t flags;
	uint32_t bytes;
};

struct row {
	const struct grid *grid;
	unsigned line;
	char text[ROW_BYTES]; /* cut into the following */
	const char *states;   /* for each the same holds */
	const char *kind;
	const char *source;
	const char *cells;
};

static const struct kind kinds[] = {
	{"RST", RST, 0},
	{"RST with ACK", RST | ACK, 0},
	{"SYN", SYN, 0},
	{"SYN with ACK", SYN | ACK, 0},
	{"ACK", ACK, 0},
	{"data", ACK, DATA},
	{"FIN", FIN | ACK, 0},
	{"FIN with data", FIN | ACK, DATA},
	{"data without ACK", 0, DATA},
	{"FIN without ACK", FIN, 0},
	{"nothing but a header", 0, 0},
};

static const struct grid grids[] = {
	{"by_seq",
	 "edge of the window",
	 {{"long before", FROM_NEXT, -FAR},
	  {"one before", FROM_NEXT, -1},
	  {"the next", FROM_NEXT, 0},
	  {"one ahead", FROM_NEXT, 1},
	  {"the last inside", FROM_EDGE, -1},
	  {"the first outside", FROM_EDGE, 0},
	  {"far beyond", FROM_NEXT, FAR}},
	 7},
	{"by_ack",
	 "edge of what may be acknowledged",
	 {{"older than any window", FROM_OLDEST, -1},
	  {"the oldest that passes", FROM_OLDEST, 0},
	  {"one before", FROM_UNACKED, -1},
	  {"nothing new", FROM_UNACKED, 0},
	  {"all", FROM_MAX, 0},
	  {"one too many", FROM_MAX, 1},
	  {"far beyond", FROM_MAX, FAR}},
	 7},
	/* Before both ends know each other's numbers there are only three. */
	{"by_syn_ack",
	 "number that may acknowledge our SYN",
	 {{"before it", FROM_UNACKED, 0}, {"right", FROM_MAX, 0}, {"too many", FROM_MAX, 1}},
	 3},
};

static struct script_book book;
static struct row rows[ROWS_MAX];
static unsigned row_count;

/* --- reading --------------------------------------------------------------------------------- */

static const struct kind *find_kind(const char *name)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* The next field of a row, which ends at a bar. */
static const char *cut_field(char **rest)
{
	char *field = *rest, *bar = strstr(field, " | ");

	*rest = bar ? bar + 3 : field + strlen(field);
	if (bar)
		*bar = '\0';
	return field;
}

static void read_row(const struct grid *grid, const char *line, unsigned number)
{
	struct row *row = &rows[row_count++];
	char *rest = row->text;

	CHECK(row_count < ROWS_MAX && grid != NULL);
	row->grid = grid;
	row->line = number;
	snprintf(row->text, ROW_BYTES, "%s", line);
	row->states = cut_field(&rest);
	row->kind = cut_field(&rest);
	row->source = cut_field(&rest);
	row->cells = cut_field(&rest);
}

static const struct grid *find_grid(const char *name)
{
	for (unsigned i = 0; i < sizeof(grids) / sizeof(grids[0]); i++)
		if (strcmp(grids[i].name, name) == 0)
			return &grids[i];
	return NULL;
}

static void read_rows(const char *path)
{
	FILE *file = fopen(path, "r");
	const struct grid *grid = NULL;
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;

	CHECK(file != NULL);
	while (getline(&line, &room, file) >= 0) {
		number++;
		line[strcspn(line, "#\n")] = '\0';
		if (strncmp(line, "grid ", 5) == 0)
			grid = find_grid(line + 5);
		else if (line[0] != '\0')
			read_row(grid, line, number);
	}
	free(line);
	fclose(file);
}

/* --- playing --------------------------------------------------------------------------------- */

/* The first of ours that the peer has not acknowledged, as the way into the state left it. */
static uint32_t unacked_in(const char *state)
{
	if (strncmp(state, "SYN", 3) == 0)
		return 0;
	return strcmp(state, "FIN-WAIT-2") == 0 || strcmp(state, "TIME-WAIT") == 0 ? 2 : 1;
}

/* A cell's segment. Where one number is moved, the other is right and acknowledges nothing new. */
static struct script_segment make_segment(const struct player *player, const char *state,
					  const struct kind *kind, const struct column *column)
{
	struct script_segment segment = {.fields = FIELD_SEQ | FIELD_ACK,
					 .flags = kind->flags,
					 .seq = player->seq,
					 .ack = unacked_in(state),
					 .bytes = kind->bytes};
	uint32_t by = (uint32_t)column->by;

	if ((column->from == FROM_NEXT || column->from == FROM_EDGE) && segment.ack == 0)
		segment.ack = player->ack; /* our SYN, without which nothing counts */
	if (column->from == FROM_NEXT)
		segment.seq = player->seq + by;
	else if (column->from == FROM_EDGE)
		segment.seq = player->edge + by;
	else if (column->from == FROM_UNACKED)
		segment.ack += by;
	else if (column->from == FROM_MAX)
		segment.ack = player->ack + by;
	else
		segment.ack += by - player->peer.window;
	if (!(kind->flags & ACK))
		segment.fields &= ~(unsigned)FIELD_ACK;
	return segment;
}

/* A RST that answers a segment to nobody has the numbers of RFC 9293 3.10.7.1. */
static bool is_right_reset(const struct script_segment *out, const struct script_segment *in,
			   const struct player *player)
{
	uint32_t length = in->bytes + !!(in->flags & SYN) + !!(in->flags & FIN);

	if (in->flags & ACK)
		return out->flags == RST && out->seq == in->ack;
	return out->flags == (RST | ACK) && out->seq + player->numbers.own == 0 &&
	       out->ack == in->seq + length;
}

/* Names what was sent, and checks its numbers: those that any answer of its kind has. */
static void name_answer(struct player *player, const struct script_segment *in, uint32_t own_next,
			uint32_t next, char name[CELL_BYTES])
{
	const struct script_segment *out = player_sent(player);
	/* Our SYN behind a whole connection: above all its numbers (RFC 1122 4.2.2.13). */
	uint32_t first = own_next > 1 ? own_next + 1 : 0;
	char flags[9];

	if (!out)
		snprintf(name, CELL_BYTES, "-");
	else if (player_sent(player))
		snprintf(name, CELL_BYTES, "several");
	else if (out->flags == ACK && out->bytes == 0 && out->seq == own_next && out->ack == next)
		snprintf(name, CELL_BYTES, "ack");
	else if (out->flags & RST && is_right_reset(out, in, player))
		snprintf(name, CELL_BYTES, "rst");
	else if (out->flags == (SYN | ACK) && out->seq == first && out->ack == in->seq + 1)
		snprintf(name, CELL_BYTES, "syn-ack");
	else
		snprintf(name, CELL_BYTES, "%s,seq:%d,ack:%d", script_flags(out->flags, flags),
			 (int32_t)out->seq, (int32_t)out->ack);
}

/* Plays one cell and says what happened in a cell's words. */
static void play_cell(struct player *player, const struct script_segment *in, char cell[CELL_BYTES])
{
	char before[SCRIPT_NAME_BYTES], answer[CELL_BYTES] = "";
	uint32_t own_next = player->ack, next = player->seq, delivered;
	const char *after;
	int at;

	snprintf(before, sizeof(before), "%s", player_state(player));
	if (strcmp(before, "SYN-SENT") == 0)
		next = in->seq + 1;
	player->peer.events = 0;
	player_send(player, in);
	player_wait(player, ACK_WAIT_NS);
	after = player_state(player);
	delivered = player_readable(player);
	next += delivered + !!(player->peer.events & UTCP_FINISHED);
	name_answer(player, in, own_next, next, answer);
	if (strcmp(after, "CLOSED") == 0 && strcmp(before, "CLOSED") != 0) {
		const char *end = player_end(player);

		snprintf(cell, CELL_BYTES, "%.20s%s", strcmp(answer, "-") == 0 ? "" : answer,
			 *end == '-' ? "gone" : end);
		return;
	}
	at = snprintf(cell, CELL_BYTES, "%.30s", answer);
	if (strcmp(before, after) != 0)
		at += snprintf(cell + at, (size_t)(CELL_BYTES - at), ">%s", after);
	if (delivered > 0)
		snprintf(cell + at, (size_t)(CELL_BYTES - at), "+%u", delivered);
}

/* Whether `cell` is what is allowed: one of a|b, or what stands behind the ~ of a known difference,
 * which is told. */
static bool is_allowed(const char *allowed, const char *cell)
{
	size_t bytes = strlen(cell);

	for (const char *at = allowed; at; at = strpbrk(at, "|")) {
		at += *at == '|';
		if (strncmp(at, cell, bytes) == 0 && (at[bytes] == '|' || at[bytes] == '\0'))
			return true;
	}
	return false;
}

static void __attribute__((format(printf, 2, 3)))
complain(const struct row *row, const char *format, ...)
{
	va_list arguments;
	char text[512];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	CU_assertImplementation(CU_FALSE, row->line, text, "grid.txt", "", CU_FALSE);
}

static void run_cell(const struct row *row, const char *state, unsigned column, const char *allowed)
{
	const struct column *at = &row->grid->columns[column];
	const struct script *way = script_block(&book, state);
	const struct kind *kind = find_kind(row->kind);
	const char *known = strchr(allowed, '~');
	static struct player player;
	char cell[CELL_BYTES];

	CU_ASSERT_FATAL(way != NULL && kind != NULL);
	for (unsigned i = 0; i < player_numbers_count; i++) {
		struct script_segment in;

		player_open(&player, &book, NULL, &player_numbers[i]);
		if (!player_play(&player, way))
			complain(row, "%s: %s", state, player.failure);
		in = make_segment(&player, state, kind, at);
		play_cell(&player, &in, cell);
		if (!is_allowed(known ? known + 1 : allowed, cell))
			complain(row,
				 "%s in %s, %s, initial numbers %#x and %#x: %s says %s, but it is "
				 "%s %s",
				 kind->name, state, at->name, player.numbers.peer,
				 player.numbers.own, row->source, allowed, cell, player.failure);
		player_close(&player);
	}
	if (known)
		printf("# differs: %s in %s, %s: %s says %.*s, we do %s\n", kind->name, state,
		       at->name, row->source, (int)(known - allowed), allowed, known + 1);
}

static void run_cells(const struct row *row, const char *state)
{
	char cells[ROW_BYTES], *rest, *cell;
	unsigned column = 0;

	snprintf(cells, sizeof(cells), "%s", row->cells);
	for (cell = strtok_r(cells, " ", &rest); cell; cell = strtok_r(NULL, " ", &rest)) {
		CU_ASSERT_FATAL(column < row->grid->count);
		run_cell(row, state, column++, cell);
	}
	CU_ASSERT(column == row->grid->count);
}

static void run_row(void)
{
	const struct row *row = &rows[suite_row()];
	char states[ROW_BYTES], *rest, *state;

	snprintf(states, sizeof(states), "%s", row->states);
	for (state = strtok_r(states, " ", &rest); state; state = strtok_r(NULL, " ", &rest))
		run_cells(row, state);
}

int main(int argc, char **argv)
{
	static char names[ROWS_MAX][NAME_BYTES];
	static struct suite_test tests[ROWS_MAX];

	script_read(&book, SCRIPTS_FOLDER "/states.txt");
	read_rows(SCRIPTS_FOLDER "/grid.txt");
	for (unsigned i = 0; i < row_count; i++) {
		snprintf(names[i], NAME_BYTES, "%s in %s at each %s (%s)", rows[i].kind,
			 rows[i].states, rows[i].grid->of, rows[i].source);
		tests[i] = (struct suite_test){names[i], run_row};
	}
	return suite_run("grid", tests, row_count, argc, argv);
}
