/*
 * checks: what this host can measure, one finding a question.
 *
 * Plane: setup.
 */
#ifndef WEIR_DOCTOR_CHECKS_H
#define WEIR_DOCTOR_CHECKS_H

#include <stdbool.h>

enum { CHECKS_MAX = 40 };

enum check_state {
	CHECK_OK,
	CHECK_NOTE,    /* measurements work, but mean less, or a stack or link is not to be had */
	CHECK_MISSING, /* something that experiments/first-look needs is not there */
};

struct check {
	const char *name; /* static */
	enum check_state state;
	char found[320];
	char mend[224]; /* what to do about it; "" if nothing is to be done */
};

struct checks {
	struct check list[CHECKS_MAX];
	unsigned count;
};

/* Asks every question. */
void checks_make(struct checks *checks);

const char *check_state_name(enum check_state state);

#endif
