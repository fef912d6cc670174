/*
 * What connections see when the process at the other end of a memif dies, from both sides.
 *
 * Called as `link_test --peer server|client DEVICE` it is that process: a server that echoes, or a
 * client that opens PEER_CONNS connections and sends on each; both until they are killed. No peer
 * outlives its test: one left behind by a test that failed would hold the socket of the next.
 */
#include "dataplane/core/clock.h"
#include "stacks/dpdk/dpdk.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PEER_CONNS = 8,
	EVENTS = 64,
	SERVER_IP = 10 << 24 | 78 << 16 | 1,
	CLIENT_IP = 10 << 24 | 78 << 16 | 2,
	PORT = 7878,
};

#define DEADLINE_NS (20 * CLOCK_SECOND_NS)

static const struct tp_addr server_addr = {.ip = SERVER_IP, .port = PORT};
static char device[64];
static pid_t peer_pid; /* 0: none runs */

/* What one instance has seen. */
struct tally {
	unsigned accepted, connected, closed, link_down, readable;
};

static struct tp *open_instance(bool server, struct tp_error *error)
{
	static const uint8_t secret[16] = {0x11};
	struct tp_config config = {
		.limits = {.conn_max = 64, .recv_bytes = 65536, .send_bytes = 65536},
		.device = device,
		.address.ip = server ? SERVER_IP : CLIENT_IP,
		.prefix_bits = 24,
		.server = server,
		.cpu = -1,
		.workers = 1,
		.secret = secret,
	};
	struct tp *tp = NULL;

	if (dpdk_ops.open(&config, &tp, error) == 0 && server &&
	    dpdk_ops.listen(tp, &server_addr, error)) {
		dpdk_ops.close(tp);
		return NULL;
	}
	return tp;
}

/* The same; a server may take long to start, so a client tries again until the deadline. */
static struct tp *open_patiently(bool server)
{
	uint64_t deadline_ns = clock_now_ns() + DEADLINE_NS;
	struct tp_error error = {0};
	struct tp *tp;

	while (!(tp = open_instance(server, &error)) && !server && clock_now_ns() < deadline_ns)
		;
	if (!tp)
		printf("# %s\n", error.text);
	return tp;
}

/* Sends up to 500 bytes if there is room. */
static void send_some(struct tp *tp, struct tp_conn *conn)
{
	struct room rooms[2];
	unsigned count = tp_reserve(tp, conn, 500, rooms);

	for (unsigned i = 0; i < count; i++)
		memset(rooms[i].base, 'w', rooms[i].bytes);
	if (count == 0)
		return;
	tp_commit(tp, conn, 500);
	tp_flush(tp, conn);
}

static void answer(struct tp *tp, struct tp_conn *conn)
{
	struct span spans[2];
	unsigned count = tp_peek(tp, conn, spans, 2);
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += spans[i].bytes;
	tp_consume(tp, conn, bytes);
	send_some(tp, conn);
}

/* One turn, without haste, for the other process needs the CPU: everyone who has something to read
 * answers it with 500 bytes. */
static void turn(struct tp *tp, struct tally *tally)
{
	struct tp_event events[EVENTS];
	struct tp_turn done;
	unsigned count = tp_poll(tp, events, EVENTS, CLOCK_MS_NS, &done);

	for (unsigned i = 0; i < count; i++) {
		tally->accepted += !!(events[i].bits & TP_ACCEPTED);
		tally->connected += !!(events[i].bits & TP_CONNECTED);
		tally->readable += !!(events[i].bits & TP_READABLE);
		if (events[i].bits & TP_CLOSED) {
			tally->closed++;
			tally->link_down += events[i].reason == TP_LINK_DOWN;
		} else if (events[i].bits & TP_CONNECTED) {
			send_some(tp, events[i].conn);
		} else if (events[i].bits & TP_READABLE) {
			answer(tp, events[i].conn);
		}
	}
}

/* Opens PEER_CONNS connections; a server may take a while to start, so -ENETDOWN is tried again. */
static bool connect_all(struct tp *tp)
{
	uint64_t deadline_ns = clock_now_ns() + DEADLINE_NS;
	unsigned count = 0;

	while (count < PEER_CONNS) {
		struct tp_error error = {0};
		struct tp_conn *conn;
		int failure = tp->ops->connect(tp, &server_addr, NULL, &conn, &error);

		if (failure && (failure != -ENETDOWN || clock_now_ns() > deadline_ns)) {
			printf("# %s\n", error.text);
			return false;
		}
		count += failure == 0;
	}
	return true;
}

static int be_peer(const char *role, const char *at)
{
	bool server = strcmp(role, "server") == 0;
	struct tally tally = {0};
	struct tp_error error = {0};
	struct tp *tp;

	clock_start();
	snprintf(device, sizeof(device), "%s", at);
	tp = open_instance(server, &error);
	if (!tp)
		printf("# %s\n", error.text);
	if (!tp || (!server && !connect_all(tp)))
		return 1;
	for (;;)
		turn(tp, &tally);
}

static void end_peer(void)
{
	if (peer_pid == 0)
		return;
	kill(peer_pid, SIGKILL);
	waitpid(peer_pid, NULL, 0);
	peer_pid = 0;
}

