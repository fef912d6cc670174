/*
 * build_info: what this program was built from and how.
 *
 * Plane: report.
 */
#ifndef WEIR_APPS_BUILD_INFO_H
#define WEIR_APPS_BUILD_INFO_H

#include <jansson.h>

/* build.json: version, commit, compiler, flags, sanitizers, libraries; a new reference. */
json_t *build_info(void);

/* The version of weir, e.g. "0.1.0"; static. */
const char *build_version(void);

/* What makes this build unfit for performance figures, static; NULL if nothing does. */
const char *build_unfit(void);

#endif
