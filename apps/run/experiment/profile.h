/*
 * profile: scenarios by name whose numbers are known elsewhere, so that results can be set beside
 * others'.
 *
 * A profile is one scenario, or for `capacity` one for each count of workers and size of response.
 * What a host has too little of is lowered or left out, and said.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_PROFILE_H
#define WEIR_RUN_PROFILE_H

#include "apps/provenance/topology.h"
#include "apps/run/experiment/axis.h"
#include "apps/run/experiment/link.h"

enum { PROFILE_LIST_MAX = 16 };

struct profile;

/* What capacity spans. */
struct profile_matrix {
	uint32_t worker_counts[PROFILE_LIST_MAX];
	unsigned worker_count_count;
	uint32_t response_kib[PROFILE_LIST_MAX];
	unsigned response_kib_count;
};

extern const struct profile_matrix profile_matrix_default;

/* Windows and runs of a form. */
struct profile_form {
	const char *warmup;
	const char *duration;
	uint64_t warmup_ns;
	uint64_t duration_ns;
	unsigned runs;
};

extern const struct profile_form profile_full;
extern const struct profile_form profile_short;

/* By name or other name; NULL if there is none. "all" is no profile. */
const struct profile *profile_find(const char *name);

/* Profiles and their other names and "all", for messages. */
const char *const *profile_names(unsigned *count_out);

/* The same in words: "min-rtt, ... or all". */
const char *profile_usage(void);

/* In the order of "all"; NULL behind the last. */
const struct profile *profile_at(unsigned index);

/*
 * Adds its scenarios to the axis, their names to `names`, an array that outlives it. False if the
 * axis has no room for them.
 */
bool profile_add(const struct profile *profile, const struct profile_matrix *matrix,
		 struct axis *axis, json_t *names);

/*
 * Makes of a profile's cell what this topology and the server's link have. True with `lack` saying
 * what is not as the profile wants it, or ""; false if the cell cannot be had, and `lack` says why.
 */
bool profile_settle(struct cell *cell, const struct topology *topology, const struct link *link,
		    struct tp_error *lack);

#endif
