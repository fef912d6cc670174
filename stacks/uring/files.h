/*
 * files: the ring's own table of descriptors.
 *
 * A request on an entry of the table is spared the look-up and the count of references that a plain
 * descriptor costs. Connections enter it, at the place that their index gives, by a request of
 * their own once they are there, and leave it before they are closed; until the kernel has
 * answered, and if it refuses, they are plain. Sends use it. A receive stays in force for as long
 * as its connection and looks its file up once, so it would gain nothing.
 *
 * Plane: ur_files_open is setup; the rest is turn.
 */
#ifndef WEIR_STACKS_URING_FILES_H
#define WEIR_STACKS_URING_FILES_H

#include "stacks/uring/instance.h"

/* Makes a table with a place for each connection. 0, or negative errno with `error` filled. */
int ur_files_open(struct ur *ur, struct tp_error *error);

/* Asks for a new connection to be entered. False without room in the queue. */
bool ur_files_enter(struct ur *ur, struct ur_conn *conn);

/* Asks for it to be removed, if it is there or about to be. False without room. */
bool ur_files_leave(struct ur *ur, struct ur_conn *conn);

/* A completion of either. */
void ur_files_done(struct ur *ur, struct ur_conn *conn, int result);

/* Lets a prepared request on the connection use its entry, if it has one. */
static inline void ur_files_use(const struct ur *ur, const struct ur_conn *conn,
				struct io_uring_sqe *sqe)
{
	if (conn->file != UR_FILE_ENTERED)
		return;
	sqe->fd = (int)slab_index(&ur->conns, conn);
	sqe->flags |= IOSQE_FIXED_FILE;
}

#endif
