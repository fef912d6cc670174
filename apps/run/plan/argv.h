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

#endif
