#include "tests/interop/talk.h"

#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "tests/interop/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE_BYTES = 32768 };

/* One end of a connection, the kernel's or utcp's. */
struct end {
	bool used;
	int fd;
	struct utcp_conn *conn;
	uint64_t out, in;
	bool up;
	bool finished_out, finished_in;
	bool refused; /* a reserve was refused */
};

struct talk {
	struct rig *rig;
	const struct talk_config *config;
	struct end kernel[RIG_CONNS], utcp[RIG_CONNS];
	int listener;
	unsigned begun, kernel_ended, utcp_ended;
	uint64_t read_from_ns;
	uint64_t bytes;
	bool wrong;
};

static void complain(struct talk *talk, const char *what, uint64_t at)
{
	if (!talk->wrong)
		fprintf(stderr, "interop: %s (%llu)\n", what, (unsigned long long)at);
	talk->wrong = true;
}

static void verify(struct talk *talk, struct end *end, const uint8_t *data, size_t bytes)
{
	while (bytes > 0) {
		size_t run = bytes < STREAM_RUN_MAX ? bytes : STREAM_RUN_MAX;

		if (memcmp(data, stream_at(end->in), run) != 0)
			complain(talk, "a wrong byte near place", end->in);
		end->in += run;
		talk->bytes += run;
		data += run;
		bytes -= run;
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- the kernel's ends ----------------------------------------------------------------------- */

static int kernel_socket(const struct rig *rig)
{
	int fd = socket(rig->ip6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			0);

	CHECK(fd >= 0);
	return fd;
}

int talk_kernel_connect(const struct rig *rig)
{
	struct sockaddr_storage to;
	socklen_t bytes = rig_sockaddr(rig, false, &to);
	int fd = kernel_socket(rig);

	CHECK(connect(fd, (struct sockaddr *)&to, bytes) == 0 || errno == EINPROGRESS);
	return fd;
}

int talk_kernel_listen(const struct rig *rig)
{
	struct sockaddr_storage at;
	socklen_t bytes = rig_sockaddr(rig, true, &at);
	int fd = kernel_socket(rig), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	CHECK(bind(fd, (struct sockaddr *)&at, bytes) == 0 && listen(fd, RIG_CONNS) == 0);
	return fd;
}

static void hold_kernel(struct talk *talk, int fd)
{
	unsigned i = 0;

	while (i < RIG_CONNS && talk->kernel[i].used)
		i++;
	CHECK(i < RIG_CONNS);
	talk->kernel[i] = (struct end){.used = true, .fd = fd};
}

static void kernel_writes(struct talk *talk, struct end *end)
{
	uint64_t whole = talk->config->kernel_bytes;
	ssize_t done = 1;

	while (end->out < whole && done > 0) {
		done = send(end->fd, stream_at(end->out), least(whole - end->out, PIECE_BYTES),
			    MSG_NOSIGNAL);
		end->out += done > 0 ? (uint64_t)done : 0;
	}
	if (done < 0 && errno != EAGAIN && errno != ENOTCONN)
		complain(talk, strerror(errno), end->out);
	if (end->out == whole && !end->finished_out &&
	    (end->finished_in || !talk->config->kernel_last))
		end->finished_out = shutdown(end->fd, SHUT_WR) == 0;
}

static void kernel_reads(struct talk *talk, struct end *end)
{
	static uint8_t data[STREAM_RUN_MAX];
	ssize_t done = 1;

	while (!end->finished_in && (done = recv(end->fd, data, sizeof(data), 0)) > 0)
		verify(talk, end, data, (size_t)done);
	if (done < 0 && errno != EAGAIN && errno != ENOTCONN)
		complain(talk, strerror(errno), end->in);
	end->finished_in |= done == 0;
}

static void run_kernel(struct talk *talk, struct end *end)
{
	struct sockaddr_storage peer;
	socklen_t bytes = sizeof(peer);

	/* Shut before it is connected, a socket gives up. */
	end->up = end->up || getpeername(end->fd, (struct sockaddr *)&peer, &bytes) == 0;
	if (!end->up)
		return;
	kernel_writes(talk, end);
	if (talk->rig->now_ns >= talk->read_from_ns)
		kernel_reads(talk, end);
	if (!end->finished_in || !end->finished_out)
		return;
	if (end->in != talk->config->utcp_bytes)
		complain(talk, "the kernel got a stream that ends at", end->in);
	close(end->fd);
	end->used = false;
	talk->kernel_ended++;
}

/* --- utcp's ends ----------------------------------------------------------------------------- */

static void hold_utcp(struct talk *talk, struct utcp_conn *conn, bool up)
{
	struct end *end = &talk->utcp[utcp_conn_index(talk->rig->utcp, conn)];

	CHECK(!end->used);
	*end = (struct end){.used = true, .conn = conn, .up = up};
}

static void utcp_writes(struct talk *talk, struct end *end)
{
	uint64_t whole = talk->config->utcp_bytes;
	struct room rooms[2];

	while (end->out < whole && !end->refused) {
		size_t bytes = least(whole - end->out, PIECE_BYTES);
		unsigned count = utcp_reserve(talk->rig->utcp, end->conn, bytes, rooms);
		struct room_writer writer = room_writer_of(rooms, count);

		end->refused = count == 0;
		if (end->refused)
			return;
		room_writer_put(&writer, stream_at(end->out), bytes);
		utcp_commit(talk->rig->utcp, end->conn, bytes);
		end->out += bytes;
	}
	if (end->out == whole && !end->finished_out &&
	    (end->finished_in || !talk->config->utcp_last)) {
		utcp_finish(talk->rig->utcp, end->conn);
		end->finished_out = true;
	}
}

static void utcp_reads(struct talk *talk, struct end *end)
{
	struct span spans[2];
	unsigned count = utcp_peek(talk->rig->utcp, end->conn, spans);
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++) {
		verify(talk, end, spans[i].base, spans[i].bytes);
		bytes += spans[i].bytes;
	}
	utcp_consume(talk->rig->utcp, end->conn, bytes);
}

static void run_utcp(struct talk *talk, struct end *end)
{
	if (!end->up)
		return;
	utcp_writes(talk, end);
	if (talk->rig->now_ns >= talk->read_from_ns)
		utcp_reads(talk, end);
}

static void end_utcp(struct talk *talk, struct end *end, uint16_t reason)
{
	utcp_reads(talk, end);
	if (reason != UTCP_DONE)
		complain(talk, "utcp's connection ended for reason", reason);
	else if (!end->finished_in || end->in != talk->config->kernel_bytes)
		complain(talk, "utcp got a stream that ends at", end->in);
	end->used = false;
	talk->utcp_ended++;
}

static void take_event(struct talk *talk, const struct utcp_event *event)
{
	struct end *end = &talk->utcp[utcp_conn_index(talk->rig->utcp, event->conn)];

	if (event->bits & UTCP_ACCEPTED)
		hold_utcp(talk, event->conn, true);
	end->up |= (event->bits & UTCP_CONNECTED) != 0;
	end->refused &= !(event->bits & UTCP_WRITABLE);
	end->finished_in |= (event->bits & UTCP_FINISHED) != 0;
	if (event->bits & UTCP_CLOSED)
		end_utcp(talk, end, event->reason);
}

/* --- all of them ----------------------------------------------------------------------------- */

static void begin_one(struct talk *talk)
{
	struct utcp_conn *conn;

	talk->begun++;
	if (talk->config->kernel_calls) {
		hold_kernel(talk, talk_kernel_connect(talk->rig));
		return;
	}
	if (rig_call(talk->rig, &conn) != 0)
		complain(talk, "utcp could not call, after", talk->begun);
	else
		hold_utcp(talk, conn, false);
}

static void run_ends(struct talk *talk)
{
	struct utcp_event event;
	int fd;

	while (talk->listener >= 0 &&
	       (fd = accept4(talk->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		hold_kernel(talk, fd);
	while (utcp_events(talk->rig->utcp, &event, 1) > 0)
		take_event(talk, &event);
	for (unsigned i = 0; i < RIG_CONNS; i++) {
		if (talk->kernel[i].used)
			run_kernel(talk, &talk->kernel[i]);
		if (talk->utcp[i].used)
			run_utcp(talk, &talk->utcp[i]);
	}
}

static unsigned ended(const struct talk *talk)
{
	return talk->kernel_ended < talk->utcp_ended ? talk->kernel_ended : talk->utcp_ended;
}

struct talk_result talk_run(struct rig *rig, const struct talk_config *config)
{
	static struct talk talk;
	uint64_t began_ns = clock_monotonic_ns();

	talk = (struct talk){.rig = rig,
			     .config = config,
			     .listener = config->kernel_calls ? -1 : talk_kernel_listen(rig),
			     .read_from_ns = began_ns + config->pause_ns};
	while (ended(&talk) < config->count && !talk.wrong) {
		while (talk.begun < config->count && talk.begun - ended(&talk) < config->at_once &&
		       !talk.wrong)
			begin_one(&talk);
		if (!rig_move(rig))
			complain(&talk, "time is up, ended", ended(&talk));
		run_ends(&talk);
	}
	if (talk.listener >= 0)
		close(talk.listener);
	if (!talk.wrong && !rig_settle(rig))
		complain(&talk, "connections are left", utcp_conn_count(rig->utcp));
	return (struct talk_result){!talk.wrong, talk.bytes, clock_monotonic_ns() - began_ns};
}
