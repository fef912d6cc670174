#include "tests/sim/grid.h"

#include "dataplane/core/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA = 10 /* bytes of a segment with data */ };

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
	struct column columns[GRID_COLUMNS_MAX];
	unsigned count;
};

struct kind {
	const char *name;
	uint8_t flags;
	uint32_t bytes;
};

static const struct kind kinds[] = {
	{"RST", RST, 0},
	{"RST with ACK", RST | ACK, 0},
	{"RST with data", RST | ACK, DATA},
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

static void read_row(struct grid_row *row, const struct grid *grid, const char *line,
		     unsigned number)
{
	char *rest = row->text;

	CHECK(grid != NULL);
	row->grid = grid;
	row->line = number;
	snprintf(row->text, GRID_ROW_BYTES, "%s", line);
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

unsigned grid_read(struct grid_row *rows, const char *path)
{
	FILE *file = fopen(path, "r");
	const struct grid *grid = NULL;
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0, count = 0;

	CHECK(file != NULL);
	while (getline(&line, &room, file) >= 0) {
		number++;
		line[strcspn(line, "#\n")] = '\0';
		if (strncmp(line, "grid ", 5) == 0)
			grid = find_grid(line + 5);
		else if (line[0] != '\0') {
			CHECK(count < GRID_ROWS_MAX);
			read_row(&rows[count++], grid, line, number);
		}
	}
	free(line);
	fclose(file);
	return count;
}

const char *grid_name(const struct grid_row *row)
{
	return row->grid->name;
}

const char *grid_columns_of(const struct grid_row *row)
{
	return row->grid->of;
}

const char *grid_column(const struct grid_row *row, unsigned column)
{
	return row->grid->columns[column].name;
}

unsigned grid_cells(const struct grid_row *row, struct grid_cell cells[GRID_COLUMNS_MAX])
{
	char text[GRID_ROW_BYTES], *rest, *word;
	unsigned count = 0;

	snprintf(text, sizeof(text), "%s", row->cells);
	for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		CHECK(count < row->grid->count);
		cells[count].column = count;
		snprintf(cells[count++].allowed, GRID_CELL_BYTES, "%s", word);
	}
	CHECK(count == row->grid->count);
	return count;
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
			uint32_t next, char name[GRID_CELL_BYTES])
{
	const struct script_segment *out = player_sent(player);
	/* Our SYN behind a whole connection: above all its numbers (RFC 1122 4.2.2.13). Where a
	 * number is not ours to choose, those of the new one are relative to it. */
	uint32_t first = own_next > 1 && !player->tcp->own_ways ? own_next + 1 : 0;
	char flags[9];

	if (!out)
		snprintf(name, GRID_CELL_BYTES, "-");
	else if (player_sent(player))
		snprintf(name, GRID_CELL_BYTES, "several");
	else if (out->flags == ACK && out->bytes == 0 && out->seq == own_next && out->ack == next)
		snprintf(name, GRID_CELL_BYTES, "ack");
	else if (out->flags & RST && is_right_reset(out, in, player))
		snprintf(name, GRID_CELL_BYTES, "rst");
	else if (out->flags == (SYN | ACK) && out->seq == first && out->ack == in->seq + 1)
		snprintf(name, GRID_CELL_BYTES, "syn-ack");
	else
		snprintf(name, GRID_CELL_BYTES, "%s,seq:%d,ack:%d", script_flags(out->flags, flags),
			 (int32_t)out->seq, (int32_t)out->ack);
}

/* Plays one cell and says what happened in a cell's words. */
static void play_cell(struct player *player, const struct script_segment *in,
		      char cell[GRID_CELL_BYTES])
{
	char before[SCRIPT_NAME_BYTES], answer[GRID_CELL_BYTES] = "";
	uint32_t own_next = player->ack, next = player->seq, delivered;
	uint32_t unread = player_readable(player);
	bool finished = player_finished(player);
	const char *after;
	int at;

	snprintf(before, sizeof(before), "%s", player_state(player));
	if (strcmp(before, "SYN-SENT") == 0)
		next = in->seq + 1;
	player_send(player, in);
	player_wait(player, ACK_WAIT_NS);
	after = player_state(player);
	delivered = player_readable(player);
	delivered -= delivered > 0 ? unread : 0; /* a connection that was reset has nothing */
	next += delivered + (player_finished(player) && !finished);
	name_answer(player, in, own_next, next, answer);
	if (strcmp(after, "CLOSED") == 0 && strcmp(before, "CLOSED") != 0) {
		const char *end = player_end(player);

		snprintf(cell, GRID_CELL_BYTES, "%.20s%s", strcmp(answer, "-") == 0 ? "" : answer,
			 *end == '-' ? "gone" : end);
		return;
	}
	at = snprintf(cell, GRID_CELL_BYTES, "%.30s", answer);
	if (strcmp(before, after) != 0)
		at += snprintf(cell + at, (size_t)(GRID_CELL_BYTES - at), ">%s", after);
	if (delivered > 0)
		snprintf(cell + at, (size_t)(GRID_CELL_BYTES - at), "+%u", delivered);
}

bool grid_play(struct player *player, const struct grid_row *row, const char *state,
	       unsigned column, char cell[GRID_CELL_BYTES])
{
	const struct script *way = script_block(player->book, state);
	const struct kind *kind = find_kind(row->kind);
	struct script_segment in;

	CHECK(way != NULL && kind != NULL);
	if (!player_play(player, way))
		return false;
	in = make_segment(player, state, kind, &row->grid->columns[column]);
	play_cell(player, &in, cell);
	return true;
}

bool grid_allows(const char *allowed, const char *cell)
{
	const char *known = strchr(allowed, '~');
	size_t bytes = strlen(cell);

	for (const char *at = known ? known + 1 : allowed; at; at = strpbrk(at, "|")) {
		at += *at == '|';
		if (strncmp(at, cell, bytes) == 0 && (at[bytes] == '|' || at[bytes] == '\0'))
			return true;
	}
	return false;
}
