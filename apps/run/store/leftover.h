/*
 * leftover: what runs and servers left on this host when they were killed.
 *
 * All that a run makes outside its result directory is named after its run id: the folder
 * /tmp/weir-run-<id> with the sockets and whatever else is put there, and the veth pairs and
 * namespaces <id>-<sample>. So nothing has to be written down while it runs, but for the nice value
 * that the runner's session had (autogroup.h), which is put back. Whether a run lives is
 * told by locks (claim.h), not by a process id, which may be another's by now: the runner holds the
 * claim `run` in its folder, a server that of its pair. DPDK leaves nothing but the empty folder
 * /var/run/dpdk/weir: its processes share no files and take hugepages without names (eal.h).
 *
 * Of /tmp only folders of this user are looked at. Plane: setup, main thread.
 */
#ifndef WEIR_RUN_LEFTOVER_H
#define WEIR_RUN_LEFTOVER_H

#include <stddef.h>

enum {
	LEFTOVER_MAX = 64, /* that one look finds */
	RUN_ID_BYTES = 9,  /* 8 hexadecimal digits and their end */
};

extern const char leftover_claim[]; /* that a living runner holds in its folder */

struct leftover {
	char run_id[RUN_ID_BYTES]; /* "" if it belongs to no run */
	char what[112];		   /* "/tmp/weir-run-1a2b3c4d", "veth pair 1a2b3c4d-s0001" */
};

/* "/tmp/weir-run-ID"; returns `path`. */
const char *leftover_folder(const char *run_id, char *path, size_t path_bytes);

/* What there is, in no order; the number of entries. */
unsigned leftover_list(struct leftover list_out[LEFTOVER_MAX]);

/*
 * Removes what there is, and writes what was removed to the list; what cannot be removed stays
 * for the next. The number of entries.
 */
unsigned leftover_remove(struct leftover list_out[LEFTOVER_MAX]);

#endif
