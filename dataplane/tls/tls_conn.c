#include "dataplane/tls/instance.h"

#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"

#include <openssl/err.h>

#define TO(state) (1u << (state))

void tls_conn_set_state(struct tls_conn *conn, enum tls_state state)
{
	static const uint8_t legal[TLS_STATE_COUNT] = {
		[TLS_FREE] = TO(TLS_CONNECTING) | TO(TLS_HANDSHAKE),
		[TLS_CONNECTING] = TO(TLS_HANDSHAKE) | TO(TLS_CLOSED),
		[TLS_HANDSHAKE] = TO(TLS_OPEN) | TO(TLS_LINGERING) | TO(TLS_CLOSED),
		[TLS_OPEN] = TO(TLS_ENDING) | TO(TLS_LINGERING) | TO(TLS_CLOSED),
		[TLS_ENDING] = TO(TLS_LINGERING) | TO(TLS_CLOSED),
		[TLS_LINGERING] = TO(TLS_CLOSED),
		[TLS_CLOSED] = TO(TLS_FREE),
	};

	ASSERT(legal[conn->state] >> state & 1);
	list_remove(&conn->shaking);
	conn->tls->handshaking += (state == TLS_HANDSHAKE) - (conn->state == TLS_HANDSHAKE);
	conn->state = state;
}

/* --- life of a slot --- */

static void take_rings(struct tls_conn *conn)
{
	struct tls *tls = conn->tls;

	conn->buffer = slab_acquire(&tls->buffers);
	CHECK(conn->buffer); /* one for each connection */
	ring_init(&conn->recv, conn->buffer, (uint32_t)tls->recv_capacity);
	ring_init(&conn->send, conn->buffer + tls->recv_capacity, tls->limits.send_bytes);
}

/* OpenSSL's side of it; false without memory. */
static bool take_ssl(struct tls_conn *conn)
{
	struct tls *tls = conn->tls;
	BIO *bio = tls_bio_create(conn);

	conn->ssl = SSL_new(tls->context);
	if (!bio || !conn->ssl) {
		BIO_free(bio);
		SSL_free(conn->ssl);
		return false;
	}
	SSL_set_bio(conn->ssl, bio, bio);
	if (tls->server_name[0] && !SSL_set_tlsext_host_name(conn->ssl, tls->server_name)) {
		SSL_free(conn->ssl);
		return false;
	}
	SSL_set_app_data(conn->ssl, conn);
	if (tls->server)
		SSL_set_accept_state(conn->ssl);
	else
		SSL_set_connect_state(conn->ssl);
	if (tls->session)
		SSL_set_session(conn->ssl, tls->session); /* not taken: a full handshake */
	take_rings(conn);
	return true;
}

struct tls_conn *tls_conn_begin(struct tls *tls, enum tls_state state, bool plain)
{
	struct tls_conn *conn = slab_acquire(&tls->conns);

	if (!conn)
		return NULL;
	*conn = (struct tls_conn){.tls = tls, .deadline_ns = TIMER_NEVER};
	list_init(&conn->shaking);
	list_init(&conn->pending);
	list_init(&conn->marked);
	list_init(&conn->runnable);
	list_init(&conn->dead);
	timer_init(&conn->timer);
	if (!plain && !take_ssl(conn)) {
		slab_release(&tls->conns, conn);
		return NULL;
	}
	tls_conn_set_state(conn, state);
	return conn;
}

void tls_conn_destroy(struct tls_conn *conn)
{
	struct tls *tls = conn->tls;

	if (conn->state != TLS_CLOSED)
		tls_conn_set_state(conn, TLS_CLOSED);
	tls_conn_set_state(conn, TLS_FREE);
	timer_cancel(&tls->timers, &conn->timer);
	list_remove(&conn->pending);
	list_remove(&conn->marked);
	list_remove(&conn->runnable);
	list_remove(&conn->dead);
	SSL_free(conn->ssl);
	if (conn->buffer)
		slab_release(&tls->buffers, conn->buffer);
	slab_release(&tls->conns, conn);
}

void tls_conn_settle(struct tls_conn *conn)
{
	if (conn->state == TLS_CLOSED && (conn->released || !conn->known))
		tls_conn_destroy(conn);
}

/* --- what its user is told --- */

void tls_conn_report(struct tls_conn *conn, unsigned bits)
{
	struct tls *tls = conn->tls;

	if (conn->bits == 0) {
		list_push(&tls->pending, &conn->pending);
		tls->pending_count++;
	}
	conn->bits |= (uint16_t)bits;
}

/* The user's life of it ends; who has not heard of it never will. */
static void end_for_user(struct tls_conn *conn, enum tp_reason reason)
{
	if (conn->over)
		return;
	conn->over = true;
	conn->reason = (uint16_t)reason;
	if (conn->known)
		tls_conn_report(conn, TP_CLOSED);
}

/* --- deadlines --- */

