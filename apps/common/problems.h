/*
 * problems: what is wrong with an input, all of it, for one message to the user.
 *
 * Each problem is a line of its own. One that does not fit is cut and ends in "..."; those behind
 * it are counted, not kept.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_PROBLEMS_H
#define WEIR_APPS_PROBLEMS_H

struct problems {
	unsigned count;
	char text[4096]; /* lines, each ended by a newline; empty if there is none */
};

/* Adds one line, in the way of printf and without its newline. */
void problems_add(struct problems *problems, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds the lines of others. */
void problems_join(struct problems *problems, const struct problems *others);

#endif
