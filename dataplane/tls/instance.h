/*
 * instance: what a TLS instance and its connections consist of; for the files of this folder.
 *
 * A connection has two lives that end apart: that of its handle, which the user of the instance
 * holds, and that of the lower transport's connection, which may still have an alert to deliver
 * when the user was told of the end. Its slot is free when both are over.
 *
 * Plane: turn, except where a function says otherwise.
 */
#ifndef WEIR_TLS_INSTANCE_H
#define WEIR_TLS_INSTANCE_H

#include "dataplane/core/limits.h"
#include "dataplane/core/list.h"
#include "dataplane/core/ring.h"
#include "dataplane/core/slab.h"
#include "dataplane/core/timer.h"
#include "dataplane/tls/tls.h"
#include "dataplane/tls/tls_agreed.h"

#include <openssl/ssl.h>
#include <stdbool.h>

/* KeyUpdates taken from one connection; honest peers need one in terabytes. */
enum { TLS_KEY_UPDATES_MAX = 64 };

/* A host's name and its end; the DNS has none that is longer. */
enum { TLS_NAME_BYTES = 256 };

/* The most shutdown timeouts that a peer gets which goes on sending when ours has ended. */
enum { TLS_END_TIMEOUTS = 60 };

/* How long what was sent may take to be delivered when the peer does not answer our end. */
#define TLS_LINGER_NS (60ull * 1000 * 1000 * 1000)

enum tls_state {
	TLS_FREE,
	TLS_CONNECTING, /* the lower transport connects */
	TLS_HANDSHAKE,
	TLS_OPEN,
	TLS_ENDING,    /* our close_notify has left; the peer's end is awaited */
	TLS_LINGERING, /* its user was told of the end; what was sent is still on its way */
	TLS_CLOSED,    /* the lower transport's connection is gone */
	TLS_STATE_COUNT,
};

struct tls_counters {
#define X(name, meaning) uint64_t name;
	TLS_COUNTERS(X)
#undef X
};

struct tls {
	struct tp base;
	struct tp_ops ops; /* ours, with the lower transport's name, capabilities and options */
	struct tp *lower;
	struct tp_limits limits;
	SSL_CTX *context;
	BIO_METHOD *bio_method;
	SSL_SESSION *session; /* client: the last one that a server gave, to be offered; or NULL */
	bool server;
	bool connects_plain;
	uint32_t handshakes_max;
	uint32_t handshaking;
	uint32_t steps_left; /* of handshakes, in this turn */
	uint64_t handshake_timeout_ns;
	uint64_t shutdown_timeout_ns;
	uint64_t now_ns; /* of the last turn */
	struct slab conns;
	struct slab buffers; /* a TLS connection's rings */
	size_t recv_capacity;
	struct list shaking; /* connections in handshake, the longest without progress first */
	struct list pending; /* connections with events to report, oldest first */
	uint32_t pending_count;
	struct list marked; /* connections with something committed or a finish to send */
	/* Connections that may go on: there is room again, or it is their turn. */
	struct list runnable;
	struct list dead; /* CLOSED was reported; the handles die at the next poll */
	struct timer_wheel timers;
	struct tls_counters counters;
	struct tls_agreed agreed;
	char server_name[TLS_NAME_BYTES]; /* client: what SNI says; "" for none */
	/* The bytes that the connection at work may read, lent by the lower transport. */
	struct span input_spans[LIMIT_SPANS];
	struct span_reader input;
	bool starved; /* OpenSSL asked for more than that; else it only paused behind a message */
	struct tp_event lower_events[LIMIT_TURN_EVENTS];
	uint8_t gathered[TLS_RECORD_BYTES]; /* a record's bytes that wrap in their ring */
};

struct tls_conn {
	struct tp_conn base;
	struct tls *tls;
	struct tp_conn *lower; /* its user is this; NULL when it is gone */
	SSL *ssl;	       /* NULL: plain */
	enum tls_state state;
	struct ring recv;
	struct ring send;
	uint8_t *buffer;
	uint32_t lent_bytes;	  /* reserved, not committed */
	uint32_t unwritten_bytes; /* committed since the last write */
	uint32_t refused_bytes;	  /* what reserve could not lend; 0 if nothing is owed */
	uint32_t sealing_bytes;	  /* what the interrupted SSL_write was given; 0 if none was */
	uint32_t key_updates;
	uint16_t bits; /* events to report */
	uint16_t reason;
	struct tp_fault fault;
	bool known;	       /* the user has the handle, or will have it with the next event */
	bool over;	       /* CLOSED is among the bits or was reported, or never will be */
	bool released;	       /* the handle is dead */
	bool finish_wanted;    /* our side ends when `send` is empty */
	bool peer_ended;       /* close_notify was received */
	bool lower_finished;   /* the lower transport will bring no more than it holds */
	bool lower_closed;     /* what it holds can still be read, in this poll */
	bool paused;	       /* sealed bytes wait, for room in `recv` or for send memory */
	bool unflushed;	       /* written to the lower transport since its last flush */
	bool alerted;	       /* a fatal alert was received */
	uint64_t deadline_ns;  /* of the handshake or the end; TIMER_NEVER: none */
	uint64_t end_bound_ns; /* ENDING: the deadline is never moved behind it */
	uint64_t progress_ns;  /* HANDSHAKE: when it began or last reached another step */
	struct timer timer;
	struct list shaking;
	struct list pending; /* links of the instance's lists */
	struct list marked;
	struct list runnable;
	struct list dead;
};

