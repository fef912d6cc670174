/*
 * ground: what the fault tests stand on: a stack by its name, and what a process holds.
 */
#ifndef WEIR_TESTS_GROUND_H
#define WEIR_TESTS_GROUND_H

#include "dataplane/transport/transport.h"

#include <stdint.h>

/*
 * Opens an instance of a stack as a user writes it, with options. 0; 1 if this build or host lacks
 * it, with the reason in `error`; or a negative errno.
 */
int ground_open(const char *spec, const struct tp_limits *limits, struct tp **tp_out,
		struct tp_error *error);

/* Descriptors that this process has open. */
unsigned ground_descriptors(void);

/* Memory of this process that is resident, bytes. */
uint64_t ground_resident(void);

/* One of a stack's details by name; 0 if it has none of that name. */
uint64_t ground_detail(const struct tp *tp, const char *name);

#endif
