/*
 * feature: what a stack finds on this host.
 *
 * A feature is something that a stack makes use of where the host has it. Features are probed at
 * start (tp_ops.probe), and those that lack are named.
 *
 * Plane: setup.
 */
#ifndef WEIR_TRANSPORT_FEATURE_H
#define WEIR_TRANSPORT_FEATURE_H

#include <stdbool.h>

enum { TP_FEATURES_MAX = 24 }; /* of one stack */

struct tp_feature {
	const char *name; /* static */
	bool present;
	const char *absent; /* static: what lacks and what is done instead; NULL if present */
};

#endif
