/*
 * directory: a result directory, from its first file to its name.
 *
 * It is built as NAME.partial and takes NAME only in finish, after the manifest, so a directory
 * without the suffix is whole. What is written through here is written whole or not at all; logs
 * and metrics grow line by line while a sample runs. The first failure sticks: later calls do
 * nothing and return it, so that a caller may ask once at the end of a step. One process at a time
 * has it: it is locked from create or reopen to finish or abandon.
 *
 * Legal order: create or reopen, { folder, write }*, then finish or abandon. Plane: setup and
 * report.
 */
#ifndef WEIR_RUN_DIRECTORY_H
#define WEIR_RUN_DIRECTORY_H

#include "dataplane/transport/transport.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <time.h>

struct directory {
	char path[PATH_MAX];	/* where it will be */
	char partial[PATH_MAX]; /* where it is until then; empty if it was not made */
	int lock;		/* a descriptor of `partial`, or -1 */
	int failed;		/* negative errno of the first failure, or 0 */
	struct tp_error error;	/* its text */
};

/* Makes PARENT/<time>-<name>-<host>.partial, and PARENT if need be. 0, or negative errno. */
int directory_create(struct directory *directory, const char *parent, const char *name,
		     time_t started);

/*
 * Takes up again what there is at `path`, whole or partial; from then on it is partial. 0, or
 * -EBUSY if another process writes it, or another negative errno; then `partial` is empty and
 * nothing has changed.
 */
int directory_reopen(struct directory *directory, const char *path);

/* PARTIAL/NAME in `path`; returns `path`. */
const char *directory_file(const struct directory *directory, const char *name,
			   char path[PATH_MAX]);

/* Makes a folder, and those above it, inside. */
int directory_folder(struct directory *directory, const char *name);

int directory_write(struct directory *directory, const char *name, const void *data, size_t bytes);

/* The object stays the caller's. */
int directory_write_json(struct directory *directory, const char *name, const json_t *object);

/* Writes one line for each element of `array`. */
int directory_write_lines(struct directory *directory, const char *name, const json_t *array);

/* For when a child could not write: notes the failure if the file system is all but full. */
int directory_check_room(struct directory *directory);

/* Notes why it is not to become whole though all could be written; in the way of printf. */
int directory_refuse(struct directory *directory, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether what kept a child's log from being made is the directory's failure, not the child's. */
bool directory_is_its_own(int code);

/* Notes a failure that happened elsewhere while writing into it. */
int directory_fail(struct directory *directory, int code, const char *name);

/*
 * Hashes every file into manifest.json, that into manifest.sha256, and gives the directory its
 * name. 0 or the failure, which leaves it partial.
 */
int directory_finish(struct directory *directory);

/* Leaves it partial and says why in INCOMPLETE.txt, if that can still be written. */
void directory_abandon(struct directory *directory, const char *why);

#endif
