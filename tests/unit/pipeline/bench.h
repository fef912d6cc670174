/*
 * bench: a served pipeline on the memory stack, and the client end in the test's hand.
 *
 * The client side is driven by hand: requests are put into its send memory byte for byte, answers
 * are read as bytes. Nothing moves unless the test turns the server or polls the client.
 */
#ifndef WEIR_TESTS_BENCH_H
#define WEIR_TESTS_BENCH_H

#include "dataplane/pipeline/server.h"
#include "dataplane/proto/frame.h"
#include "stacks/memory/memory.h"

#include <stdbool.h>

enum { BENCH_CONNS = 64 };

struct bench_end {
	struct tp_conn *conn;
	bool connected, finished, closed;
	enum tp_reason reason;
};

struct bench {
	struct memory_net *net;
	struct tp *server_tp;
	struct tp *client_tp;
	struct server *server;
	struct bench_end ends[BENCH_CONNS];
};

/* Opens both instances and a server over one of them. Fails the running test if it cannot. */
void bench_open(struct bench *bench, const struct server_config *config,
		const struct tp_limits *limits);
void bench_close(struct bench *bench);

/* A config with this delivery policy and handler for all; its route holds until the next call. */
struct server_config bench_config(const char *delivery, const char *handler,
				  uint32_t response_bytes);

/* Connects client end `index` and has the server accept it. */
struct bench_end *bench_connect(struct bench *bench, unsigned index);

/* One turn of the server, then one poll of the client. */
void bench_turn(struct bench *bench);

/* Sends bytes as one write. They must fit (assertion). */
void bench_send(struct bench *bench, struct bench_end *end, const uint8_t *bytes, size_t count);

/* Sends `count` requests with ids from `first_id` and bodies of `body_bytes` as one write. */
void bench_request(struct bench *bench, struct bench_end *end, uint64_t first_id, unsigned count,
		   uint32_t body_bytes);

/* Reads what is there, at most `room` bytes. */
size_t bench_read(struct bench *bench, struct bench_end *end, uint8_t *to, size_t room);

/* Whether the next bytes are a frame with this id, flags and body; consumes it. */
bool bench_expect(struct bench *bench, struct bench_end *end, uint64_t id, uint32_t flags,
		  const uint8_t *body, size_t body_bytes);

/* The server's transport counters. */
struct tp_counters bench_counters(const struct bench *bench);

#endif
