#include "stacks/epoll/instance.h"

#include <errno.h>
#include <sys/sendfile.h>

/* sendfile(2), tried again where a signal interrupted it before it sent anything. */
static ssize_t send_from(struct ep *ep, int socket_fd, int fd, uint64_t offset, size_t bytes)
{
	off_t at = (off_t)offset;
	ssize_t sent;

	do {
		ep->counters.syscalls++;
		sent = sendfile(socket_fd, fd, &at, bytes);
	} while (sent < 0 && errno == EINTR);
	return sent;
}

/* Whether an error of sendfile(2) is the file's, or says that there is no such call. */
static bool is_of_file(int error_number)
{
	switch (error_number) {
	case EACCES:
	case EBADF:
	case EINVAL: /* a file system that cannot be read from so */
	case EIO:
	case EISDIR:
	case ENOMEM:
	case ENOSYS: /* or EPERM: a filter of system calls */
	case EOPNOTSUPP:
	case EOVERFLOW:
	case EPERM:
	case ESPIPE:
		return true;
	default:
		return false;
	}
}

/* Nothing was sent. */
static int64_t judge_error(struct ep *ep, struct ep_conn *conn, int error_number)
{
	if (is_of_file(error_number))
		return -error_number;
	if (error_number == EAGAIN) {
		conn->wanted_bytes = conn->send.capacity;
		ep_conn_block(ep, conn);
	} else {
		ep_conn_retire(ep, conn, socket_reason(error_number));
	}
	return 0;
}

/*
 * A file follows what the ring holds, and no ring remembers files: so it is sent only while the
 * ring is empty, and whoever comes early is told like one who was refused room for a whole ring.
 */
int64_t ep_send_file(struct tp *tp, struct tp_conn *tp_conn, int fd, uint64_t offset, size_t bytes)
{
	struct ep_conn *conn = ep_conn_of(tp_conn);
	struct ep *ep = ep_of(tp);
	ssize_t sent;

	ASSERT(bytes > 0);
	ep_flush(tp, tp_conn);
	if (conn->state == EP_CLOSED || conn->finishing)
		return 0;
	if (conn->state != EP_OPEN || conn->blocked || ring_used(&conn->send) > 0) {
		conn->wanted_bytes = conn->send.capacity;
		ep->counters.reserves_refused++;
		return 0;
	}
	sent = send_from(ep, conn->fd, fd, offset, bytes);
	if (sent < 0)
		return judge_error(ep, conn, errno);
	if (sent == 0)
		return -ENODATA;
	ep->moved = true;
	ep->details.file_writes++;
	ep_count_write(ep, (size_t)sent);
	return sent;
}
