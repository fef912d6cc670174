/*
 * pipeline_flags: the pipeline's own words as kinds of flags.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_PIPELINE_FLAGS_H
#define WEIR_APPS_PIPELINE_FLAGS_H

#include "apps/common/flags.h"

extern const struct flag_kind flag_delivery; /* struct delivery */
extern const struct flag_kind flag_handler;  /* enum handler_kind */

#endif
