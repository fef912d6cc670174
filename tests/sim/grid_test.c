/*
 * Every state, kind of segment and edge of the window, as scripts/grid.txt has them. What a cell
 * says is what the RFC of its row says, not what a program was seen to do.
 */
#include "tests/sim/grid.h"

#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 320 };

static struct script_book book;
static struct grid_row rows[GRID_ROWS_MAX];

static void __attribute__((format(printf, 2, 3)))
complain(const struct grid_row *row, const char *format, ...)
{
	va_list arguments;
	char text[512];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	CU_assertImplementation(CU_FALSE, row->line, text, "grid.txt", "", CU_FALSE);
}

static void run_cell(const struct grid_row *row, const char *state, const struct grid_cell *want)
{
	const char *known = strchr(want->allowed, '~');
	const char *at = grid_column(row, want->column);
	static struct player player;
	char cell[GRID_CELL_BYTES];

	for (unsigned i = 0; i < player_numbers_count; i++) {
		player_open(&player, &book, script_block(&book, state), &player_numbers[i]);
		if (!grid_play(&player, row, state, want->column, cell))
			complain(row, "%s: %s", state, player.failure);
		else if (!grid_allows(want->allowed, cell))
			complain(row,
				 "%s in %s, %s, initial numbers %#x and %#x: %s says %s, but it is "
				 "%s %s",
				 row->kind, state, at, player.numbers.peer, player.numbers.own,
				 row->source, want->allowed, cell, player.failure);
		player_close(&player);
	}
	if (known)
		printf("# differs: %s in %s, %s: %s says %.*s, we do %s\n", row->kind, state, at,
		       row->source, (int)(known - want->allowed), want->allowed, known + 1);
}

static void run_cells(const struct grid_row *row, const char *state)
{
	struct grid_cell cells[GRID_COLUMNS_MAX];
	unsigned count = grid_cells(row, cells);

	for (unsigned i = 0; i < count; i++)
		run_cell(row, state, &cells[i]);
}

static void run_row(void)
{
	const struct grid_row *row = &rows[suite_row()];
	char states[GRID_ROW_BYTES], *rest, *state;

	snprintf(states, sizeof(states), "%s", row->states);
	for (state = strtok_r(states, " ", &rest); state; state = strtok_r(NULL, " ", &rest))
		run_cells(row, state);
}

int main(int argc, char **argv)
{
	static char names[GRID_ROWS_MAX][NAME_BYTES];
	static struct suite_test tests[GRID_ROWS_MAX];
	unsigned count;

	script_read(&book, SCRIPTS_FOLDER "/states.txt");
	count = grid_read(rows, SCRIPTS_FOLDER "/grid.txt");
	for (unsigned i = 0; i < count; i++) {
		snprintf(names[i], NAME_BYTES, "%s in %s at each %s (%s)", rows[i].kind,
			 rows[i].states, grid_columns_of(&rows[i]), rows[i].source);
		tests[i] = (struct suite_test){names[i], run_row};
	}
	return suite_run("grid", tests, count, argc, argv);
}
