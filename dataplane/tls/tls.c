#include "dataplane/tls/tls.h"

#include "dataplane/core/clock.h"
#include "dataplane/tls/instance.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

/* The most that a limit may say: four times as much is a position in a ring. */
enum { MEMORY_MAX = 1 << 29 };

const char *const tls_version_names[] = {"1.2", "1.3", NULL};

static struct tls *tls_of(struct tp *tp)
{
	return (struct tls *)tp;
}

/* --- connections' beginnings --- */

static int tls_listen(struct tp *tp, const struct tp_addr *addr, struct tp_error *error)
{
	struct tls *tls = tls_of(tp);

	if (!tls->server)
		return tp_fail(error, -EOPNOTSUPP, "tls: the connecting side does not listen");
	return tls->lower->ops->listen(tls->lower, addr, error);
}

static int tls_connect(struct tp *tp, const struct tp_addr *addr, void *user,
		       struct tp_conn **conn_out, struct tp_error *error)
{
	struct tls *tls = tls_of(tp);
	struct tls_conn *conn;
	int code;

	if (tls->server && !tls->connects_plain)
		return tp_fail(error, -EOPNOTSUPP, "tls: the accepting side does not connect");
	if (tls->conns.in_use == tls->conns.count)
		return tp_fail(error, -ENOBUFS, "tls: all %u connections are in use; allow more",
			       tls->limits.conn_max);
	conn = tls_conn_begin(tls, TLS_CONNECTING, tls->connects_plain);
	if (!conn)
		return tp_fail(error, -ENOMEM, "tls: OpenSSL has no memory for a connection");
	code = tls->lower->ops->connect(tls->lower, addr, conn, &conn->lower, error);
	if (code < 0) {
		tls_conn_destroy(conn);
		return code;
	}
	conn->known = true;
	conn->base.user = user;
	*conn_out = &conn->base;
	return 0;
}

/* --- accounts --- */

static void tls_counters_copy(const struct tp *tp, struct tp_counters *counters_out)
{
	const struct tls *tls = (const struct tls *)tp;

	tls->lower->ops->counters(tls->lower, counters_out);
}

static unsigned tls_details(const struct tp *tp, struct tp_detail *details_out, unsigned room)
{
	const struct tls *tls = (const struct tls *)tp;
	const struct tp_ops *lower = tls->lower->ops;
	unsigned below = lower->details ? lower->details(tls->lower, details_out, room) : 0;
	unsigned used = below < room ? below : room;
	const struct tp_detail details[] = {
#define X(name, meaning) {"tls_" #name, tls->counters.name, TP_DETAIL_COUNT},
		TLS_COUNTERS(X)
#undef X
	};

	return below + tp_details_copy(details, sizeof(details) / sizeof(details[0]),
				       details_out + used, room - used);
}

/* --- open and close --- */

static void give_back(struct tls *tls)
{
	SSL_SESSION_free(tls->session);
	SSL_CTX_free(tls->context);
	BIO_meth_free(tls->bio_method);
	slab_destroy(&tls->buffers);
	slab_destroy(&tls->conns);
	free(tls);
}

static void tls_close(struct tp *tp)
{
	struct tls *tls = tls_of(tp);
	struct tp *lower = tls->lower;

	for (uint32_t i = 0; i < tls->conns.fresh; i++) {
		struct tls_conn *conn = slab_at(&tls->conns, i);

		if (conn->state != TLS_FREE)
			tls_conn_destroy(conn);
	}
	give_back(tls);
	lower->ops->close(lower);
}

/*
 * Room for what is in order up to the limit, and behind that for all that the lower transport may
 * still hold when it closes, with the record that OpenSSL had begun.
 */
static size_t recv_capacity(const struct tp_limits *limits)
{
	size_t capacity = limits->recv_bytes;

	while (capacity < 2 * (size_t)limits->recv_bytes + TLS_RECORD_BYTES)
		capacity *= 2;
	return capacity;
}

/* Rings are powers of two; the one for receiving is up to four times its limit, or a record's. */
static bool is_ring(uint32_t bytes)
{
	return bytes > 0 && bytes <= MEMORY_MAX && (bytes & (bytes - 1)) == 0;
}

