/*
 * open: how connections begin, on our call and on the peer's (RFC 9293 3.5).
 */
#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/seq.h"

#include <errno.h>

enum {
	PORT_FIRST = 32768, /* ours when we call: 32768 to 65535 */
	PORT_COUNT = 32768,
	SHORT_WINDOW_MAX = 65535, /* what a window field holds */
	ISN_TICK_SHIFT = 12,	  /* 4 us, as RFC 6528 3 wants, to the next power of two */
};

static const struct congestion_algorithm *const algorithms[UTCP_CONGESTION_COUNT] = {
	[UTCP_NEWRENO] = &congestion_newreno,
	[UTCP_CUBIC] = &congestion_cubic,
	[UTCP_DCTCP] = &congestion_dctcp,
};

uint8_t open_own_scale(const struct utcp *utcp)
{
	uint8_t scale = 0;

	while (scale < OPTIONS_SCALE_MAX && utcp->config.recv_bytes >> scale > SHORT_WINDOW_MAX)
		scale++;
	return scale;
}

struct open_numbers open_numbers(const struct utcp *utcp, const struct segment_ends *ends,
				 uint64_t now_ns)
{
	uint64_t tuple[5] = {ends->own.words[0], ends->own.words[1], ends->peer.words[0],
			     ends->peer.words[1], (uint32_t)ends->peer_port << 16 | ends->own_port};
	uint64_t hash = siphash_words(&utcp->key, tuple, 5);

	return (struct open_numbers){.iss = utcp->config.isn_fixed
						    ? utcp->config.isn
						    : (uint32_t)(now_ns >> ISN_TICK_SHIFT) +
							      (uint32_t)hash,
				     .times_offset = (uint32_t)(hash >> 32)};
}

static void begin_at(struct utcp_conn *conn, uint32_t iss)
{
	conn->iss = iss;
	conn->snd_una = conn->snd_max = conn->rtt.timed_to = iss;
}

/* A local port that is unused towards this peer, and not in TIME-WAIT either, from a place nobody
 * can guess (RFC 6056 3.3.3). 0 if there is none. */
static uint16_t choose_port(struct utcp *utcp, const struct segment_ends *ends)
{
	uint64_t peer[3] = {ends->peer.words[0], ends->peer.words[1], ends->peer_port};
	uint32_t offset = (uint32_t)siphash_words(&utcp->key, peer, 3);
	struct segment_ends tried = *ends;

	for (unsigned i = 0; i < PORT_COUNT; i++) {
		tried.own_port = (uint16_t)(PORT_FIRST + (offset + utcp->port_next++) % PORT_COUNT);
		if (!utcp_listens(utcp, tried.own_port) &&
		    !tuples_find(&utcp->tuples, &utcp->conns, &tried) &&
		    !time_waits_find(utcp, &tried))
			return tried.own_port;
	}
	return 0;
}

/* A connection of the table, NULL if none can be had. It has its ends and numbers, and no state
 * yet. */
static struct utcp_conn *new_conn(struct utcp *utcp, const struct segment_ends *ends,
				  const uint8_t mac[MAC_BYTES], uint64_t now_ns)
{
	struct open_numbers numbers = open_numbers(utcp, ends, now_ns);
	struct utcp_conn *conn;

	conn = slab_acquire(&utcp->conns);
	if (!conn)
		return NULL;
	conn_prepare(conn, slab_acquire(&utcp->rings), utcp->config.recv_bytes,
		     utcp->config.send_bytes);
	conn->key = tuples_key(&utcp->tuples, ends);
	segment_head_init(&conn->head, utcp->config.mac, mac, ends);
	conn->mss = conn->rcv_mss = OPTIONS_MSS_DEFAULT;
	begin_at(conn, numbers.iss);
	conn->syn_due = true;
	conn->times.offset = numbers.times_offset;
	tuples_add(&utcp->tuples, &utcp->conns, conn);
	return conn;
}

