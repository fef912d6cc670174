/*
 * growth: numbers of two snapshots compared.
 *
 * What grew goes into the result, or null with the reason: not counted, snapshots lacking, a count
 * that shrank, nothing to divide by.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_GROWTH_H
#define WEIR_RUN_GROWTH_H

#include <jansson.h>
#include <stdbool.h>

/* A number in a snapshot. */
struct growth_source {
	const char *section; /* "" for the top */
	const char *name;
};

/* Why nothing is known without both snapshots. */
extern const char growth_no_snapshots[];

/* What a snapshot has there, or NULL; lent. */
const json_t *growth_find(const json_t *snapshot, struct growth_source source);

/*
 * How much a counter grew. False, with the reason, lent from the snapshots or static, if that is
 * not known; a snapshot may be NULL.
 */
bool growth_of(const json_t *before, const json_t *after, struct growth_source source,
	       double *growth_out, const char **reason_out);

/* Sets it as a whole number. */
void growth_set(json_t *to, const char *name, const json_t *before, const json_t *after,
		struct growth_source source);

/* over / under * scale; or null with `reason` if they are not known, or if `under` is nothing. */
void growth_set_ratio(json_t *to, const char *name, bool known, double over, double under,
		      double scale, const char *reason);

/* A value as it stood at one snapshot, not a difference. */
void growth_set_level(json_t *to, const char *name, const json_t *snapshot,
		      struct growth_source source);

#endif
