/*
 * Ports over real drivers: memif within a process and between two, and the ring pair.
 *
 * Called as `port_test --peer PATH` it is the memif client of another process, which sends until it
 * is killed.
 */
#include "dataplane/core/bytes.h"
#include "dataplane/core/clock.h"
#include "stacks/dpdk/eal.h"
#include "stacks/dpdk/port.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_NS (10 * CLOCK_SECOND_NS)
#define NAP_NS (50ull * 1000)

static char socket_path[64];
static struct port server, client;

static bool open_port(struct port *port, const char *text, bool is_server)
{
	struct tp_error error = {0};
	struct device device;
	int failure = device_parse(text, is_server, &device, &error);

	if (!failure)
		failure = eal_start(false, -1, &error);
	if (!failure)
		failure = port_open(port, &device, NAP_NS, &error);
	if (failure)
		printf("# %s: %s\n", text, error.text);
	CU_ASSERT_EQUAL(failure, 0);
	return failure == 0;
}

/* The server first, then the client, then turns until both links are up. */
static bool open_pair(const char *text)
{
	uint64_t deadline_ns = clock_now_ns() + DEADLINE_NS;

	if (!open_port(&server, text, true))
		return false;
	if (!open_port(&client, text, false)) {
		port_close(&server);
		return false;
	}
	while (!link_usable(&server.link) || !link_usable(&client.link)) {
		port_turn(&server, clock_now_ns());
		port_turn(&client, clock_now_ns());
		if (clock_now_ns() > deadline_ns)
			break;
	}
	CU_ASSERT_TRUE(link_usable(&server.link) && link_usable(&client.link));
	return true;
}

static void close_pair(void)
{
	port_close(&client);
	port_close(&server);
}

/* Puts `count` frames that carry the numbers from `first`; how many were put. */
static unsigned put_numbers(struct port *port, uint32_t first, unsigned count, size_t bytes)
{
	unsigned done = 0;

	while (done < count) {
		uint8_t *frame = port_frame(port);

		if (!frame)
			break;
		memset(frame, (int)(first + done), bytes);
		bytes_put_be32(frame, first + done);
		port_put(port, bytes);
		done++;
	}
	return done;
}

/* Receives one burst and checks that the numbers go on from `next`; the number after. */
static uint32_t take_numbers(struct port *port, uint32_t next, size_t bytes)
{
	struct rte_mbuf *frames[PORT_BURST];
	unsigned count = link_usable(&port->link) ? port_receive(port, frames) : 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = port_linear(port, frames[i]);

		CU_ASSERT_EQUAL(frames[i]->pkt_len, bytes);
		CU_ASSERT_EQUAL(bytes_get_be32(frame), next);
		CU_ASSERT_EQUAL(frame[bytes - 1], (uint8_t)next);
		next++;
	}
	port_done(port, frames, count);
	return next;
}

/* Moves `total` frames of `bytes` from one port to the other. */
static void move(struct port *from, struct port *to, uint32_t total, size_t bytes)
{
	uint64_t deadline_ns = clock_now_ns() + DEADLINE_NS;
	uint32_t sent = 0, next = 0;

	while (next < total && clock_now_ns() < deadline_ns) {
		uint64_t now_ns = clock_now_ns();

		port_turn(from, now_ns);
		port_turn(to, now_ns);
		sent += put_numbers(from, sent, total - sent < 50 ? total - sent : 50, bytes);
		port_send(from);
		next = take_numbers(to, next, bytes);
	}
	CU_ASSERT_EQUAL(next, total);
}

static void move_both_ways(const char *text)
{
	static const size_t sizes[] = {60, 1514, 9014};

	if (!open_pair(text))
		return;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		move(&client, &server, 5000, sizes[i]);
		move(&server, &client, 5000, sizes[i]);
	}
	CU_ASSERT_EQUAL(server.counters.frames_in, 15000);
	CU_ASSERT_EQUAL(server.counters.frames_out, 15000);
	close_pair();
}

static void memif_moves_frames(void)
{
	move_both_ways(socket_path);
	CU_ASSERT_EQUAL(access(socket_path + strlen("memif:"), F_OK), -1);
}

