#include "tests/unit/epoll/bench.h"

#include "dataplane/core/clock.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RING_BYTES = 4096, FD_MAX = 1024 };

#define DEADLINE_NS (10 * CLOCK_SECOND_NS)
#define IDLE_NS (20 * CLOCK_MS_NS)

bool bench_open(struct bench *bench, uint32_t conn_max)
{
	return bench_open_with(bench, conn_max, BENCH_OPTIONS);
}

bool bench_open_with(struct bench *bench, uint32_t conn_max, const char *options)
{
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_config config = {
		.limits = {.conn_max = conn_max,
			   .recv_bytes = RING_BYTES,
			   .send_bytes = RING_BYTES},
		.device = "",
		.cpu = -1,
		.workers = 1,
		.options = values,
	};
	struct tp_error error;
	int status;

	clock_start();
	memset(bench, 0, sizeof(*bench));
	bench->addr = (struct tp_addr){.ip = loopback_ip(), .port = loopback_port()};
	status = tp_options_parse(&BENCH_OPS, options, values, &error);
	if (status == 0)
		status = BENCH_OPS.open(&config, &bench->tp, &error);
	if (status == 0) {
		status = BENCH_OPS.listen(bench->tp, &bench->addr, &error);
		if (status < 0)
			BENCH_OPS.close(bench->tp);
	}
	if (status < 0)
		printf("# %s\n", error.text);
	CU_ASSERT_EQUAL(status, 0);
	return status == 0;
}

void bench_close(struct bench *bench)
{
	BENCH_OPS.close(bench->tp);
}

static void enter(struct bench *bench, const struct tp_event *event)
{
	struct bench_conn *conn = event->conn->user;

	if (event->bits & TP_ACCEPTED) {
		conn = &bench->conns[bench->conn_count++ % BENCH_CONNS];
		*conn = (struct bench_conn){.conn = event->conn};
		event->conn->user = conn;
	}
	conn->bits |= event->bits;
	if (event->bits & TP_CLOSED) {
		conn->closed++;
		conn->reason = event->reason;
	}
}

unsigned bench_turn(struct bench *bench, uint64_t wait_ns)
{
	struct tp_event events[BENCH_EVENTS];
	unsigned count = tp_poll(bench->tp, events, BENCH_EVENTS, wait_ns, &bench->turn);

	for (unsigned i = 0; i < count; i++)
		enter(bench, &events[i]);
	return count;
}

void bench_idle(struct bench *bench)
{
	uint64_t until_ns = clock_now_ns() + IDLE_NS;

	while (clock_now_ns() < until_ns)
		bench_turn(bench, CLOCK_MS_NS);
}

int bench_dial(const struct bench *bench)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(bench->addr.ip),
		.sin_port = htons(bench->addr.port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int size = bench->peer_buffer_bytes;

	/* before connecting, for the first window offered may not be taken back */
	if (size > 0) {
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	}
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	CU_FAIL("the listener cannot be reached");
	return -1;
}

struct bench_conn *bench_join(struct bench *bench, int *fd_out)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	unsigned before = bench->conn_count;

	*fd_out = bench_dial(bench);
	while (*fd_out >= 0 && bench->conn_count == before && clock_now_ns() < until_ns)
		bench_turn(bench, CLOCK_MS_NS);
	CU_ASSERT_EQUAL_FATAL(bench->conn_count, before + 1);
	return &bench->conns[before % BENCH_CONNS];
}

bool bench_open_joined(struct bench *bench, struct bench_conn **conn_out, int *fd_out)
{
	if (!bench_open(bench, 4))
		return false;
	*conn_out = bench_join(bench, fd_out);
	return true;
}

bool bench_until(struct bench *bench, const struct bench_conn *conn, unsigned bits)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;

	while ((conn->bits & bits) != bits && clock_now_ns() < until_ns)
		bench_turn(bench, CLOCK_MS_NS);
	return (conn->bits & bits) == bits;
}

void bench_expect_closed(struct bench *bench, const struct bench_conn *conn, enum tp_reason reason)
{
	CU_ASSERT_TRUE(bench_until(bench, conn, TP_CLOSED));
	CU_ASSERT_EQUAL(conn->reason, reason);
}

size_t bench_read(struct bench *bench, struct bench_conn *conn, uint8_t *to, size_t bytes)
{
	struct span spans[2];
	unsigned count = tp_peek(bench->tp, conn->conn, spans, 2);
	struct span_reader reader = span_reader_of(spans, count);
	size_t step = reader.left < bytes ? reader.left : bytes;

	span_reader_copy(&reader, to, step);
	tp_consume(bench->tp, conn->conn, step);
	return step;
}

bool bench_write(struct bench *bench, struct bench_conn *conn, const void *from, size_t bytes)
{
	struct room rooms[2];
	unsigned count = tp_reserve(bench->tp, conn->conn, bytes, rooms);
	struct room_writer writer;

	if (count == 0)
		return false;
	writer = room_writer_of(rooms, count);
	room_writer_put(&writer, from, bytes);
	tp_commit(bench->tp, conn->conn, bytes);
	tp_flush(bench->tp, conn->conn);
	return true;
}

void bench_reset(int fd)
{
	struct linger at_once = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

void bench_fill(uint8_t *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(i * 131 + (i >> 8) * 17);
}

int bench_fd_of(int fd)
{
	struct sockaddr_in wanted, peer;
	socklen_t bytes = sizeof(wanted);

	if (getsockname(fd, (struct sockaddr *)&wanted, &bytes) < 0)
		return -1;
	for (int other = 0; other < FD_MAX; other++) {
		bytes = sizeof(peer);
		if (getpeername(other, (struct sockaddr *)&peer, &bytes) == 0 &&
		    peer.sin_family == AF_INET && peer.sin_port == wanted.sin_port)
			return other;
	}
	return -1;
}

unsigned bench_fds_open(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

uint64_t bench_detail(const struct bench *bench, const char *name)
{
	struct tp_detail details[32];
	unsigned count = BENCH_OPS.details(bench->tp, details, 32);

	for (unsigned i = 0; i < count; i++)
		if (strcmp(details[i].name, name) == 0)
			return details[i].value;
	CU_FAIL("no such detail");
	return 0;
}

struct tp_counters bench_counters(const struct bench *bench)
{
	struct tp_counters counters = {0};

	BENCH_OPS.counters(bench->tp, &counters);
	return counters;
}