static void set_deadline(struct tls_conn *conn, uint64_t bound_ns)
{
	conn->deadline_ns = conn->tls->now_ns + bound_ns;
	timer_arm(&conn->tls->timers, &conn->timer, conn->deadline_ns);
}

static void clear_deadline(struct tls_conn *conn)
{
	conn->deadline_ns = TIMER_NEVER;
	timer_cancel(&conn->tls->timers, &conn->timer);
}

/* Gives the time that the peer has for its end anew, once ours has left, up to a bound. */
void tls_conn_extend_end(struct tls_conn *conn)
{
	uint64_t now_ns = conn->tls->now_ns, bound_ns = conn->tls->shutdown_timeout_ns;

	if (conn->state != TLS_ENDING)
		return;
	if (now_ns + bound_ns > conn->end_bound_ns)
		bound_ns = conn->end_bound_ns > now_ns ? conn->end_bound_ns - now_ns : 0;
	set_deadline(conn, bound_ns);
}

/* --- ends that somebody did not want --- */

void tls_conn_flush_lower(struct tls_conn *conn)
{
	if (!conn->unflushed || !conn->lower)
		return;
	conn->unflushed = false;
	tp_flush(conn->tls->lower, conn->lower);
}

void tls_conn_drop(struct tls_conn *conn, enum tp_reason reason)
{
	struct tls *tls = conn->tls;

	if (conn->lower && !conn->lower_closed) {
		conn->lower->user = NULL; /* its CLOSED concerns nobody any more */
		tp_abort(tls->lower, conn->lower);
	}
	conn->lower = NULL;
	if (conn->state == TLS_HANDSHAKE)
		tls->counters.handshakes_failed++;
	end_for_user(conn, reason);
	clear_deadline(conn);
	list_remove(&conn->marked);
	list_remove(&conn->runnable);
	if (conn->state != TLS_CLOSED)
		tls_conn_set_state(conn, TLS_CLOSED);
}

/* OpenSSL's words for what it gave up for; where they leave a user alone, what to look at. */
static const char *words_of(unsigned long error)
{
	const char *reason = ERR_reason_error_string(error);

	switch (ERR_GET_REASON(error)) {
	case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE: /* RFC 8446, section 6.2 */
		return "alert handshake failure: the two sides have no version, cipher or "
		       "certificate in common";
	case SSL_R_WRONG_VERSION_NUMBER:
		return "wrong version number; do both sides speak TLS, or neither?";
	default:
		return reason ? reason : "unknown";
	}
}

/* Says in words why OpenSSL gave up; its queue has the first cause at the bottom. */
static void note_fault(struct tls_conn *conn)
{
	bool verifies = SSL_get_verify_mode(conn->ssl) & SSL_VERIFY_PEER;
	long verdict = verifies ? SSL_get_verify_result(conn->ssl) : X509_V_OK;

	conn->fault.is_trust = verdict != X509_V_OK;
	conn->fault.text = conn->fault.is_trust ? X509_verify_cert_error_string(verdict)
						: words_of(ERR_peek_error());
}

/*
 * OpenSSL gave up. The alert that it wrote, if any, leaves; then the lower transport ends in order,
 * since a reset could overtake it.
 */
void tls_conn_break_off(struct tls_conn *conn)
{
	struct tls_counters *counters = &conn->tls->counters;

	note_fault(conn);
	if (conn->state == TLS_HANDSHAKE)
		counters->handshakes_failed++;
	else if (!conn->alerted)
		counters->broken++;
	end_for_user(conn, conn->alerted ? TP_RESET : TP_FAILED);
	tls_conn_set_state(conn, TLS_LINGERING);
	tls_conn_flush_lower(conn);
	if (!conn->lower_closed)
		tp_finish(conn->tls->lower, conn->lower);
	set_deadline(conn, conn->tls->shutdown_timeout_ns);
}

/* The peer ended the lower transport without a close_notify. */
void tls_conn_end_truncated(struct tls_conn *conn)
{
	bool was_open = conn->state != TLS_HANDSHAKE;

	conn->tls->counters.truncated += was_open;
	conn->fault.text = was_open ? "the peer ended without close_notify"
				    : "the peer ended within the handshake; do both sides speak "
				      "TLS, or neither?";
	tls_conn_drop(conn, TP_RESET);
}

/* What we sent, our end behind it, may still be on its way to a slow reader and is not cut off. */
static void leave(struct tls_conn *conn)
{
	conn->fault.text = "the peer did not answer the end";
	end_for_user(conn, TP_TIMEOUT);
	tls_conn_set_state(conn, TLS_LINGERING);
	set_deadline(conn, TLS_LINGER_NS);
}

void tls_conn_expire(struct tls_conn *conn)
{
	if (conn->state == TLS_ENDING) {
		leave(conn);
		return;
	}
	if (conn->state == TLS_HANDSHAKE) {
		conn->tls->counters.handshakes_late++;
		conn->fault.text = "the handshake took too long";
	}
	tls_conn_drop(conn, TP_TIMEOUT);
	tls_conn_settle(conn);
}

