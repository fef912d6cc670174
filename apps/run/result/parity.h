/*
 * parity: whether all servers of a plan answer the same request with the same bytes.
 *
 * Cells are grouped by what a client asks for; how it is delivered, by which stack, over how many
 * connections and by which variant makes no difference to the answer. Of each distinct server that
 * a group's cells have, a fresh one is started and asked the same requests (`weir load --digest`),
 * and the hashes are compared. Servers that do different work are not to be compared by speed.
 *
 * Plane: setup and report, before and after the samples.
 */
#ifndef WEIR_RUN_PARITY_H
#define WEIR_RUN_PARITY_H

#include "apps/run/store/directory.h"
#include "apps/run/sample/interrupt.h"
#include "apps/run/plan/plan.h"

#include <stdbool.h>

#define PARITY_SCHEMA "weir.parity/1"

/*
 * Asks every distinct server of the plan; `when` ("before", "after") goes into the logs' names
 * (parity/WHEN-NN.server.log) and the object:
 *
 *	{"when", "equal", "mismatch", "groups": [{"request": {...}, "equal", "servers": [{"variant",
 *	"digest", "bytes", "verified"}]}]}, with "wrong" in words where an answer was
 *
 * Servers of an experiment with "hosts" are not asked: "equal" is null and there are no groups.
 * Else "equal" is false if two digests of one group differ, or an answer was wrong; null, with the
 * reason, if a server or client failed to give one, which its samples will show as well; else
 * true. "mismatch" is a text that names both variants and both digests, or null.
 *
 * 0 with a new reference in `parity_out`, whatever was found; -EINTR, or the directory's failure,
 * with `parity_out` untouched. Nothing is left running.
 */
int parity_check(const struct plan *plan, struct directory *directory, struct interrupt *interrupt,
		 const char *when, json_t **parity_out);

/*
 * The same before the first sample or after the last, kept in parity.json as {"schema", "before",
 * "after"}; `parity` is that object, the caller's, in which the schema is set. 0; or as above. A
 * mismatch before is the directory's failure (-EBADMSG, its text in the directory's error), for
 * nothing measured would compare; one after is not, and found by parity_mismatch of parity's
 * "after".
 */
int parity_keep(const struct plan *plan, struct directory *directory, struct interrupt *interrupt,
		bool after, json_t *parity);

/* The servers that one check asks; 0 if there is nothing to compare, and nothing is asked. */
unsigned parity_count(const struct plan *plan);

/* The text of a mismatch, lent from the object; NULL if there is none. */
const char *parity_mismatch(const json_t *parity);

#endif
