/*
 * build_info: what this program was built from and how.
 *
 * Plane: report.
 */
#ifndef WEIR_APPS_BUILD_INFO_H
#define WEIR_APPS_BUILD_INFO_H

#include <jansson.h>

/*
 * weir.build/1: version, commit, compiler, meson's options, sanitizers, libraries; the libc is the
 * one that runs. A new reference.
 */
json_t *build_info(void);

/* The version of weir, e.g. "0.1.0"; static. */
const char *build_version(void);

/*
 * What makes a build with these of meson's options b_sanitize, optimization and c_args unfit for
 * performance figures, static; NULL if nothing does.
 */
const char *build_judge(const char *sanitizers, const char *optimization, const char *c_args);

/* What makes this build unfit for performance figures, static; NULL if nothing does. */
const char *build_unfit(void);

#endif