void open_resolved(struct utcp *utcp, struct list *waiting, const uint8_t mac[MAC_BYTES])
{
	struct list *link;

	while ((link = list_pop(waiting))) {
		struct utcp_conn *conn = list_member(link, struct utcp_conn, out_link);

		memcpy(conn->head.bytes + ETH_DESTINATION, mac, MAC_BYTES);
		conn->unresolved = false;
		utcp_mark(utcp, conn);
	}
}

void open_unresolved(struct utcp *utcp, struct list *waiting)
{
	struct list *link;

	while ((link = list_pop(waiting)))
		close_conn(utcp, list_member(link, struct utcp_conn, out_link), UTCP_UNREACHABLE);
}

/* What became of looking up the peer of a call: it waits, or may be sent. */
static void note_found(struct utcp *utcp, struct utcp_conn *conn, const struct utcp_addr *peer,
		       int found)
{
	list_remove(&conn->out_link);
	conn->unresolved = found == 0;
	if (conn->unresolved)
		neighbours_await(utcp, peer, conn);
	else
		utcp_mark(utcp, conn);
}

void open_find_again(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	struct utcp_addr peer = conn_peer(conn);

	neighbours_doubt(utcp, &peer, now_ns);
	note_found(utcp, conn, &peer,
		   neighbours_resolve(utcp, &peer, now_ns, conn->head.bytes + ETH_DESTINATION));
}

int utcp_connect(struct utcp *utcp, struct utcp_addr peer, uint16_t port, uint64_t now_ns,
		 struct utcp_conn **conn_out)
{
	struct segment_ends ends = {.peer = peer, .peer_port = port};
	uint8_t mac[MAC_BYTES] = {0};
	struct utcp_conn *conn;
	int found;

	if (!utcp_own_addr(utcp, &peer, &ends.own) || !utcp_reachable(utcp, &peer))
		return -ENETUNREACH;
	ends.own_port = choose_port(utcp, &ends);
	if (ends.own_port == 0)
		return -EADDRNOTAVAIL;
	if (!utcp_has_room(utcp))
		return -ENOBUFS;
	found = neighbours_resolve(utcp, &peer, now_ns, mac);
	if (found < 0)
		return -ENOBUFS;
	conn = new_conn(utcp, &ends, mac, now_ns);
	CHECK(conn != NULL);
	conn_set_state(conn, CONN_SYN_SENT);
	conn->active = true;
	conn->handle = HANDLE_HELD;
	conn->rcv_scale = open_own_scale(utcp); /* as our SYN will offer */
	note_found(utcp, conn, &peer, found);
	utcp->counters.opened_active++;
	*conn_out = conn;
	return 0;
}

/* The SYN-ACK was acknowledged: it was in flight until now, and its round trip counts if it was
 * sent but once (Karn). */
static void take_shake(struct utcp *utcp, struct utcp_conn *conn,
		       const struct open_handshake *shake)
{
	begin_at(conn, shake->iss);
	conn->snd_max = shake->iss + 1;
	conn->backoff = shake->lost;
	if (shake->timed)
		flight_push(&utcp->flights, &conn->flight, shake->iss, shake->iss + 1,
			    shake->sent_at_ns, 0);
}

/* RFC 9293 3.7.1: the least of what the peer takes and the link carries, less the options that
 * every segment has. */
static uint16_t choose_mss(const struct utcp *utcp, const struct utcp_conn *conn, uint16_t named)
{
	uint16_t mss = named < OPTIONS_MSS_MIN ? OPTIONS_MSS_MIN : named;
	uint16_t own = segment_head_mss(&conn->head, utcp->config.mtu);

	if (mss > own)
		mss = own;
	return conn->times.on ? mss - OPTIONS_TIMES_BYTES : mss;
}

