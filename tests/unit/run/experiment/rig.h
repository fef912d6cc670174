/* rig: experiment.json of a text, read as a file, and what is said of it. */
#ifndef WEIR_TESTS_EXPERIMENT_RIG_H
#define WEIR_TESTS_EXPERIMENT_RIG_H

#include "apps/run/experiment/experiment.h"

#define HEAD "{\"schema\": \"weir.experiment/1\", \"name\": \"x\",\n"
#define FIXED "\"fixed\": {\"stack\": \"epoll@loopback\"}"

/* NULL if it is refused, and why in `problems`. `changes` may be NULL. */
struct experiment *rig_read_changed(const char *text, const struct experiment_changes *changes,
				    struct problems *problems);

/* One that must be right. */
struct experiment *rig_read(const char *text);

/* Expects exactly these lines, each without the file's name before its place. */
void rig_expect_problems(const char *text, const struct experiment_changes *changes,
			 const char *expected);

#endif
