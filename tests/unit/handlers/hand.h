/*
 * hand: a memory net of servers, and of ends that the test moves by hand.
 *
 * One instance connects as clients do, another may listen as an upstream does whose answers the
 * test writes itself; the servers are the real thing. Nothing moves unless the test turns the net,
 * and no time passes but what the test lets pass.
 */
#ifndef WEIR_TESTS_HAND_H
#define WEIR_TESTS_HAND_H

#include "dataplane/pipeline/server.h"
#include "stacks/memory/memory.h"

#include <stdbool.h>

enum { HAND_ENDS = 300, HAND_SERVERS = 4, HAND_PORT = 9000 };

/* A connection of the test's, and what came over it. */
struct hand_end {
	struct tp_conn *conn;
	bool holds; /* leaves what comes where it is */
	bool finished, closed;
	enum tp_reason reason;
	char *text; /* ended by NUL */
	size_t bytes;
};

struct hand {
	struct memory_net *net;
	struct tp *client_tp;
	struct tp *upstream_tp; /* listens on HAND_PORT, or NULL */
	struct hand_end clients[HAND_ENDS];
	struct hand_end upstreams[HAND_ENDS]; /* as they were accepted */
	unsigned client_count;
	unsigned upstream_count;
	struct tp *server_tps[HAND_SERVERS];
	struct server *servers[HAND_SERVERS];
	unsigned server_count;
	uint32_t conn_max; /* of each server made from now on */
};

void hand_open(struct hand *hand);
void hand_close(struct hand *hand);

/* A server of HTTP on a port, with one handler for all; its index. */
unsigned hand_serve(struct hand *hand, uint16_t port, const char *handler);

/* Ends one, and resets its connections. */
void hand_kill(struct hand *hand, unsigned server);

/* Listens on HAND_PORT. */
void hand_listen(struct hand *hand);

/* A new client's end to a port. */
struct hand_end *hand_connect(struct hand *hand, uint16_t port);

/* Sends text as a client or as an upstream, and turns. */
void hand_send(struct hand *hand, struct hand_end *end, const char *text);
void hand_send_bytes(struct hand *hand, struct hand_end *end, const void *bytes, size_t count);

/* The same without a turn: it is there in the next one, with all else that happens until then. */
void hand_put(struct hand *hand, struct hand_end *end, const char *text);

/* Ends our side, or resets; and turns. */
void hand_finish(struct hand *hand, struct hand_end *end);
void hand_reset(struct hand *hand, struct hand_end *end);

/* Ends our side and resets, so that one event tells of both and of what was put before. */
void hand_vanish(struct hand *hand, struct hand_end *end);

/* One turn of all. */
void hand_turn(struct hand *hand);

/* Lets so much time pass, and turns until what it makes due has happened. */
void hand_wait(struct hand *hand, uint64_t time_ns);

/* Turns until `bytes` have come, the end is over, or nothing will come any more. */
void hand_await(struct hand *hand, struct hand_end *end, size_t bytes);

/* Turns until what has come contains `text`; whether it does. */
bool hand_await_text(struct hand *hand, struct hand_end *end, const char *text);

/* Forgets what has come. */
void hand_forget(struct hand_end *end);

/* Sends a GET for the target, awaits the whole response (by its Content-Length); its status. */
unsigned hand_get(struct hand *hand, struct hand_end *end, const char *target, const char *fields);

/* Of the response that came: whether its head has the text, and its body. */
bool hand_has(const struct hand_end *end, const char *text);
const char *hand_body(const struct hand_end *end);

const struct server_counters *hand_counters(const struct hand *hand, unsigned server);

#endif
