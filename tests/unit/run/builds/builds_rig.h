/*
 * builds_rig: a repository of a few lines that is built like weir, by meson into apps/weir, and a
 * cache of its own.
 *
 * Its program says its version. By the environment its build is counted in a file (TEST_COUNT), or
 * made to say so through a pipe and wait, when it is set up (TEST_WAIT) or compiled (TEST_STALL).
 * It includes elsewhere.h if the compiler finds that.
 */
#ifndef WEIR_TESTS_BUILDS_RIG_H
#define WEIR_TESTS_BUILDS_RIG_H

#include "apps/run/builds/builds.h"

struct rig {
	char folder[64]; /* of all */
	char root[80];	 /* the repository */
	char cache[128];
	struct experiment experiment;
	const json_t *commits; /* of an earlier run; lent, or NULL */
	struct program programs[EXPERIMENT_BUILDS_MAX];
	struct tp_error error;
};

/* What rig_make is interrupted by; none until it is opened. */
extern struct interrupt rig_interrupt;

/* Makes all of it; false if this host cannot, which skips the test. */
bool rig_set_up(struct rig *rig);

void rig_tear_down(struct rig *rig);

/* Runs a script, written in the way of printf; whether it went well. */
bool rig_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first line that a script says; "failed" if it does. */
const char *rig_answer(char line[256], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Asks for one more program. */
void rig_want(struct rig *rig, const char *variant, const char *commit, const char *options,
	      const char *c_args);

/* Makes the programs, and says why not. */
int rig_make(struct rig *rig);

void rig_give_up(struct rig *rig);

/* What the program of a build says. */
const char *rig_run(const struct rig *rig, unsigned index, char line[256]);

/* A fact of a build that is a text. */
const char *rig_fact(const struct rig *rig, unsigned index, const char *name);

#endif