void open_take_syn(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		   uint64_t now_ns)
{
	uint32_t capacity = conn->recv.capacity;

	times_take_syn(&conn->times, segment, !utcp->config.timestamps_off, now_ns);
	utcp->counters.scales_cut += segment->scale_steep;
	conn->sack_ok = segment->sack_permitted && !utcp->config.sack_off;
	conn->mss = choose_mss(utcp, conn, segment->mss);
	conn->scale_ok = segment->scale_given;
	conn->snd_scale = segment->scale_given ? segment->scale : 0;
	if (!segment->scale_given)
		conn->rcv_scale = 0;
	if (conn->unresolved) { /* its frame answers what is still being asked */
		memcpy(conn->head.bytes + ETH_DESTINATION, segment->frame + ETH_SOURCE, MAC_BYTES);
		conn->unresolved = false;
		list_remove(&conn->out_link);
	}
	ecn_take_syn(utcp, conn, segment);
	conn->irs = segment->seq;
	conn->rcv_nxt = conn->rcv_acked = segment->seq + 1;
	conn->rcv_edge =
		conn->rcv_nxt + (capacity < SHORT_WINDOW_MAX ? capacity : SHORT_WINDOW_MAX);
	/* Never scaled in a SYN (RFC 7323 2.2). */
	conn->snd_wnd = conn->snd_wnd_max = segment->window;
	conn->snd_wl1 = segment->seq;
}

/* Ends the SYN's own timeout and round trip. */
static void settle_syn(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	bool syn_lost = conn->backoff > 0;
	struct flight_news news = {.now_ns = now_ns};

	conn->snd_una = conn->iss + 1;
	flight_ack(&utcp->flights, &conn->flight, conn->snd_una, &news);
	conn->syn_due = false;
	if (!tcp_end_round_trip(utcp, conn, &news) && syn_lost)
		conn->rtt.rto_ns = RTT_RTO_AFTER_SYN_NS; /* RFC 6298 5.7 */
	conn->backoff = conn->retries = 0;
	conn->timeout_at_ns = TIMER_NEVER;
	congestion_init(&conn->congestion, algorithms[utcp->config.congestion], conn->mss,
			conn->iss, syn_lost);
}

void open_established(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		      uint64_t now_ns)
{
	uint8_t shift = segment->flags & TCP_SYN ? 0 : conn->snd_scale;

	conn_set_state(conn, CONN_ESTABLISHED);
	settle_syn(utcp, conn, now_ns);
	conn->snd_wnd = conn->snd_wnd_max = (uint32_t)segment->window << shift;
	conn->snd_wl1 = segment->seq;
	liveness_begin(utcp, conn, now_ns);
	utcp->counters.ecn_opened += !!(conn->ecn & ECN_TELLS);
	if (conn->active) {
		utcp_post(utcp, conn, UTCP_CONNECTED);
	} else {
		conn->handle = HANDLE_HELD;
		utcp->counters.opened_passive++;
		utcp_post(utcp, conn, UTCP_ACCEPTED);
	}
	if (conn->fin_queued) /* finished before it began */
		conn_set_state(conn, CONN_FIN_WAIT_1);
	utcp_mark(utcp, conn);
}

/* The SYN-ACK was acknowledged: no other segment completes a peer's call, so that none waits here
 * for one, without a timeout and unknown to the application. */
struct utcp_conn *open_accepted(struct utcp *utcp, const struct open_handshake *shake,
				const struct segment *segment, uint64_t now_ns)
{
	struct segment_ends ends = segment_ends(segment);
	struct utcp_conn *conn = new_conn(utcp, &ends, segment->frame + ETH_SOURCE, now_ns);

	if (!conn)
		return NULL;
	conn_set_state(conn, CONN_SYN_RECEIVED);
	conn->rcv_scale = open_own_scale(utcp);
	open_take_syn(utcp, conn, &shake->syn, now_ns);
	take_shake(utcp, conn, shake);
	open_established(utcp, conn, segment, now_ns);
	return conn;
}