static int take_memory(struct tls *tls, const struct tp_limits *limits, struct tp_error *error)
{
	if (!is_ring(limits->recv_bytes) || !is_ring(limits->send_bytes))
		return tp_fail(error, -EINVAL,
			       "tls: %u bytes to receive and %u to send are no powers of two up to "
			       "%u",
			       limits->recv_bytes, limits->send_bytes, MEMORY_MAX);
	tls->limits = *limits;
	tls->recv_capacity = recv_capacity(limits);
	tls->bio_method = tls_bio_method_create();
	if (tls->bio_method &&
	    slab_create(&tls->conns, limits->conn_max, sizeof(struct tls_conn)) == 0 &&
	    slab_create(&tls->buffers, limits->conn_max, tls->recv_capacity + limits->send_bytes) ==
		    0)
		return 0;
	return tp_fail(error, -ENOMEM, "tls: no memory for %u connections", limits->conn_max);
}

static void take_bounds(struct tls *tls, const struct tls_config *config)
{
	tls->server = config->server;
	tls->connects_plain = config->server && config->connects_plain;
	tls->handshakes_max = config->handshakes_max ? config->handshakes_max : TLS_HANDSHAKES_MAX;
	tls->handshake_timeout_ns =
		config->handshake_timeout_ns ? config->handshake_timeout_ns : TLS_HANDSHAKE_NS;
	tls->shutdown_timeout_ns =
		config->shutdown_timeout_ns ? config->shutdown_timeout_ns : TLS_SHUTDOWN_NS;
}

/* RFC 6066, section 3: SNI names hosts, never addresses. tls_context_create judged its length. */
static void take_server_name(struct tls *tls, const struct tls_config *config)
{
	if (!config->server && config->server_name && !tls_is_address(config->server_name))
		strcpy(tls->server_name, config->server_name);
}

/* What it can do is what the lower transport can, but for files: their bytes must be sealed. */
static void take_ops(struct tls *tls, struct tp *lower)
{
	tls->ops = *lower->ops;
	tls->ops.probe = NULL;
	tls->ops.open = NULL;
	tls->ops.listen = tls_listen;
	tls->ops.connect = tls_connect;
	tls->ops.close = tls_close;
	tls->ops.poll = tls_poll;
	tls->ops.peek = tls_peek;
	tls->ops.consume = tls_consume;
	tls->ops.reserve = tls_reserve;
	tls->ops.commit = tls_commit;
	tls->ops.flush = tls_flush;
	tls->ops.send_file = NULL;
	tls->ops.capabilities &= ~(uint32_t)TP_SENDS_FILES;
	tls->ops.finish = tls_finish;
	tls->ops.abort = tls_abort;
	tls->ops.fault = tls_fault;
	tls->ops.counters = tls_counters_copy;
	tls->ops.details = tls_details;
	tls->base.ops = &tls->ops;
	tls->lower = lower;
}

int tls_open(const struct tls_config *config, const struct tp_limits *limits, struct tp *lower,
	     struct tp **tp_out, struct tp_error *error)
{
	struct tls *tls = calloc(1, sizeof(*tls));
	int code;

	if (!tls)
		return tp_fail(error, -ENOMEM, "tls: no memory for an instance");
	code = take_memory(tls, limits, error);
	if (code == 0)
		code = tls_context_create(config, &tls->context, error);
	if (code < 0) {
		give_back(tls);
		return code;
	}
	take_bounds(tls, config);
	take_server_name(tls, config);
	take_ops(tls, lower);
	list_init(&tls->shaking);
	list_init(&tls->pending);
	list_init(&tls->marked);
	list_init(&tls->runnable);
	list_init(&tls->dead);
	tls->now_ns = clock_now_ns();
	timer_wheel_init(&tls->timers, tls->now_ns);
	*tp_out = &tls->base;
	return 0;
}

int tls_check(const struct tls_config *config, struct tp_error *error)
{
	SSL_CTX *context;
	int code = tls_context_create(config, &context, error);

	if (code == 0)
		SSL_CTX_free(context);
	return code;
}

/* --- who does it --- */

const char *tls_provider(void)
{
	return OpenSSL_version(OPENSSL_VERSION);
}

const char *tls_conn_version(const struct tp_conn *handle)
{
	const struct tls_conn *conn = (const struct tls_conn *)handle;

	return conn->ssl ? SSL_get_version(conn->ssl) : "none";
}

const char *tls_conn_cipher(const struct tp_conn *handle)
{
	const struct tls_conn *conn = (const struct tls_conn *)handle;

	return conn->ssl ? SSL_get_cipher_name(conn->ssl) : "none";
}