static enum tp_reason lower_verdict(const struct tls_conn *conn, enum tp_reason reason)
{
	if (reason != TP_DONE)
		return reason;
	return conn->state == TLS_ENDING && conn->peer_ended ? TP_DONE : TP_RESET;
}

void tls_conn_lower_gone(struct tls_conn *conn, enum tp_reason reason)
{
	if (conn->ssl)
		conn->lower = NULL; /* a plain one's lends what it holds as long as ours lives */
	if (conn->state == TLS_HANDSHAKE)
		conn->tls->counters.handshakes_failed++;
	end_for_user(conn, conn->ssl ? lower_verdict(conn, reason) : reason);
	clear_deadline(conn);
	if (conn->state != TLS_CLOSED)
		tls_conn_set_state(conn, TLS_CLOSED);
}

/*
 * Before each call of OpenSSL: what another connection left in the thread's queue would be taken
 * for this one's. Looking first is cheaper than clearing what is empty.
 */
void tls_forget_errors(void)
{
	if (ERR_peek_error())
		ERR_clear_error();
}

/* --- handshake --- */

/* Whoever makes progress stands behind all others in the line of those that may be dropped. */
static void note_progress(struct tls_conn *conn)
{
	conn->progress_ns = conn->tls->now_ns;
	list_push(&conn->tls->shaking, &conn->shaking);
}

void tls_conn_start(struct tls_conn *conn)
{
	if (conn->state == TLS_CONNECTING)
		tls_conn_set_state(conn, TLS_HANDSHAKE);
	note_progress(conn);
	set_deadline(conn, conn->tls->handshake_timeout_ns);
}

/* Whether what it has to say is there and has not been looked at. */
static bool waits_for_us(const struct tls_conn *conn)
{
	struct span spans[1];

	return list_linked(&conn->runnable) ||
	       (conn->lower && tp_peek(conn->tls->lower, conn->lower, spans, 1) > 0);
}

bool tls_conn_evict(struct tls *tls)
{
	while (!list_empty(&tls->shaking)) {
		struct tls_conn *conn = list_member(tls->shaking.next, struct tls_conn, shaking);

		if (tls->now_ns < conn->progress_ns + TLS_HANDSHAKE_GRACE_NS)
			break;
		if (waits_for_us(conn)) { /* it is we who stand still */
			note_progress(conn);
			continue;
		}
		tls->counters.handshakes_evicted++;
		tls_conn_drop(conn, TP_TIMEOUT);
		tls_conn_settle(conn);
		return true;
	}
	return false;
}

static void open_conn(struct tls_conn *conn)
{
	struct tls *tls = conn->tls;

	tls_conn_set_state(conn, TLS_OPEN);
	tls->counters.handshakes++;
	tls->counters.resumed += SSL_session_reused(conn->ssl) != 0;
	tls_conn_count_agreed(conn);
	clear_deadline(conn);
	conn->known = true;
	tls_conn_report(conn, tls->server ? TP_ACCEPTED : TP_CONNECTED);
}

/*
 * A step of the handshake; whether another can go further. Its time is counted apart, for which the
 * clock is read: a step takes a thousand times as long.
 */
bool tls_conn_shake_hands(struct tls_conn *conn)
{
	OSSL_HANDSHAKE_STATE step = SSL_get_state(conn->ssl);
	uint64_t start_ns = clock_now_ns();
	int done;

	conn->tls->steps_left -= conn->tls->steps_left > 0;
	conn->tls->starved = false;
	tls_forget_errors();
	done = SSL_do_handshake(conn->ssl);
	conn->tls->counters.handshake_ns += clock_now_ns() - start_ns;
	if (done == 1) {
		open_conn(conn);
		return false;
	}
	if (SSL_get_state(conn->ssl) != step)
		note_progress(conn);
	switch (SSL_get_error(conn->ssl, done)) {
	case SSL_ERROR_WANT_READ:
		return !conn->tls->starved;
	case SSL_ERROR_WANT_WRITE:
		return false;
	default:
		tls_conn_break_off(conn);
		return false;
	}
}

/* --- what OpenSSL tells in passing --- */

void tls_conn_on_message(int write, int version, int type, const void *bytes, size_t count,
			 SSL *ssl, void *unused)
{
	struct tls_conn *conn;

	if (write || type != SSL3_RT_HANDSHAKE || count == 0 ||
	    ((const uint8_t *)bytes)[0] != SSL3_MT_KEY_UPDATE)
		return;
	conn = SSL_get_app_data(ssl);
	conn->key_updates++;
	conn->tls->counters.key_updates++;
}

void tls_conn_on_info(const SSL *ssl, int where, int value)
{
	struct tls_conn *conn;

	if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT || value >> 8 != SSL3_AL_FATAL)
		return;
	conn = SSL_get_app_data(ssl);
	conn->alerted = true;
	conn->tls->counters.alerts_in++;
}
