#include "apps/run/manifest.h"

#include "apps/provenance/sha256.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>

static int add_file(json_t *files, const char *path, const char *name)
{
	char hex[SHA256_HEX_BYTES];
	uint64_t bytes;
	int code = sha256_file(path, &bytes, hex);

	if (code < 0)
		return code;
	return json_array_append_new(files, json_pack("{ss sI ss}", "path", name, "bytes",
						      (json_int_t)bytes, "sha256", hex));
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

int manifest_make(const char *folder, json_t **manifest_out, struct tp_error *error)
{
	char *const roots[] = {(char *)folder, NULL};
	json_t *files = json_array();
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	int code = walk ? 0 : -errno;

	while (code == 0 && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_F)
			code = add_file(files, entry->fts_path,
					entry->fts_path + strlen(folder) + 1);
		else if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR)
			code = -entry->fts_errno;
	}
	if (walk)
		fts_close(walk);
	if (code < 0) {
		json_decref(files);
		return tp_fail(error, code, "cannot hash the files in %.400s: %s", folder,
			       strerror(-code));
	}
	*manifest_out = json_pack("{ss so}", "schema", "weir.manifest/1", "files", files);
	return 0;
}
