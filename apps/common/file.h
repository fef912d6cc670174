/*
 * file: whole files or none.
 *
 * What is written goes to `PATH.tmp-PID` beside the target, is synced, and only then takes the
 * target's name, so that a full disk, a crash or a kill leaves either the old file or the new
 * one, never a half.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_APPS_FILE_H
#define WEIR_APPS_FILE_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdio.h>

enum { FILE_PATH_BYTES = 4096 };

struct file {
	FILE *stream; /* write here */
	char path[FILE_PATH_BYTES];
	char temporary[FILE_PATH_BYTES];
};

/* Begins a file. 0; or negative errno with `error` filled and nothing left behind. */
int file_begin(struct file *file, const char *path, struct tp_error *error);

/*
 * Ends it under its name. 0; or negative errno with `error` filled, the temporary removed, the
 * old file as it was.
 */
int file_commit(struct file *file, struct tp_error *error);

/* Gives it up: nothing is left. */
void file_abandon(struct file *file);

/*
 * Whether a file could be begun there now; leaves nothing. 0, or negative errno with `error`
 * filled.
 */
int file_check(const char *path, struct tp_error *error);

/*
 * Renames a file or a folder and makes the new name durable. 0, or negative errno with `error`
 * filled.
 */
int file_rename(const char *from, const char *to, struct tp_error *error);

/* begin, write and commit in one. */
int file_write(const char *path, const void *data, size_t bytes, struct tp_error *error);

/*
 * A regular file to read from, for fdopen or close; what is none could keep its reader waiting, or
 * never end. The descriptor, or negative errno: -EINVAL if it is something else.
 */
int file_open(const char *path);

/*
 * Reads a whole regular file of at most `max_bytes`, ended by '\0' behind it; owned by the caller
 * (free). -EFBIG if larger.
 */
int file_read(const char *path, size_t max_bytes, char **data_out, size_t *bytes_out,
	      struct tp_error *error);

/* Whether there is anything that the pattern of glob(3), {a,b} included, matches. */
bool file_matches(const char *pattern);

#endif
