/*
 * How a dpdk instance waits: in naps of a bounded length, past no timer, for another process.
 *
 * Called as `wait_test --peer DEVICE` it is that process: a server that says on its standard input,
 * a pipe's writing end, that it is there, and then echoes and sleeps between, until it is killed or
 * its parent has ended.
 */
#include "dataplane/core/clock.h"
#include "stacks/dpdk/dpdk.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	EVENTS = 16,
	EXCHANGES = 200,
	DETAILS = 192,
	SERVER_IP = 10 << 24 | 79 << 16 | 1,
	CLIENT_IP = 10 << 24 | 79 << 16 | 2,
	NOBODY_IP = 10 << 24 | 79 << 16 | 3,
	PORT = 7878,
};

/* Longer than anything here may take: a wait that only its bound ends fails a test. */
#define BOUND_NS (100 * CLOCK_SECOND_NS)
#define DEADLINE_NS (50 * CLOCK_SECOND_NS)

static const struct tp_addr server_addr = {.ip = SERVER_IP, .port = PORT};
static char memif[64];

/* `text` as behind a device: "nap=20us". */
static struct tp *open_instance(const char *device, bool server, const char *text)
{
	uint64_t options[TP_OPTIONS_MAX];
	static const uint8_t secret[16] = {0x22};
	struct tp_error error = {0};
	struct tp_config config = {
		.limits = {.conn_max = 16, .recv_bytes = 65536, .send_bytes = 65536},
		.device = device,
		.address.ip = server ? SERVER_IP : CLIENT_IP,
		.prefix_bits = 24,
		.server = server,
		.cpu = -1,
		.workers = 1,
		.secret = secret,
		.options = options,
	};
	struct tp *tp = NULL;

	if (tp_options_parse(&dpdk_ops, text, options, &error) ||
	    dpdk_ops.open(&config, &tp, &error) ||
	    (server && dpdk_ops.listen(tp, &server_addr, &error)))
		printf("# %s\n", error.text);
	return tp;
}

static uint64_t detail_of(const struct tp *tp, const char *name)
{
	struct tp_detail details[DETAILS];
	unsigned count = dpdk_ops.details(tp, details, DETAILS);

	CU_ASSERT_FATAL(count <= DETAILS);
	for (unsigned i = 0; i < count; i++)
		if (strcmp(details[i].name, name) == 0)
			return details[i].value;
	CU_FAIL("a detail is missing");
	return 0;
}

static struct tp_counters counters_of(const struct tp *tp)
{
	struct tp_counters counters = {0};

	dpdk_ops.counters(tp, &counters);
	return counters;
}

/* Polls both until neither has anything to do. */
static void settle(struct tp *one, struct tp *other)
{
	struct tp_event events[EVENTS];
	struct tp_turn turns[2];
	uint64_t quiet_ns = clock_now_ns();

	while (clock_now_ns() - quiet_ns < 20 * CLOCK_MS_NS) {
		tp_poll(one, events, EVENTS, 0, &turns[0]);
		tp_poll(other, events, EVENTS, 0, &turns[1]);
		if (turns[0].moved || turns[1].moved)
			quiet_ns = clock_now_ns();
	}
}

static void naps_are_bounded(void)
{
	static const uint64_t lengths_ns[] = {20 * 1000, 50 * 1000, 1000 * 1000};
	static const char *const options[] = {"nap=20us", "nap=50us", "nap=1ms"};
	const uint64_t wait_ns = 40 * CLOCK_MS_NS;

	for (unsigned i = 0; i < sizeof(lengths_ns) / sizeof(lengths_ns[0]); i++) {
		const char *option = options[i];
		struct tp *server = open_instance(memif, true, option);
		struct tp *client = open_instance(memif, false, option);
		struct tp_event events[EVENTS];
		struct tp_turn turn;
		uint64_t naps;

		CU_ASSERT_TRUE_FATAL(server && client);
		settle(server, client);
		naps = detail_of(server, "naps");
		CU_ASSERT_EQUAL(tp_poll(server, events, EVENTS, wait_ns, &turn), 0);
		naps = detail_of(server, "naps") - naps;
		CU_ASSERT_TRUE(naps > 1 && turn.waited_ns > wait_ns / 2);
		/* the look at the link cuts one short each millisecond */
		CU_ASSERT_TRUE(naps <= wait_ns / lengths_ns[i] + wait_ns / CLOCK_MS_NS + 2);
		CU_ASSERT_EQUAL(detail_of(server, "descriptor_sleeps"), 0);
		dpdk_ops.close(client);
		dpdk_ops.close(server);
	}
}