static void ring_moves_frames(void)
{
	move_both_ways("ring");
}

static void pairs_open_again(void)
{
	for (unsigned i = 0; i < 5; i++)
		move_both_ways(i % 2 ? "ring" : socket_path);
}

/* Turns a port until its link has the state. */
static bool await_state(struct port *port, enum link_state state)
{
	uint64_t deadline_ns = clock_now_ns() + DEADLINE_NS;

	while (port->link.state != state && clock_now_ns() < deadline_ns)
		port_turn(port, clock_now_ns());
	return port->link.state == state;
}

static void link_follows_the_peer(const char *text)
{
	if (!open_pair(text))
		return;
	for (unsigned i = 0; i < 3; i++) {
		port_close(&client);
		CU_ASSERT_TRUE(await_state(&server, LINK_DOWN));
		if (!open_port(&client, text, false))
			break;
		CU_ASSERT_TRUE(await_state(&server, LINK_UP));
		CU_ASSERT_TRUE(await_state(&client, LINK_UP));
		move(&client, &server, 100, 60);
	}
	close_pair();
}

static void memif_link_follows(void)
{
	link_follows_the_peer(socket_path);
}

static void ring_link_follows(void)
{
	link_follows_the_peer("ring");
}

static void client_finds_a_restarted_server(void)
{
	if (!open_pair(socket_path))
		return;
	port_close(&server);
	CU_ASSERT_TRUE(await_state(&client, LINK_DOWN));
	CU_ASSERT_FALSE(port_restart(&client, CLOCK_MS_NS));
	if (!open_port(&server, socket_path, true)) {
		port_close(&client);
		return;
	}
	CU_ASSERT_TRUE(port_restart(&client, CLOCK_SECOND_NS));
	CU_ASSERT_TRUE(await_state(&server, LINK_UP));
	CU_ASSERT_TRUE(await_state(&client, LINK_UP));
	move(&client, &server, 100, 60);
	close_pair();
}

static void full_device_keeps_the_order(void)
{
	uint32_t put = 0, next = 0;
	unsigned step;

	if (!open_pair("ring"))
		return;
	while ((step = put_numbers(&client, put, 10, 60)) > 0) {
		put += step;
		port_send(&client);
	}
	/* the ring holds one less than its size, and PORT_WAITING_MAX wait behind it */
	CU_ASSERT_EQUAL(put, 1023 + PORT_WAITING_MAX);
	CU_ASSERT_EQUAL(client.counters.frames_out, 1023);
	CU_ASSERT_TRUE(client.counters.tx_full > 0);
	while (next < put) {
		uint32_t before = next;

		next = take_numbers(&server, next, 60);
		port_send(&client);
		if (next == before)
			break;
	}
	CU_ASSERT_EQUAL(next, put);
	move(&client, &server, 100, 60);
	close_pair();
}

static void empty_pool_recovers(void)
{
	static struct rte_mbuf *taken[8192];
	unsigned count = 0;

	if (!open_pair("ring"))
		return;
	CU_ASSERT_EQUAL(put_numbers(&client, 0, 1, 60), 1);
	port_send(&client);
	CU_ASSERT_EQUAL(take_numbers(&server, 0, 60), 1);
	while (count < 8192 && (taken[count] = rte_pktmbuf_alloc(client.spare[0]->pool)))
		count++;
	/* what is in the stash can still go, then nothing */
	CU_ASSERT_EQUAL(put_numbers(&client, 1, 64, 60), PORT_BURST - 1);
	CU_ASSERT_EQUAL(client.counters.mbufs_short, 1);
	rte_pktmbuf_free_bulk(taken, count);
	for (uint32_t next = 1; next < PORT_BURST;) {
		port_send(&client);
		next = take_numbers(&server, next, 60);
	}
	move(&client, &server, 100, 60);
	close_pair();
}

