/*
 * compose: the experiment behind a ceiling, as the text of an experiment.json.
 *
 * The last factor is `bare`, so that the two variants of a cell are neighbours, and the order is
 * abba, so that they take turns in being first.
 *
 * Plane: setup.
 */
#ifndef WEIR_CEILING_COMPOSE_H
#define WEIR_CEILING_COMPOSE_H

#include "dataplane/transport/transport.h"

#include <stdint.h>

enum {
	COMPOSE_STACKS_MAX = 16,
	COMPOSE_NUMBERS_MAX = 16,
};

struct compose_numbers {
	unsigned count;
	uint32_t number[COMPOSE_NUMBERS_MAX];
};

/* What is varied and what is fixed; texts are lent. */
struct compose {
	unsigned stack_count;
	const char *stacks[COMPOSE_STACKS_MAX];
	struct compose_numbers connections;
	struct compose_numbers depths;
	uint32_t request_bytes; /* of bodies */
	uint32_t response_bytes;
	uint32_t runs;
	const char *wait;
	const char *client_stack; /* NULL: as the server's */
	const char *warmup;	  /* with its unit */
	const char *duration;
};

/*
 * "1,8,32" into numbers from 1 to `max`, none of them twice. 0, or -EINVAL with the output
 * untouched.
 */
int compose_parse_numbers(const char *text, uint32_t max, struct compose_numbers *numbers_out);

/*
 * Whether a stack as written can be measured: 0, or negative errno with `error` filled if it is
 * unknown, absent, without a bare echo or cannot work on this host.
 */
int compose_check_stack(const char *spec, struct tp_error *error);

/*
 * Whether an experiment knows the stack as written, with its device: 0, or -EINVAL with `error`
 * filled.
 */
int compose_check_link(const char *spec, struct tp_error *error);

/* The text, owned by the caller (free); NULL without memory. */
char *compose_text(const struct compose *compose);

#endif
