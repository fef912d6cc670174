/*
 * exit: what every verb's exit status means, and how a program says why.
 */
#ifndef WEIR_APPS_EXIT_H
#define WEIR_APPS_EXIT_H

#include "dataplane/transport/transport.h"

#include <stdio.h>

enum exit_status {
	EXIT_PASS = 0,
	EXIT_GATE = 1,	       /* verbs that judge: the gate failed */
	EXIT_INCONCLUSIVE = 2, /* verbs that judge: the samples do not decide */
	EXIT_INVALID = 3,      /* failed or invalid samples */
	EXIT_USAGE = 4,	       /* usage, or a refusal: nothing was measured */
};

/*
 * Prints the error behind the program's name, e.g. "weir serve"; returns `status`, so that a
 * verb can return it.
 */
static inline int exit_with(enum exit_status status, const char *program,
			    const struct tp_error *error)
{
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", program, error->text);
	return status;
}

#endif
