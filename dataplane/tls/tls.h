/*
 * tls: TLS 1.2 and 1.3 as a stage between a transport and whoever uses it.
 *
 * A TLS instance is itself a transport (struct tp): it wraps the instance of a stack and implements
 * the same contract over it, so that the pipeline, the load client and the conformance suite use it
 * as they use any other, and every stack has it. Without TLS nothing of it is in the way.
 *
 * OpenSSL does the handshake and the records over a BIO of our own: it reads from spans that the
 * lower transport lends and writes into spans that it reserves; it never sees a descriptor. A
 * connection's ACCEPTED or CONNECTED comes when its handshake is complete. peek lends decrypted
 * bytes, reserve lends plaintext memory; one commit+flush becomes one run of records and one flush
 * of the lower transport. Records are at most 16 KiB, so a longer run has several.
 *
 * What is encrypted leaves before anything is waited for, also after failure. finish sends
 * close_notify behind all that was committed, then the transport's end; a peer that ends its side
 * without close_notify has truncated the stream: CLOSED with TP_RESET, whatever came before.
 *
 * Memory: one plaintext ring each way a connection, taken at open; OpenSSL's own objects are made
 * when a connection begins and freed when it is closed (docs/decisions/tls-memory.md), their number
 * bounded by the connections and the handshakes by `handshakes_max`.
 *
 * Plane: tls_open is setup; the operations are those of the contract.
 */
#ifndef WEIR_TLS_TLS_H
#define WEIR_TLS_TLS_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

enum tls_version { TLS_1_2, TLS_1_3, TLS_VERSION_COUNT };

extern const char *const tls_version_names[]; /* "1.2", "1.3"; ended by NULL */

/* What one side is told; texts are lent until tls_open returns. NULL: the default. */
struct tls_config {
	bool server;		 /* the accepting side; else the connecting side */
	bool connects_plain;	 /* server: connections that connect() begins bypass TLS */
	const char *certificate; /* PEM file, the chain behind it; NULL on a server: self-signed */
	const char *key;	 /* PEM file; a key that others may read is refused */
	const char *authorities; /* client: PEM file to trust; NULL: the system's */
	const char *server_name; /* client: SNI and whose the certificate must be; NULL: insecure */
	bool insecure;		 /* client: take any certificate */
	enum tls_version version_min;
	enum tls_version version_max;
	const char *ciphers;	  /* of TLS 1.2, OpenSSL's cipher list */
	const char *ciphersuites; /* of TLS 1.3 */
	const char *groups;	  /* key exchange, e.g. "X25519:P-256" */
	const char *alpn;	 /* protocols, e.g. "http/1.1"; a server takes the first it knows */
	bool resumption;	 /* server: issue tickets; client: keep and offer sessions */
	uint32_t handshakes_max; /* at a time, a worker; 0: TLS_HANDSHAKES_MAX */
	uint64_t handshake_timeout_ns; /* 0: TLS_HANDSHAKE_NS */
	uint64_t shutdown_timeout_ns;  /* 0: TLS_SHUTDOWN_NS */
};

enum { TLS_HANDSHAKES_MAX = 256, TLS_RECORD_BYTES = 16 * 1024 };

/* Steps of handshakes after which a turn leaves the others to the next: a few ms at most. */
enum { TLS_TURN_STEPS = 32 };

#define TLS_HANDSHAKE_NS (10ull * 1000 * 1000 * 1000)
/* How long one may stand still before a newcomer takes its place, where all places are taken. */
#define TLS_HANDSHAKE_GRACE_NS (100ull * 1000 * 1000)
#define TLS_SHUTDOWN_NS (1ull * 1000 * 1000 * 1000)

/* X(name, meaning); they are part of the instance's details, with "tls_" before the name. */
#define TLS_COUNTERS(X)                                                               \
	X(handshakes, "handshakes completed")                                         \
	X(resumed, "of them, from an earlier session")                                \
	X(handshakes_failed, "connections that ended within the handshake")           \
	X(handshakes_late, "of them, at the handshake timeout")                       \
	X(handshakes_evicted, "of them, dropped for a newcomer")                      \
	X(handshakes_refused, "connections reset because too many were in handshake") \
	X(conns_refused, "connections reset for want of a slot or of memory")         \
	X(handshake_ns, "time spent in handshakes")                                   \
	X(records_out, "application records sent")                                    \
	X(record_bytes_out, "plaintext bytes in them")                                \
	X(runs_out, "runs of records: one a write of the policy")                     \
	X(records_in, "application records received")                                 \
	X(record_bytes_in, "plaintext bytes in them")                                 \
	X(alerts_in, "fatal alerts received")                                         \
	X(broken, "connections ended by a bad record or message")                     \
	X(truncated, "connections whose peer ended without close_notify")             \
	X(key_updates, "KeyUpdates received")

/*
 * Checks the configuration and makes an instance over `lower`, with rings of `limits`, which are
 * those that `lower` was opened with. 0: `lower` is moved into it, and its close closes both. Else
 * a negative errno with `error` naming file, reason and remedy, and `lower` is still the caller's.
 */
int tls_open(const struct tls_config *config, const struct tp_limits *limits, struct tp *lower,
	     struct tp **tp_out, struct tp_error *error);

/* Whether a configuration could be opened, without a transport. 0, or as tls_open. */
int tls_check(const struct tls_config *config, struct tp_error *error);

/* "OpenSSL 3.0.17 1 Jul 2025" as it runs; static. */
const char *tls_provider(void);

/* The negotiated version and cipher of a connection of a TLS instance, e.g. "TLSv1.3"; static. */
const char *tls_conn_version(const struct tp_conn *conn);
const char *tls_conn_cipher(const struct tp_conn *conn);

#endif
