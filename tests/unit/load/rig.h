/*
 * rig: a client on the memory stack, and the server end in the test's hand.
 *
 * The server is played by the test, byte for byte, so that it can answer in every wrong way.
 * Nothing moves unless the test turns the client or polls the server.
 */
#ifndef WEIR_TESTS_LOAD_RIG_H
#define WEIR_TESTS_LOAD_RIG_H

#include "apps/load/client.h"
#include "stacks/memory/memory.h"

enum { RIG_CONNS = 8, RIG_REQUESTS = 256 };

/* The id of the first request of the first connection. */
#define RIG_FIRST_ID (3ull << 48)

/* The server's end of a connection. */
struct rig_end {
	struct tp_conn *conn;
	bool finished, closed;
	unsigned request_total; /* requests received */
	unsigned request_count;
	uint64_t requests[RIG_REQUESTS]; /* ids received and not yet answered */
};

struct rig {
	struct memory_net *net;
	struct tp *server_tp;
	struct tp *client_tp;
	struct talk talk;
	struct record *record;
	struct client *client;
	unsigned accepted;
	struct rig_end ends[RIG_CONNS];
};

struct rig_config {
	bool http; /* HTTP/1.1, else framed */
	enum talk_answer answer;
	enum client_refill refill;
	uint32_t connections;
	uint32_t depth;
	uint32_t request_bytes;
	uint32_t response_bytes;
	uint32_t memory_bytes; /* a connection's, each way; 0: the default */
};

/* Opens all, with a server that listens. Fails the running test if it cannot. */
void rig_open(struct rig *rig, const struct rig_config *config);
void rig_close(struct rig *rig);

/* Opens every connection. */
void rig_connect(struct rig *rig);

/* Takes the server's events in; reads no bytes. */
void rig_poll(struct rig *rig);

/*
 * Takes whole requests in: checks their form and their bodies, notes their ids. In HTTP, which has
 * none, they follow from the order on the connection.
 */
void rig_read(struct rig *rig);

/* Sends bytes as one write. */
void rig_send(struct rig *rig, struct rig_end *end, const uint8_t *bytes, size_t count);

/* Builds the right response to a request; its length. `to` has room for it. */
size_t rig_response(const struct rig *rig, uint64_t id, uint8_t *to);

/* Answers every request that was read, rightly, in one write a connection. */
void rig_answer(struct rig *rig);

/* Opens, connects, sends the first windows and lets the server read them. */
void rig_start(struct rig *rig, const struct rig_config *config);

/* Ends in good order: nothing outstanding, everything closed. Fails the running test if not. */
void rig_end_well(struct rig *rig);

/* The server answers with these bytes, and the client takes them. */
void rig_answer_with(struct rig *rig, const uint8_t *bytes, size_t count);

/* Exactly this kind was noted, with these words in its text; else the running test fails. */
void rig_expect_failure(const struct rig *rig, enum failure_kind kind, uint64_t count,
			const char *says);

#endif
