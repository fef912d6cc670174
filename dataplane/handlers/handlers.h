/*
 * handlers: the handlers there are, each in a file of its own.
 *
 * Plane: as pipeline/handler.h.
 */
#ifndef WEIR_HANDLERS_HANDLERS_H
#define WEIR_HANDLERS_HANDLERS_H

#include "dataplane/pipeline/handler.h"

extern const struct handler_ops respond_ops;
extern const struct handler_ops echo_ops;
extern const struct handler_ops spin_ops;
extern const struct handler_ops static_ops;
extern const struct handler_ops proxy_ops;
extern const struct handler_ops cache_ops;

#endif
