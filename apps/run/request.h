/*
 * request: what a command line asks a runner for: an experiment to be carried out, or an earlier
 * result to be repeated or gone on with.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_REQUEST_H
#define WEIR_RUN_REQUEST_H

#include "apps/run/conduct.h"
#include "apps/run/experiment/experiment_flags.h"

struct request {
	struct conduct conduct;
	const char *operand; /* the folder of an experiment, or a result directory */
	struct experiment_changes changes;
	bool resume;
};

/* The rows of a verb that takes every request; `request` is a struct request *. */
#define REQUEST_FLAGS(request)                                                                   \
	EXPERIMENT_FLAGS(&(request)->changes),                                                   \
		{.name = "resume",                                                               \
		 .kind = &flag_switch,                                                           \
		 .value = &(request)->resume,                                                    \
		 .about = "go on with a result that is not whole or has invalid samples: DIR's " \
			  "newest .partial, or the one named"},                                  \
		CONDUCT_FLAGS(&(request)->conduct)

/* As conduct; EXIT_USAGE, with what is wrong on stderr, for what cannot be asked. */
int request_carry_out(const struct request *request);

#endif
