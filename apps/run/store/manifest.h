/*
 * manifest: size and SHA-256 of every file in a result directory, and of itself.
 *
 * manifest.json has one entry a file; manifest.sha256 the digest of manifest.json in sha256sum's
 * form, so that no byte of the directory can change unseen. The two list neither each other nor
 * themselves.
 *
 * A report adds files to a directory that is whole. It writes them, with a manifest of its own and
 * the digest of that, into report.part, which counts for nothing here. When they are all on the
 * disk that becomes report.next: each file in it is meant instead of the one of its name beside it,
 * until it has taken that one's place (analysis/publish.py). So a directory is as its manifest says
 * wherever a report was stopped.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_MANIFEST_H
#define WEIR_RUN_MANIFEST_H

#include "dataplane/transport/transport.h"

#include <jansson.h>
#include <limits.h>

#define MANIFEST_SCHEMA "weir.manifest/1"
#define MANIFEST_NAME "manifest.json"
#define MANIFEST_SUM_NAME "manifest.sha256"
#define MANIFEST_STAGE_NAME "report.part"
#define MANIFEST_NEXT_NAME "report.next"

/* "HEX  manifest.json\n" and its end. */
enum { MANIFEST_SUM_BYTES = 64 + 2 + sizeof(MANIFEST_NAME) + 1 };

/*
 * {"schema": "weir.manifest/1", "files": [{path, bytes, sha256}, ...]} by path. 0, or negative
 * errno with `error` filled.
 */
int manifest_make(const char *folder, json_t **manifest_out, struct tp_error *error);

/*
 * Where the file `name` of `folder` is at this moment: in report.next, or in its place. Returns
 * `path`, which is empty if it would be too long.
 */
const char *manifest_file(const char *folder, const char *name, char path[PATH_MAX]);

/* What manifest.sha256 is to hold for the manifest.json that is in `folder`. As above. */
int manifest_sum(const char *folder, char text[MANIFEST_SUM_BYTES], struct tp_error *error);

/*
 * Compares `folder` with its manifest, and the manifest with its digest. Adds "PATH: what is wrong"
 * to `faults`, an array of texts, for each file that differs, lacks, or is not listed.
 */
void manifest_check(const char *folder, json_t *faults);

#endif
