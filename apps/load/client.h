/*
 * client: one worker's closed-loop request generator over one transport instance.
 *
 * Each of its connections keeps up to `depth` requests outstanding. All connections are opened
 * first; client_begin then fills every window. From there on a response makes room for a
 * request, sent at once (refill `each`: one write a request) or when the whole window has been
 * answered (refill `window`: one write a window). Requests are built in the transport's send
 * memory, responses are verified where they were received (verify.h), in whichever protocol
 * (dialect.h).
 *
 * Times, ns: a request is due when its predecessor in the same place of the window was
 * answered; it is sent when it is flushed; it is complete when the last byte of its response
 * has been verified. In a closed loop due and sent differ only where the window, or the stack's
 * send memory, holds a request back.
 *
 * Owned by its worker; all memory is taken at create. Legal order: create, { connect, turn }*
 * until all are connected, begin, { turn }*, hold, { turn }* until nothing is outstanding,
 * finish, { turn }* until client_idle, destroy, and only then close the transport. After a
 * failure only destroy is useful.
 *
 * Planes: create, connect and destroy are setup; the rest is turn.
 */
#ifndef WEIR_APPS_LOAD_CLIENT_H
#define WEIR_APPS_LOAD_CLIENT_H

#include "apps/load/failure.h"
#include "apps/load/record.h"
#include "apps/load/talk.h"
#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct client;

enum client_refill { CLIENT_REFILL_EACH, CLIENT_REFILL_WINDOW };

extern const char *const client_refill_names[]; /* by enum client_refill, ended by NULL */

struct client_config {
	struct tp_addr server;
	uint32_t connections;
	uint32_t depth;
	enum client_refill refill;
	uint16_t worker;	 /* the upper 16 bits of every id */
	const struct talk *talk; /* lent until destroy */
};

/* X(name, meaning) */
#define CLIENT_COUNTERS(X)                                   \
	X(connected, "connections that came about")          \
	X(closed, "connections that ended")                  \
	X(requests, "requests sent")                         \
	X(responses, "responses verified")                   \
	X(writes, "writes: flushes of one or more requests") \
	X(refusals, "times that send memory was short")

struct client_counters {
#define X(name, meaning) uint64_t name;
	CLIENT_COUNTERS(X)
#undef X
};

/*
 * Send memory that a connection needs: a power of two that holds a whole window of requests, heads
 * included. 0 if no stack could be asked for it.
 */
uint32_t client_send_bytes(uint32_t depth, uint32_t request_bytes);

/*
 * Makes a client over `tp` (lent until destroy) that records into `record` (lent until
 * client_swap). 0 or -ENOMEM.
 */
int client_create(const struct client_config *config, struct tp *tp, struct record *record,
		  struct client **client_out);

/* Frees it. NULL is fine. */
void client_destroy(struct client *client);

/* Opens more connections, a bounded number at a time; call it until client_connected. */
void client_connect(struct client *client);

/* Whether every connection has come about. */
bool client_connected(const struct client *client);

/* Notes every connection that has not come about as connect_timeout. */
void client_fail_connecting(struct client *client, uint64_t timeout_ns);

/* Notes every unanswered request as stalled. */
void client_fail_stalled(struct client *client, uint64_t timeout_ns);

/* Fills every window. */
void client_begin(struct client *client);

/* One turn; sleeps at most `wait_ns` when nothing is at hand and the stack can. */
void client_turn(struct client *client, uint64_t wait_ns);

/* Sends no further request. */
void client_hold(struct client *client);

/* Ends every connection. */
void client_finish(struct client *client);

/* Whether every connection has ended. */
bool client_idle(const struct client *client);

/* Requests sent and not answered. */
uint64_t client_outstanding(const struct client *client);

/* End of the last turn in which something was received; ns. */
uint64_t client_progress_ns(const struct client *client);

/* Ends the current record and goes on with `next`, which is reset; the ended one. */
struct record *client_swap(struct client *client, struct record *next);

const struct failures *client_failures(const struct client *client);

/* Whether anything failed. */
bool client_failed(const struct client *client);

const struct client_counters *client_counters(const struct client *client);

const struct busy *client_busy(const struct client *client);

#endif
