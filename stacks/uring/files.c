#include "stacks/uring/files.h"

#include <errno.h>
#include <string.h>

int ur_files_open(struct ur *ur, struct tp_error *error)
{
	int code = io_uring_register_files_sparse(&ur->queue.ring, ur->limits.conn_max);

	ur->counters.syscalls++;
	ur->tables_files = code == 0;
	if (code == 0)
		return 0;
	return tp_fail(error, code,
		       "uring: registered-files: cannot make a table of %u descriptors: %s%s",
		       ur->limits.conn_max, strerror(-code),
		       code == -EMFILE ? "; raise the limit of open files (ulimit -n), or allow "
					 "fewer connections"
				       : "; leave it off");
}

/* Puts `fd` (-1: nothing) where the connection's index points. */
static bool update(struct ur *ur, struct ur_conn *conn, const int *fd, enum ur_file state)
{
	struct io_uring_sqe *sqe = ur_conn_sqe(ur, conn);

	if (!sqe)
		return false;
	io_uring_prep_files_update(sqe, (int *)fd, 1, (int)slab_index(&ur->conns, conn));
	ur_conn_queue(ur, conn, sqe, UR_FILE);
	conn->file = state;
	return true;
}

bool ur_files_enter(struct ur *ur, struct ur_conn *conn)
{
	if (!ur->tables_files || conn->file != UR_FILE_NEW)
		return true;
	conn->tabled_fd = conn->fd;
	return update(ur, conn, &conn->tabled_fd, UR_FILE_ENTERING);
}

bool ur_files_leave(struct ur *ur, struct ur_conn *conn)
{
	static const int nothing = -1;

	if (conn->file != UR_FILE_ENTERING && conn->file != UR_FILE_ENTERED)
		return true;
	return update(ur, conn, &nothing, UR_FILE_PLAIN);
}

void ur_files_done(struct ur *ur, struct ur_conn *conn, int result)
{
	if (conn->file != UR_FILE_ENTERING)
		return;
	conn->file = result == 1 ? UR_FILE_ENTERED : UR_FILE_PLAIN;
	ur->details.files_refused += result != 1;
}
