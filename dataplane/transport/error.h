/*
 * error: a setup call's failure in words.
 *
 * The number says what kind of failure it is, the text tells the user what failed, where, and what
 * to do. Owned by the caller.
 *
 * Plane: setup.
 */
#ifndef WEIR_TRANSPORT_ERROR_H
#define WEIR_TRANSPORT_ERROR_H

/* Filled on failure only. */
struct tp_error {
	char text[512];
};

/* Fills an error's text in the way of printf; returns `code`, so that a caller can return it. */
int tp_fail(struct tp_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