/* It inherits none of the driver's sockets, which are no more closed by exec than its memory's. */
static void start_peer(const char *role)
{
	end_peer();
	peer_pid = fork();
	if (peer_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(3, ~0u, 0);
		execl("/proc/self/exe", "link_test", "--peer", role, device, (char *)NULL);
		_exit(127);
	}
}

/* Turns until `counted` reaches `wanted`; whether it did in time. */
static bool turn_until(struct tp *tp, struct tally *tally, const unsigned *counted, unsigned wanted)
{
	uint64_t deadline_ns = clock_now_ns() + DEADLINE_NS;

	while (*counted < wanted && clock_now_ns() < deadline_ns)
		turn(tp, tally);
	return *counted >= wanted;
}

static void expect_all_link_down(struct tp *tp, struct tally *tally)
{
	CU_ASSERT_TRUE_FATAL(turn_until(tp, tally, &tally->closed, PEER_CONNS));
	CU_ASSERT_EQUAL(tally->closed, PEER_CONNS);
	CU_ASSERT_EQUAL(tally->link_down, PEER_CONNS);
}

static void killed_clients_close_all(void)
{
	struct tp *tp = open_patiently(true);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tp);
	for (unsigned round = 0; round < 3; round++) {
		struct tally tally = {0};

		start_peer("client");
		CU_ASSERT_TRUE_FATAL(turn_until(tp, &tally, &tally.accepted, PEER_CONNS));
		CU_ASSERT_TRUE_FATAL(turn_until(tp, &tally, &tally.readable, 1000));
		CU_ASSERT_EQUAL(tally.accepted, PEER_CONNS);
		CU_ASSERT_EQUAL(tally.closed, 0);
		end_peer();
		expect_all_link_down(tp, &tally);
	}
	dpdk_ops.close(tp);
}

static void killed_servers_close_all(void)
{
	struct tp *tp;

	start_peer("server");
	tp = open_patiently(false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tp);
	for (unsigned round = 0; round < 3; round++) {
		struct tally tally = {0};
		struct tp_error error = {0};
		struct tp_conn *conn;

		CU_ASSERT_TRUE_FATAL(connect_all(tp));
		CU_ASSERT_TRUE_FATAL(turn_until(tp, &tally, &tally.readable, 1000));
		CU_ASSERT_EQUAL(tally.connected, PEER_CONNS);
		end_peer();
		expect_all_link_down(tp, &tally);
		CU_ASSERT_EQUAL(tp->ops->connect(tp, &server_addr, NULL, &conn, &error), -ENETDOWN);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "is down"));
		start_peer("server");
	}
	CU_ASSERT_TRUE(connect_all(tp));
	dpdk_ops.close(tp);
	end_peer();
}

static void second_clients_are_turned_away(void)
{
	struct tp *server = open_patiently(true), *client = open_patiently(false);
	struct tally tally = {0}, other = {0};
	uint64_t deadline_ns = clock_now_ns() + DEADLINE_NS;
	int status = 0;
	bool gone;

	CU_ASSERT_TRUE_FATAL(server && client);
	start_peer("client");
	CU_ASSERT_TRUE(connect_all(client));
	/* the newcomer gives up by itself, and nobody here notices */
	while (!(gone = waitpid(peer_pid, &status, WNOHANG) != 0) && clock_now_ns() < deadline_ns) {
		turn(server, &tally);
		turn(client, &other);
	}
	peer_pid = gone ? 0 : peer_pid;
	CU_ASSERT_TRUE(gone && WIFEXITED(status) && WEXITSTATUS(status) == 1);
	CU_ASSERT_EQUAL(tally.accepted, PEER_CONNS);
	CU_ASSERT_EQUAL(other.connected, PEER_CONNS);
	CU_ASSERT_EQUAL(tally.closed + other.closed, 0);
	dpdk_ops.close(client);
	dpdk_ops.close(server);
}

/* A memif server of the poorest kind, which hangs up on the first who comes. */
static bool turn_one_away(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), fd = -1;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (bind(door, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(door, 1) == 0) {
		start_peer("client");
		fd = accept(door, NULL, NULL);
	}
	if (fd >= 0)
		close(fd);
	close(door);
	unlink(path);
	return fd >= 0;
}

/* As one is that finds DPDK's server listening, but not started yet. */
static void client_comes_again(void)
{
	struct tally tally = {0};
	struct tp *tp;

	CU_ASSERT_TRUE_FATAL(turn_one_away(strchr(device, ':') + 1));
	tp = open_patiently(true);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tp);
	CU_ASSERT_TRUE(turn_until(tp, &tally, &tally.accepted, PEER_CONNS));
	end_peer();
	dpdk_ops.close(tp);
}

static const struct suite_test tests[] = {
	{"a killed client closes its connections as link down, and others may come",
	 killed_clients_close_all},
	{"a killed server closes its connections as link down, and may come back",
	 killed_servers_close_all},
	{"a second client is turned away without harm", second_clients_are_turned_away},
	{"a client that was turned away comes again", client_comes_again},
};

int main(int argc, char **argv)
{
	int status;

	if (argc == 4 && strcmp(argv[1], "--peer") == 0)
		return be_peer(argv[2], argv[3]);
	clock_start();
	snprintf(device, sizeof(device), "memif:/tmp/weir-link-test-%d.sock", (int)getpid());
	status = suite_run("dpdk link", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	end_peer();
	return status;
}
