/*
 * The conversations of scripts/, each with every pair of initial numbers.
 */
#include "tests/sim/player.h"
#include "tests/support/suite.h"

#include <stdio.h>

static struct script_book book;
static const struct script *rows[SCRIPT_BOOK_MAX];

static void play(void)
{
	const struct script *script = rows[suite_row()];
	static struct player player;
	char text[PLAYER_FAILURE_BYTES + 128];

	for (unsigned i = 0; i < player_numbers_count; i++) {
		player_open(&player, &book, script, &player_numbers[i]);
		if (!player_play(&player, script)) {
			snprintf(text, sizeof(text), "initial numbers %#x and %#x: %s",
				 player.numbers.peer, player.numbers.own, player.failure);
			CU_assertImplementation(CU_FALSE, script->steps[0].line, text, script->path,
						"", CU_FALSE);
		}
		player_close(&player);
	}
}

int main(int argc, char **argv)
{
	static const char *const files[] = {
		SCRIPTS_FOLDER "/states.txt",	SCRIPTS_FOLDER "/opening.txt",
		SCRIPTS_FOLDER "/closing.txt",	SCRIPTS_FOLDER "/options.txt",
		SCRIPTS_FOLDER "/sack.txt",	SCRIPTS_FOLDER "/windows.txt",
		SCRIPTS_FOLDER "/recovery.txt", SCRIPTS_FOLDER "/attacks.txt",
	};
	static char names[SCRIPT_BOOK_MAX][2 * SCRIPT_TITLE_BYTES + 8];
	static struct suite_test tests[SCRIPT_BOOK_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		script_read(&book, files[i]);
	for (unsigned i = 0; i < book.count; i++) {
		if (book.scripts[i].block)
			continue;
		rows[count] = &book.scripts[i];
		snprintf(names[count], sizeof(names[count]), "%s (%s)", book.scripts[i].title,
			 book.scripts[i].source);
		tests[count] = (struct suite_test){names[count], play};
		count++;
	}
	return suite_run("script", tests, count, argc, argv);
}
