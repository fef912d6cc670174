/*
 * What connections see when the process at the other end of a memif dies, from both sides.
 *
 * Called as `link_test --peer server|client DEVICE` it is that process: a server that echoes, or a
 * client that opens PEER_CONNS connections and sends on each; both until they are killed.
 */
#include "dataplane/core/clock.h"
#include "stacks/dpdk/dpdk.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* What one instance has seen. */
struct tally {
	unsigned accepted, connected, closed, link_down, readable;
};

static struct tp *open_instance(bool server)
{
	static const uint8_t secret[16] = {0x11};
	struct tp_error error = {0};
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

	if (dpdk_ops.open(&config, &tp, &error) ||
	    (server && dpdk_ops.listen(tp, &server_addr, &error)))
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

/* One turn: everyone who has something to read answers it with 500 bytes. */
static void turn(struct tp *tp, struct tally *tally)
{
	struct tp_event events[EVENTS];
	struct tp_turn done;
	unsigned count = tp_poll(tp, events, EVENTS, 0, &done);

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
	struct tp *tp;

	clock_start();
	snprintf(device, sizeof(device), "%s", at);
	tp = open_instance(server);
	if (!tp || (!server && !connect_all(tp)))
		return 1;
	for (;;)
		turn(tp, &tally);
}

static pid_t start_peer(const char *role)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/proc/self/exe", "link_test", "--peer", role, device, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void end_peer(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
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
	CU_ASSERT_TRUE(turn_until(tp, tally, &tally->closed, PEER_CONNS));
	CU_ASSERT_EQUAL(tally->closed, PEER_CONNS);
	CU_ASSERT_EQUAL(tally->link_down, PEER_CONNS);
}

static void killed_clients_close_all(void)
{
	struct tp *tp = open_instance(true);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tp);
	for (unsigned round = 0; round < 3; round++) {
		pid_t pid = start_peer("client");
		struct tally tally = {0};

		CU_ASSERT_TRUE(turn_until(tp, &tally, &tally.accepted, PEER_CONNS));
		CU_ASSERT_TRUE(turn_until(tp, &tally, &tally.readable, 1000));
		CU_ASSERT_EQUAL(tally.accepted, PEER_CONNS);
		CU_ASSERT_EQUAL(tally.closed, 0);
		end_peer(pid);
		expect_all_link_down(tp, &tally);
	}
	dpdk_ops.close(tp);
}

static void killed_servers_close_all(void)
{
	pid_t pid = start_peer("server");
	struct tp *tp = open_instance(false);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tp);
	for (unsigned round = 0; round < 3; round++) {
		struct tally tally = {0};
		struct tp_error error = {0};
		struct tp_conn *conn;

		CU_ASSERT_TRUE(connect_all(tp));
		CU_ASSERT_TRUE(turn_until(tp, &tally, &tally.readable, 1000));
		CU_ASSERT_EQUAL(tally.connected, PEER_CONNS);
		end_peer(pid);
		expect_all_link_down(tp, &tally);
		CU_ASSERT_EQUAL(tp->ops->connect(tp, &server_addr, NULL, &conn, &error), -ENETDOWN);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "is down"));
		pid = start_peer("server");
	}
	CU_ASSERT_TRUE(connect_all(tp));
	dpdk_ops.close(tp);
	end_peer(pid);
}

static void second_clients_are_turned_away(void)
{
	struct tp *server = open_instance(true), *client = open_instance(false);
	struct tally tally = {0}, other = {0};
	uint64_t deadline_ns = clock_now_ns() + 5 * CLOCK_SECOND_NS;
	int status = 0;
	pid_t pid;

	CU_ASSERT_TRUE_FATAL(server && client);
	pid = start_peer("client");
	CU_ASSERT_TRUE(connect_all(client));
	/* the newcomer gives up by itself, and nobody here notices */
	while (waitpid(pid, &status, WNOHANG) == 0 && clock_now_ns() < deadline_ns) {
		turn(server, &tally);
		turn(client, &other);
	}
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	CU_ASSERT_EQUAL(tally.accepted, PEER_CONNS);
	CU_ASSERT_EQUAL(other.connected, PEER_CONNS);
	CU_ASSERT_EQUAL(tally.closed + other.closed, 0);
	dpdk_ops.close(client);
	dpdk_ops.close(server);
}

static const struct suite_test tests[] = {
	{"a killed client closes its connections as link down, and others may come",
	 killed_clients_close_all},
	{"a killed server closes its connections as link down, and may come back",
	 killed_servers_close_all},
	{"a second client is turned away without harm", second_clients_are_turned_away},
};

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--peer") == 0)
		return be_peer(argv[2], argv[3]);
	clock_start();
	snprintf(device, sizeof(device), "memif:/tmp/weir-link-test-%d.sock", (int)getpid());
	return suite_run("dpdk link", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
