/*
 * manifest: size and SHA-256 of every file in a directory.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_MANIFEST_H
#define WEIR_RUN_MANIFEST_H

#include "dataplane/transport/transport.h"

#include <jansson.h>

/*
 * {"schema": "weir.manifest/1", "files": [{path, bytes, sha256}, ...]} by path. 0, or negative
 * errno with `error` filled.
 */
int manifest_make(const char *folder, json_t **manifest_out, struct tp_error *error);

#endif
