/*
 * argv: the command lines of a sample's server and client, and of the upstream behind the server.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_ARGV_H
#define WEIR_RUN_ARGV_H

#include "apps/run/plan/plan.h"

/* Texts, argv[0] included; of a sample that has its cell, id and folder. New references. */
json_t *argv_make_server(const struct experiment *experiment, const struct plan_sample *sample,
			 const struct plan_ground *ground);
json_t *argv_make_client(const struct experiment *experiment, const struct plan_sample *sample,
			 const struct plan_ground *ground);

/* Likewise, where the experiment has an upstream. */
json_t *argv_make_upstream(const struct experiment *experiment, const struct plan_sample *sample,
			   const struct plan_ground *ground);

/* Connections that the handlers of a cell's server keep for themselves in each worker. */
uint64_t argv_kept(const struct experiment *experiment, const struct cell *cell);

/* Connections that a worker is told to have, so that all clients find room beside those kept. */
uint32_t argv_conn_max(unsigned connections, uint64_t kept);

#endif
