/*
 * pipeline_flags: the pipeline's own words as kinds of flags, the rows that server and client have
 * in common, and how long a body may be.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_PIPELINE_FLAGS_H
#define WEIR_APPS_PIPELINE_FLAGS_H

#include "apps/common/flags.h"
#include "dataplane/core/limits.h"
#include "dataplane/pipeline/codec.h"
#include "dataplane/proto/frame.h"

/* Longest body that a frame can carry. */
enum { BODY_BYTES_MAX = LIMIT_FRAME_BYTES - FRAME_LENGTH_MIN };

extern const struct flag_kind flag_delivery; /* struct delivery */
extern const struct flag_kind flag_handler;  /* const char *: lent */
extern const struct flag_kind flag_upstream; /* const char *: lent, as behind "proxy:" */

/* What both sides must agree on; `options` has the fields of these names. */
#define PIPELINE_FLAGS(options)                                                              \
	{.name = "protocol",                                                                 \
	 .kind = &flag_choice,                                                               \
	 .value = &(options)->protocol,                                                      \
	 .choices = codec_names,                                                             \
	 .initial = "framed",                                                                \
	 .about = "what is spoken"},                                                         \
		{.name = "handler",                                                          \
		 .kind = &flag_handler,                                                      \
		 .value = &(options)->handler,                                               \
		 .initial = "respond",                                                       \
		 .about = "what a request is answered with"},                                \
	{                                                                                    \
		.name = "response-bytes", .kind = &flag_bytes,                               \
		.value = &(options)->response_bytes, .initial = "64", .max = BODY_BYTES_MAX, \
		.about = "respond: body bytes of each response"                              \
	}

#endif
