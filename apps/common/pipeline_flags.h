/*
 * pipeline_flags: the pipeline's own words as kinds of flags, and how long a body may be.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_PIPELINE_FLAGS_H
#define WEIR_APPS_PIPELINE_FLAGS_H

#include "apps/common/flags.h"
#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"

/* Longest body that a frame can carry. */
enum { BODY_BYTES_MAX = LIMIT_FRAME_BYTES - FRAME_LENGTH_MIN };

extern const struct flag_kind flag_delivery; /* struct delivery */
extern const struct flag_kind flag_handler;  /* const char *: lent */
extern const struct flag_kind flag_upstream; /* const char *: lent, as behind "proxy:" */

#endif