static void timers_end_a_wait(void)
{
	const struct tp_addr nobody = {.ip = NOBODY_IP, .port = PORT};
	struct tp *server = open_instance("ring", true, "");
	struct tp *client = open_instance("ring", false, "");
	uint64_t start_ns = clock_now_ns();
	struct tp_event event = {0};
	struct tp_error error;
	struct tp_conn *conn;
	struct tp_turn turn;

	CU_ASSERT_TRUE_FATAL(server && client);
	CU_ASSERT_EQUAL_FATAL(dpdk_ops.connect(client, &nobody, NULL, &conn, &error), 0);
	/* nothing arrives: each step is a timer's */
	while (!(event.bits & TP_CLOSED) && clock_now_ns() - start_ns < DEADLINE_NS)
		tp_poll(client, &event, 1, BOUND_NS, &turn);
	CU_ASSERT_EQUAL(event.bits, TP_CLOSED);
	CU_ASSERT_EQUAL(event.reason, TP_UNREACHABLE);
	CU_ASSERT_TRUE(counters_of(client).wait_ns > (clock_now_ns() - start_ns) / 2);
	dpdk_ops.close(client);
	dpdk_ops.close(server);
}

/* Reads what is there and sends as many bytes back; how many. */
static size_t echo(struct tp *tp, struct tp_conn *conn)
{
	struct span spans[2];
	struct room rooms[2];
	size_t bytes = span_reader_of(spans, tp_peek(tp, conn, spans, 2)).left;
	unsigned count = bytes ? tp_reserve(tp, conn, bytes, rooms) : 0;

	if (count == 0)
		return 0;
	for (unsigned i = 0; i < count; i++)
		memset(rooms[i].base, 'w', rooms[i].bytes);
	tp_consume(tp, conn, bytes);
	tp_commit(tp, conn, bytes);
	tp_flush(tp, conn);
	return bytes;
}

static int be_peer(const char *device)
{
	struct tp *tp = open_instance(device, true, "");
	struct tp_event event;
	struct tp_turn turn;

	if (!tp || write(STDIN_FILENO, "r", 1) != 1)
		return 1;
	for (;;)
		if (tp_poll(tp, &event, 1, BOUND_NS, &turn) && event.bits & TP_READABLE)
			echo(tp, event.conn);
}

/* The peer once it is there. It ends with this process, however that ends. */
static pid_t start_peer(void)
{
	pid_t parent = getpid();
	int ready[2];
	char byte;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
		    dup2(ready[1], STDIN_FILENO) < 0)
			_exit(127);
		execl("/proc/self/exe", "wait_test", "--peer", memif, (char *)NULL);
		_exit(127);
	}
	close(ready[1]);
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* Polls, sleeping, until the event comes; whether it did in time. */
static bool await(struct tp *tp, unsigned bits, struct tp_event *event)
{
	uint64_t start_ns = clock_now_ns();
	struct tp_turn turn;

	do
		if (tp_poll(tp, event, 1, BOUND_NS, &turn) && event->bits & bits)
			return true;
	while (clock_now_ns() - start_ns < DEADLINE_NS);
	return false;
}

static void exchange(struct tp *client, struct tp_conn *conn)
{
	struct tp_event event;
	struct room rooms[2];
	unsigned done = 0;

	if (tp_reserve(client, conn, 1, rooms) > 0) {
		*rooms[0].base = 'w';
		tp_commit(client, conn, 1);
		tp_flush(client, conn);
	}
	while (done < EXCHANGES && await(client, TP_READABLE, &event))
		done += (unsigned)echo(client, event.conn);
	CU_ASSERT_EQUAL(done, EXCHANGES);
}

static void sleepers_serve_each_other(void)
{
	pid_t pid = start_peer();
	struct tp *client = open_instance(memif, false, "");
	struct tp_error error = {0};
	struct tp_event event;
	struct tp_conn *conn;

	CU_ASSERT_PTR_NOT_NULL_FATAL(client);
	if (dpdk_ops.connect(client, &server_addr, NULL, &conn, &error))
		printf("# %s\n", error.text);
	else if (await(client, TP_CONNECTED, &event))
		exchange(client, conn);
	CU_ASSERT_TRUE(counters_of(client).wakeups > 0);
	CU_ASSERT_TRUE(counters_of(client).wakeups <= counters_of(client).waits);
	/* a peer that dies ends the wait, too */
	kill(pid, SIGKILL);
	CU_ASSERT_TRUE(await(client, TP_CLOSED, &event) && event.reason == TP_LINK_DOWN);
	waitpid(pid, NULL, 0);
	dpdk_ops.close(client);
}

static const struct suite_test tests[] = {
	{"an idle wait is made of naps of the length that was asked for", naps_are_bounded},
	{"a wait goes past no timer", timers_end_a_wait},
	{"two processes that sleep wake each other, and death wakes the one left",
	 sleepers_serve_each_other},
};

int main(int argc, char **argv)
{
	clock_start();
	if (argc == 3 && strcmp(argv[1], "--peer") == 0)
		return be_peer(argv[2]);
	snprintf(memif, sizeof(memif), "memif:/tmp/weir-wait-test-%d.sock", (int)getpid());
	return suite_run("dpdk wait", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
