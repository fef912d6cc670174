/*
 * timing: which clock a process's durations come from, and whether it can be trusted.
 *
 * Plane: report, after clock_start.
 */
#ifndef WEIR_APPS_TIMING_H
#define WEIR_APPS_TIMING_H

#include <jansson.h>

/*
 * {"reads": "tsc" or "CLOCK_MONOTONIC", "constant_tsc", "nonstop_tsc"}: the flags as
 * /proc/cpuinfo has them; null with the reason where it does not say. A new reference.
 */
json_t *timing_to_json(void);

#endif
