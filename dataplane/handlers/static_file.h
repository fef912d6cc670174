/*
 * static_file: files below a folder, opened so that nothing leads out of it.
 *
 * The kernel resolves each name beneath the folder (openat2): symbolic links may point within it,
 * and everything else ends in a refusal. Only regular files are handed out; a FIFO, a device or a
 * socket is refused without being opened.
 *
 * Planes: folder is setup, the rest is turn (it makes system calls that may touch the disk).
 */
#ifndef WEIR_HANDLERS_STATIC_FILE_H
#define WEIR_HANDLERS_STATIC_FILE_H

#include "dataplane/core/span.h"
#include "dataplane/transport/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What tells that a file is not what it was. */
struct file_stamp {
	uint64_t device;
	uint64_t inode;
	uint64_t bytes;
	int64_t modified_ns; /* since 1970 */
	int64_t changed_ns;
};

/* Opens the folder itself: a descriptor, or negative errno with `error` filled. */
int static_folder_open(const char *path, struct tp_error *error);

/*
 * Opens the file of this name. 0 with a descriptor (owned) and the stamp, or the code that refuses
 * it: 403, 404, 500 or 503; 301 if it is a folder's.
 */
unsigned static_file_open(int folder, const char *name, int *fd_out, struct file_stamp *stamp_out);

/* Whether the file of this name is still the one stamped. */
bool static_file_is(int folder, const char *name, const struct file_stamp *stamp);

/* Whether the open file is. */
bool static_file_still(int fd, const struct file_stamp *stamp);

/* Reads exactly `writer`'s next `bytes` from `offset`; false if there are not as many. */
bool static_file_read(int fd, uint64_t offset, struct room_writer *writer, size_t bytes);

/* The media type that a name's suffix stands for. */
const char *static_file_type(const char *name);

#endif
