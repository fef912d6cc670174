/*
 * grid: every state, kind of segment and edge of the window, as scripts/grid.txt has them.
 *
 * A row holds for some states and one kind of segment; it has a cell for each column of its grid,
 * which says what the RFC of the row says. Here rows are read and cells are played; who judges
 * them does so with grid_allows.
 *
 * Plane: tests.
 */
#ifndef WEIR_TESTS_SIM_GRID_H
#define WEIR_TESTS_SIM_GRID_H

#include "tests/sim/player.h"

#include <stdbool.h>

enum {
	GRID_COLUMNS_MAX = 8,
	GRID_CELL_BYTES = 64,
	GRID_ROW_BYTES = 512,
	GRID_ROWS_MAX = 128,
};

struct grid; /* its columns */

struct grid_row {
	const struct grid *grid;
	unsigned line;
	char text[GRID_ROW_BYTES]; /* cut into the following */
	const char *states;	   /* for each the same holds */
	const char *kind;
	const char *source;
	const char *cells;
};

/* What a row says of one column. */
struct grid_cell {
	unsigned column;
	char allowed[GRID_CELL_BYTES]; /* as written */
};

/* Reads the rows of a file into `rows`, of which there are GRID_ROWS_MAX; how many. */
unsigned grid_read(struct grid_row *rows, const char *path);

/* The name of a row's grid, what its columns are of, and the name of one. */
const char *grid_name(const struct grid_row *row);
const char *grid_columns_of(const struct grid_row *row);
const char *grid_column(const struct grid_row *row, unsigned column);

/* A row's cells, one a column of its grid. Returns how many. */
unsigned grid_cells(const struct grid_row *row, struct grid_cell cells[GRID_COLUMNS_MAX]);

/*
 * Plays the way into `state` and the segment of a column with a player that is open, and says in
 * a cell's words what happened. False if the way does not lead there.
 */
bool grid_play(struct player *player, const struct grid_row *row, const char *state,
	       unsigned column, char cell[GRID_CELL_BYTES]);

/* Whether `cell` is one of a|b, or what stands behind the ~ of a known difference. */
bool grid_allows(const char *allowed, const char *cell);

#endif
