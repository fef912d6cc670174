/* What becomes of an upstream's connection whose client goes, over the kernel's sockets. */
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/spec.h"
#include "dataplane/pipeline/server.h"
#include "stacks/epoll/epoll.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNS = 16, TEXT_BYTES = 4096 };

/* Far below the upstream's default deadline, and far above what a busy host takes. */
#define PATIENCE_NS (10 * CLOCK_SECOND_NS)

static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

static struct tp *tp;
static struct server *server;
static struct tp_addr addr;
static int listener;

static struct sockaddr_in sockaddr_of(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(loopback_ip())};
}

/* An upstream that answers nothing but what the test writes; its port. */
static uint16_t listen_as_upstream(void)
{
	struct sockaddr_in here = sockaddr_of(loopback_port());

	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CU_ASSERT_EQUAL_FATAL(bind(listener, (struct sockaddr *)&here, sizeof(here)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(listener, CONNS), 0);
	return ntohs(here.sin_port);
}

/* A server before that upstream, to which it has so many connections. */
static void open_server(unsigned connections)
{
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_config open = {.limits = {.conn_max = CONNS,
					    .recv_bytes = LIMIT_RECV_BYTES,
					    .send_bytes = LIMIT_SEND_BYTES},
				 .device = "",
				 .cpu = -1,
				 .workers = 1,
				 .options = values};
	char spec[64];
	struct route route = {.path = "/", .prefix = true, .handler = spec};
	struct server_config config = {.codec = &codec_http1,
				       .routes = &route,
				       .route_count = 1,
				       .create_handler = spec_create,
				       .conn_max = CONNS};
	struct in_addr ip = {htonl(loopback_ip())};
	struct tp_error error;

	clock_start();
	snprintf(spec, sizeof(spec), "proxy:%s:%u;connections=%u", inet_ntoa(ip),
		 listen_as_upstream(), connections);
	addr = (struct tp_addr){.ip = loopback_ip(), .port = loopback_port()};
	CU_ASSERT_EQUAL_FATAL(tp_options_parse(&epoll_ops, "", values, &error), 0);
	CU_ASSERT_EQUAL_FATAL(epoll_ops.open(&open, &tp, &error), 0);
	CU_ASSERT_EQUAL_FATAL(epoll_ops.listen(tp, &addr, &error), 0);
	CU_ASSERT_EQUAL_FATAL(delivery_parse("coalesce", &config.delivery), 0);
	CU_ASSERT_EQUAL_FATAL(server_create(&config, tp, &server, &error), 0);
}

static const struct server_counters *counters(void)
{
	return server_counters(server);
}

static void turn(void)
{
	server_turn(server, CLOCK_MS_NS);
	server_check(server);
}

/* Turns until a descriptor has something to be read; whether it has. */
static bool await(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	uint64_t until_ns = clock_now_ns() + PATIENCE_NS;

	while (clock_now_ns() < until_ns) {
		turn();
		if (poll(&ready, 1, 0) > 0)
			return true;
	}
	return false;
}

/* Turns until all clients but so many are gone; whether they are. */
static bool await_clients(unsigned left)
{
	uint64_t until_ns = clock_now_ns() + PATIENCE_NS;

	while (counters()->connections - counters()->connections_closed > left &&
	       clock_now_ns() < until_ns)
		turn();
	return counters()->connections - counters()->connections_closed == left;
}

/* Turns for a while in which nothing is expected. */
static void idle(void)
{
	for (unsigned i = 0; i < 20; i++)
		turn();
}

static void put(int fd, const char *text)
{
	CU_ASSERT_EQUAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Whether `text` is in what comes within one read. */
static bool hears(int fd, const char *text)
{
	char heard[TEXT_BYTES];
	ssize_t bytes = await(fd) ? recv(fd, heard, sizeof(heard) - 1, MSG_DONTWAIT) : -1;

	heard[bytes > 0 ? bytes : 0] = '\0';
	return strstr(heard, text) != NULL;
}

/* Whether the peer ends it, in whatever way. */
static bool ends(int fd)
{
	char heard[TEXT_BYTES];

	return await(fd) && recv(fd, heard, sizeof(heard), MSG_DONTWAIT) <= 0;
}

static void reset(int fd)
{
	struct linger at_once = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

/* A client that has asked. */
static int ask(const char *text)
{
	struct sockaddr_in there = sockaddr_of(addr.port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&there, sizeof(there)), 0);
	put(fd, text);
	return fd;
}

/* The upstream's end of a new connection, the request on it read. */
static int take(void)
{
	int fd = await(listener) ? accept(listener, NULL, NULL) : -1;

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_TRUE(hears(fd, "HTTP/1.1\r\n"));
	return fd;
}

/* Everything is as it was before the first client: that many are served at once again. */
static void close_server(unsigned connections)
{
	int clients[CONNS], upstreams[CONNS];

	CU_ASSERT_TRUE(await_clients(0));
	CU_ASSERT_EQUAL(counters()->upstream_failures, 0);
	for (unsigned i = 0; i < connections; i++) {
		clients[i] = ask(request);
		upstreams[i] = take();
	}
	for (unsigned i = 0; i < connections; i++) {
		put(upstreams[i], answer);
		CU_ASSERT_TRUE(hears(clients[i], "\r\n\r\nok"));
		close(clients[i]);
	}
	CU_ASSERT_TRUE(await_clients(0));
	server_destroy(server);
	epoll_ops.close(tp);
	for (unsigned i = 0; i < connections; i++)
		close(upstreams[i]);
	close(listener);
}

static void a_reset_gives_the_upstream_up(void)
{
	int client, upstream;

	open_server(1);
	client = ask(request);
	upstream = take();
	reset(client);
	CU_ASSERT_TRUE(ends(upstream));
	close(upstream);
	close_server(1);
}

static void a_reset_behind_an_end_gives_the_upstream_up(void)
{
	int client, upstream;

	open_server(1);
	client = ask(request);
	upstream = take();
	shutdown(client, SHUT_WR);
	idle();
	reset(client);
	CU_ASSERT_TRUE(ends(upstream));
	close(upstream);
	close_server(1);
}

/* The body fills every memory on its way to an upstream that does not read. */
static void a_reset_behind_a_body_that_waits_gives_the_upstream_up(void)
{
	static char piece[64 * 1024];
	unsigned waits = 0;
	int client, upstream;

	open_server(1);
	client = ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n");
	upstream = take();
	while (waits < 50) {
		waits = send(client, piece, sizeof(piece), MSG_DONTWAIT) > 0 ? 0 : waits + 1;
		turn();
	}
	reset(client);
	CU_ASSERT_TRUE(await_clients(0));
	close(upstream);
	close_server(1);
}

/* It may still read (RFC 9112 section 9.6). */
static void who_has_ended_its_side_is_answered(void)
{
	int client, upstream;

	open_server(1);
	client = ask(request);
	upstream = take();
	shutdown(client, SHUT_WR);
	idle();
	put(upstream, answer);
	CU_ASSERT_TRUE(hears(client, "\r\n\r\nok"));
	CU_ASSERT_TRUE(ends(client));
	close(client);
	close(upstream);
	close_server(1);
}

/* To the server an end and a close look alike, until it writes. */
static void who_has_closed_is_found_out_by_the_answer(void)
{
	int client, upstream;

	open_server(1);
	client = ask(request);
	upstream = take();
	close(client);
	idle();
	CU_ASSERT_EQUAL(counters()->connections_closed, 0);
	put(upstream, answer);
	CU_ASSERT_TRUE(await_clients(0));
	close(upstream);
	close_server(1);
}

static void who_has_ended_its_side_blocks_nobody(void)
{
	int ended, client, slow, upstream;

	open_server(2);
	ended = ask(request);
	slow = take();
	shutdown(ended, SHUT_WR);
	client = ask(request);
	upstream = take();
	for (unsigned i = 0; i < 20; i++) {
		put(upstream, answer);
		CU_ASSERT_TRUE(hears(client, "\r\n\r\nok"));
		put(client, request);
		CU_ASSERT_TRUE(hears(upstream, "HTTP/1.1\r\n"));
	}
	reset(client);
	CU_ASSERT_TRUE(ends(upstream));
	put(slow, answer);
	CU_ASSERT_TRUE(hears(ended, "\r\n\r\nok"));
	close(ended);
	close(slow);
	close(upstream);
	close_server(2);
}

static const struct suite_test tests[] = {
	{"a client's reset gives its upstream up", a_reset_gives_the_upstream_up},
	{"a reset behind the client's end gives its upstream up",
	 a_reset_behind_an_end_gives_the_upstream_up},
	{"a reset behind a body that waits gives its upstream up",
	 a_reset_behind_a_body_that_waits_gives_the_upstream_up},
	{"who has ended its side is answered", who_has_ended_its_side_is_answered},
	{"who has closed is found out by the answer", who_has_closed_is_found_out_by_the_answer},
	{"who has ended its side blocks nobody", who_has_ended_its_side_blocks_nobody},
};

SUITE_MAIN("gone", tests)
