/*
 * drift: what became of the host between two snapshots of it (host.h).
 *
 * A fact is named by its way through host.json, "nics.eth0.mtu": members of lists by their name or
 * node. What is there in one snapshot only was "absent" in the other.
 *
 * Plane: report.
 */
#ifndef WEIR_APPS_DRIFT_H
#define WEIR_APPS_DRIFT_H

#include <jansson.h>

/*
 * The facts that ought to stay and did not: [{"fact", "before", "after", "matters"}]. `matters` is
 * true of those that change how fast things run. A new reference; empty where a snapshot is not an
 * object.
 */
json_t *drift_make(const json_t *before, const json_t *after);

/*
 * drift.json: {"schema", "drift" (as above), "moved": the counters and levels that never rest,
 * [{"fact", "before", "after", "delta"}], "steal_share" of all CPU time between the two}. A new
 * reference.
 */
json_t *drift_to_json(const json_t *before, const json_t *after);

#endif
