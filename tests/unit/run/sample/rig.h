/*
 * rig: a plan whose servers are what a test makes them, with real processes and a directory.
 *
 * The load generator of a plan is the running program, which in a test is the test: RIG_MAIN hands
 * over to the built weir where the first argument is a verb.
 */
#ifndef WEIR_TESTS_RUN_RIG_H
#define WEIR_TESTS_RUN_RIG_H

#include "apps/run/store/directory.h"
#include "apps/run/experiment/experiment.h"
#include "apps/run/store/ground.h"
#include "apps/run/sample/interrupt.h"
#include "apps/run/plan/plan.h"
#include "tests/support/suite.h"

enum { RIG_PROGRAMS = 4 };

struct rig {
	char folder[64]; /* everything of it is in there */
	struct experiment *experiment;
	struct ground ground;
	struct program programs[RIG_PROGRAMS]; /* the first is the built weir */
	unsigned program_count;
	struct plan *plan;
	struct interrupt interrupt;
	struct directory directory;
};

/*
 * Plans an experiment of these factors ("\"depth\": [1, 8]") over epoll@loopback with short
 * windows; false, and the test skipped, if the host has one CPU.
 */
bool rig_open(struct rig *rig, const char *factors);

/* Lets a cell be served by a shell script; "WEIR" stands in its environment for the built weir. */
void rig_serve_by(struct rig *rig, unsigned cell, const char *script);

/* Reads a whole file of the directory, for the caller to free. */
char *rig_read(const struct rig *rig, const char *name);

/* Removes all. */
void rig_close(struct rig *rig);

/* Becomes the built weir if the arguments are a verb's. */
void rig_hand_over(int argc, char **argv);

#define RIG_MAIN(suite, tests)                                                                \
	int main(int argc, char **argv)                                                       \
	{                                                                                     \
		rig_hand_over(argc, argv);                                                    \
		return suite_run(suite, tests, sizeof(tests) / sizeof(tests[0]), argc, argv); \
	}

#endif
