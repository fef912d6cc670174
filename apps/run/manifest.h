/*
 * manifest: size and SHA-256 of every file in a result directory, and of itself.
 *
 * manifest.json has one entry a file; manifest.sha256 the digest of manifest.json in sha256sum's
 * form, so that no byte of the directory can change unseen. The two list neither each other nor
 * themselves.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_MANIFEST_H
#define WEIR_RUN_MANIFEST_H

#include "dataplane/transport/transport.h"

#include <jansson.h>

#define MANIFEST_SCHEMA "weir.manifest/1"
#define MANIFEST_NAME "manifest.json"
#define MANIFEST_SUM_NAME "manifest.sha256"

/* "HEX  manifest.json\n" and its end. */
enum { MANIFEST_SUM_BYTES = 64 + 2 + sizeof(MANIFEST_NAME) + 1 };

/*
 * {"schema": "weir.manifest/1", "files": [{path, bytes, sha256}, ...]} by path. 0, or negative
 * errno with `error` filled.
 */
int manifest_make(const char *folder, json_t **manifest_out, struct tp_error *error);

/* What manifest.sha256 is to hold for the manifest.json that is in `folder`. As above. */
int manifest_sum(const char *folder, char text[MANIFEST_SUM_BYTES], struct tp_error *error);

/*
 * Compares `folder` with its manifest, and the manifest with its digest. Adds "PATH: what is wrong"
 * to `faults`, an array of texts, for each file that differs, lacks, or is not listed.
 */
void manifest_check(const char *folder, json_t *faults);

#endif