/* --- tls_context.c; setup --- */

/* The SSL_CTX that a configuration asks for, owned. 0, or negative errno with `error` filled. */
int tls_context_create(const struct tls_config *config, SSL_CTX **context_out,
		       struct tp_error *error);

/* Whether a host's name is an address. */
bool tls_is_address(const char *name);

/* Why OpenSSL's last call failed; static. */
const char *tls_openssl_reason(void);

/* --- tls_certificate.c; setup --- */

/* Gives the context the files' certificate, chain and key. 0, or negative errno with `error`. */
int tls_certificate_load(SSL_CTX *context, const char *certificate, const char *key,
			 struct tp_error *error);

/* Gives the context the process's self-signed certificate, made at the first call. */
int tls_certificate_self_signed(SSL_CTX *context, struct tp_error *error);

/* --- tls_bio.c --- */

/* How OpenSSL reaches a connection's lower transport; owned. NULL without memory. Setup. */
BIO_METHOD *tls_bio_method_create(void);

/* A BIO over the connection, owned. NULL without memory. */
BIO *tls_bio_create(struct tls_conn *conn);

/* --- tls_conn.c --- */

/* The only one that writes a connection's state. */
void tls_conn_set_state(struct tls_conn *conn, enum tls_state state);

/* A connection in the state CONNECTING or HANDSHAKE, plain or not; NULL without room or memory. */
struct tls_conn *tls_conn_begin(struct tls *tls, enum tls_state state, bool plain);

/* Gives its slot back; the lower transport's connection is gone or closed with the instance. */
void tls_conn_destroy(struct tls_conn *conn);

/* Adds to what the connection's next event says. */
void tls_conn_report(struct tls_conn *conn, unsigned bits);

/* The lower transport has connected: the handshake's time runs from now on. */
void tls_conn_start(struct tls_conn *conn);

/*
 * Drops the handshake that has been longest without progress, if that is longer than the grace;
 * whether one was.
 */
bool tls_conn_evict(struct tls *tls);

/* A step of the handshake; whether another can go further. */
bool tls_conn_shake_hands(struct tls_conn *conn);

/* Gives the time that the peer has for its end anew, once ours has left, up to a bound. */
void tls_conn_extend_end(struct tls_conn *conn);

/* Flushes what was written to the lower transport. */
void tls_conn_flush_lower(struct tls_conn *conn);

/* OpenSSL gave up: ends ours at once, and the lower transport's behind the alert. */
void tls_conn_break_off(struct tls_conn *conn);

/* The peer ended the lower transport without a close_notify. */
void tls_conn_end_truncated(struct tls_conn *conn);

/* Before each call of OpenSSL: clears what another connection left in the thread's queue. */
void tls_forget_errors(void);

/* The lower transport's connection has closed, all that it held was read. */
void tls_conn_lower_gone(struct tls_conn *conn, enum tp_reason reason);

/* Resets the lower transport's connection and ends ours. */
void tls_conn_drop(struct tls_conn *conn, enum tp_reason reason);

/* Its deadline has passed; its slot may be free afterwards. */
void tls_conn_expire(struct tls_conn *conn);

/* Frees the slot if both lives are over. */
void tls_conn_settle(struct tls_conn *conn);

/* What OpenSSL tells of messages and alerts, for the counters. */
void tls_conn_on_message(int write, int version, int type, const void *bytes, size_t count,
			 SSL *ssl, void *unused);
void tls_conn_on_info(const SSL *ssl, int where, int value);

/* --- tls_agreed.c --- */

/* Counts what a connection's handshake came to. */
void tls_conn_count_agreed(struct tls_conn *conn);

/* --- tls_data.c --- */

/* Does what can be done: handshake, receiving, sending. */
void tls_conn_advance(struct tls_conn *conn);

/* Seals what is committed and hands it over in one flush; then our end, if it is wanted. */
void tls_conn_send(struct tls_conn *conn);

/* --- tls_poll.c --- */

unsigned tls_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
		  struct tp_turn *turn_out);

/* --- tls_ops.c --- */

/* What its user may do; the operations of the contract. */
unsigned tls_peek(struct tp *tp, struct tp_conn *conn, struct span *spans, unsigned room);
void tls_consume(struct tp *tp, struct tp_conn *conn, size_t bytes);
unsigned tls_reserve(struct tp *tp, struct tp_conn *conn, size_t bytes, struct room rooms[2]);
void tls_commit(struct tp *tp, struct tp_conn *conn, size_t bytes);
void tls_flush(struct tp *tp, struct tp_conn *conn);
void tls_finish(struct tp *tp, struct tp_conn *conn);
void tls_abort(struct tp *tp, struct tp_conn *conn);
struct tp_fault tls_fault(const struct tp *tp, const struct tp_conn *conn);

#endif
