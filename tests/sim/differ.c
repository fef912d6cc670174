/*
 * differ: plays the scripts and the grid against this host's kernel, and says what it did.
 *
 *     differ [LINE...]      of the rows, only those of lines that begin so
 *     differ --list         plays nothing: all is as written
 *
 * A line a row, fields between tabs; ANSWER is empty if the kernel did all as written:
 *
 *     skip REASON                  nothing can be played here
 *     setting NAME VALUE           of the namespace
 *     script FILE TITLE SOURCE ANSWER
 *                                  ANSWER is the first step that was otherwise, and what came
 *     cell GRID KIND COLUMN STATE SOURCE WANT ANSWER
 *                                  one of the grid
 *
 * differ.py judges them. Time is real, and a host may stall: it has single rows played again.
 */
#include "tests/sim/grid.h"
#include "tests/sim/kernel.h"

#include "tests/support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct script_book book;
static struct grid_row rows[GRID_ROWS_MAX];

/* The wrap is within the peer's first bytes; its own number the kernel lets nobody choose. */
static const struct player_numbers numbers = {0xfffffff8, 0};

static char **words;
static int word_count;
static bool only_list;

static bool is_wanted(const char *line)
{
	for (int i = 0; i < word_count; i++)
		if (strncmp(line, words[i], strlen(words[i])) == 0)
			return true;
	return word_count == 0;
}

/* Prints a row up to its answer, if it is wanted; whether it is to be played. */
static bool begin_row(const char *line)
{
	if (!is_wanted(line))
		return false;
	printf("%s\t%s", line, only_list ? "\n" : "");
	return !only_list;
}

/* The file's name of a path. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void play_script(const struct script *script)
{
	static struct player player;
	char line[512];

	snprintf(line, sizeof(line), "script\t%s\t%s\t%s", name_of(script->path), script->title,
		 script->source);
	if (!begin_row(line))
		return;
	player_open_at(&player, &player_kernel, &book, script, &numbers);
	player_play(&player, script);
	printf("%s\n", player.failure);
	player_close(&player);
}

static void play_cell(const struct grid_row *row, const char *state, const struct grid_cell *want)
{
	static struct player player;
	char line[512], cell[GRID_CELL_BYTES];

	snprintf(line, sizeof(line), "cell\t%s\t%s\t%s\t%s\t%s\t%s", grid_name(row), row->kind,
		 grid_column(row, want->column), state, row->source, want->allowed);
	if (!begin_row(line))
		return;
	player_open_at(&player, &player_kernel, &book, script_block(&book, state), &numbers);
	if (grid_play(&player, row, state, want->column, cell))
		printf("%s\n", grid_allows(want->allowed, cell) ? "" : cell);
	else
		printf("no way: %s\n", player.failure);
	player_close(&player);
}

static void play_row(const struct grid_row *row)
{
	struct grid_cell cells[GRID_COLUMNS_MAX];
	unsigned count = grid_cells(row, cells);
	char states[GRID_ROW_BYTES], *rest, *state;

	snprintf(states, sizeof(states), "%s", row->states);
	for (state = strtok_r(states, " ", &rest); state; state = strtok_r(NULL, " ", &rest))
		for (unsigned i = 0; i < count; i++)
			play_cell(row, state, &cells[i]);
}

static void read_books(void)
{
	static const char *const files[] = {
		SCRIPTS_FOLDER "/states.txt",	SCRIPTS_FOLDER "/opening.txt",
		SCRIPTS_FOLDER "/closing.txt",	SCRIPTS_FOLDER "/options.txt",
		SCRIPTS_FOLDER "/sack.txt",	SCRIPTS_FOLDER "/windows.txt",
		SCRIPTS_FOLDER "/recovery.txt", SCRIPTS_FOLDER "/attacks.txt",
	};

	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		script_read(&book, files[i]);
}

/* One test, since what the kernel sends is taken apart by assertions: that a segment is sound. */
static void play_all(void)
{
	const char *name, *value;
	unsigned count;

	for (unsigned i = 0; (name = kernel_setting(i, &value)); i++)
		printf("setting\t%s\t%s\n", name, value);
	read_books();
	for (unsigned i = 0; i < book.count; i++)
		if (!book.scripts[i].block)
			play_script(&book.scripts[i]);
	count = grid_read(rows, SCRIPTS_FOLDER "/grid.txt");
	for (unsigned i = 0; i < count; i++)
		play_row(&rows[i]);
}

int main(int argc, char **argv)
{
	static const struct suite_test tests[] = {{"what the kernel sends is sound", play_all}};
	char why[128];

	only_list = argc == 2 && strcmp(argv[1], "--list") == 0;
	words = argv + 1;
	word_count = only_list ? 0 : argc - 1;
	if (!only_list && !kernel_open(why, sizeof(why))) {
		printf("skip\t%s\n", why);
		return 0;
	}
	return suite_run("differ", tests, 1, 0, NULL);
}