static void chained_frames_become_whole(void)
{
	struct rte_mbuf *first, *second;
	const uint8_t *bytes;

	if (!open_pair("ring"))
		return;
	CU_ASSERT_PTR_NOT_NULL(port_frame(&client));
	first = rte_pktmbuf_alloc(client.spare[0]->pool);
	second = rte_pktmbuf_alloc(client.spare[0]->pool);
	memset(rte_pktmbuf_append(first, 6000), 1, 6000);
	memset(rte_pktmbuf_append(second, 3000), 2, 3000);
	rte_pktmbuf_chain(first, second);
	bytes = port_linear(&client, first);
	CU_ASSERT_PTR_NOT_NULL(bytes);
	CU_ASSERT_TRUE(bytes && bytes[5999] == 1 && bytes[6000] == 2 && bytes[8999] == 2);
	rte_pktmbuf_append(second, 3000);
	first->pkt_len = 12000;
	CU_ASSERT_PTR_NULL(port_linear(&client, first));
	CU_ASSERT_EQUAL(client.counters.chained_in, 2);
	CU_ASSERT_EQUAL(client.counters.oversized_in, 1);
	rte_pktmbuf_free(first);
	close_pair();
}

/* --- two processes --- */

/* The other process: sends frames until it is killed. */
static int be_peer(const char *text)
{
	struct tp_error error;
	struct device device;

	clock_start();
	if (device_parse(text, false, &device, &error) || eal_start(false, -1, &error) ||
	    port_open(&client, &device, NAP_NS, &error)) {
		printf("# peer: %s\n", error.text);
		return 1;
	}
	for (;;) {
		struct rte_mbuf *frames[PORT_BURST];

		port_turn(&client, clock_now_ns());
		if (!link_usable(&client.link))
			continue;
		put_numbers(&client, 0, PORT_BURST, 1514);
		port_send(&client);
		port_done(&client, frames, port_receive(&client, frames));
	}
}

static pid_t start_peer(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/proc/self/exe", "port_test", "--peer", socket_path, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/*
 * Answers each frame with one, as fast as they come, until `frames` were received or the link went
 * down.
 */
static uint64_t echo(struct port *port, uint64_t frames_wanted)
{
	uint64_t deadline_ns = clock_now_ns() + DEADLINE_NS, total = 0;

	while (total < frames_wanted && port->link.state != LINK_DOWN &&
	       clock_now_ns() < deadline_ns) {
		struct rte_mbuf *frames[PORT_BURST];
		unsigned count;

		port_turn(port, clock_now_ns());
		if (!link_usable(&port->link))
			continue;
		count = port_receive(port, frames);
		port_done(port, frames, count);
		put_numbers(port, 0, count ? count : 1, 1514);
		port_send(port);
		total += count;
	}
	return total;
}

static void killed_peers_do_no_harm(void)
{
	if (!open_port(&server, socket_path, true))
		return;
	for (unsigned i = 0; i < 8; i++) {
		pid_t pid = start_peer();

		CU_ASSERT_TRUE(await_state(&server, LINK_UP));
		CU_ASSERT_EQUAL(echo(&server, 1000) >= 1000, true);
		kill(pid, SIGKILL);
		echo(&server, UINT64_MAX);
		CU_ASSERT_EQUAL(server.link.state, LINK_DOWN);
		port_give_up(&server);
		waitpid(pid, NULL, 0);
	}
	port_close(&server);
}

static const struct suite_test tests[] = {
	{"memif moves frames both ways within a process", memif_moves_frames},
	{"the ring pair moves frames both ways", ring_moves_frames},
	{"pairs can be closed and opened again", pairs_open_again},
	{"a memif link goes down and up with its peer", memif_link_follows},
	{"a ring link goes down and up with its peer", ring_link_follows},
	{"a memif client finds its server after a restart", client_finds_a_restarted_server},
	{"a full device loses nothing and keeps the order", full_device_keeps_the_order},
	{"an empty mbuf pool is counted and recovers", empty_pool_recovers},
	{"chained frames are made whole, oversized ones dropped", chained_frames_become_whole},
	{"peers killed amid traffic take only the link down", killed_peers_do_no_harm},
};

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--peer") == 0)
		return be_peer(argv[2]);
	clock_start();
	snprintf(socket_path, sizeof(socket_path), "memif:/tmp/weir-port-test-%d.sock",
		 (int)getpid());
	return suite_run("dpdk port", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
