/*
 * utcp: our TCP/IP, as a machine that is fed.
 *
 * Ethernet frames go in, Ethernet frames come out, and the time is an argument; there is no thread,
 * no clock, no socket, no device and no allocation after create. So the same code runs over a
 * poll-mode driver and over a simulated wire in which one seed replays a failure. It knows neither
 * DPDK nor the transport contract. One instance serves one worker, and one address of IPv4, of
 * IPv6, or of each.
 *
 * Speaks ARP (RFC 826), IPv4 (RFC 791), IPv6 (RFC 8200) with neighbour discovery (RFC 4861), both
 * without fragments, ICMP echo (RFC 792, 4443) and TCP (RFC 9293, 5681, 6298, 6528, 9438, 7323,
 * 2018, 3168, 8257). What it does not do, it drops and counts by name.
 *
 * Legal order in a turn:
 *
 *	utcp_input* -> utcp_advance -> utcp_events -> { utcp_peek ... utcp_abort }*
 *	            -> utcp_output until it returns 0
 *
 * utcp_conn_output may be called at any point between, to send one connection's data at once (a
 * write).
 *
 * Ownership: frames are lent for the call. A connection is a handle, valid from utcp_connect or its
 * UTCP_ACCEPTED event until the first utcp_input or utcp_advance after its UTCP_CLOSED event was
 * returned.
 */
#ifndef WEIR_UTCP_H
#define WEIR_UTCP_H

#include "dataplane/core/span.h"
#include "stacks/utcp/addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct utcp;
struct utcp_conn;

enum utcp_event_bits {
	UTCP_ACCEPTED = 1 << 0,
	UTCP_CONNECTED = 1 << 1,
	UTCP_READABLE = 1 << 2,
	UTCP_WRITABLE = 1 << 3,
	UTCP_FINISHED = 1 << 4,
	UTCP_CLOSED = 1 << 5,
};

enum utcp_reason {
	UTCP_DONE,    /* both sides finished and acknowledged, all that came was read */
	UTCP_RESET,   /* the peer reset it */
	UTCP_REFUSED, /* RST in answer to our SYN */
	UTCP_TIMEOUT, /* R2 or the user timeout was reached (RFC 9293 3.8.3), or the peer is gone */
	UTCP_UNREACHABLE, /* nobody answers to the peer's address on this link */
	UTCP_ABORTED,	  /* utcp_abort */
};

/* How the window grows and is cut (congestion.h). */
enum utcp_congestion {
	UTCP_NEWRENO,
	UTCP_CUBIC,
	UTCP_DCTCP, /* wants `ecn`, and switches that mark */
	UTCP_CONGESTION_COUNT,
};

struct utcp_config {
	uint8_t mac[6];
	uint32_t ip;	      /* own IPv4 address, host order; 0: none */
	uint8_t prefix_bits;  /* peers outside the subnet are unreachable: there is no gateway */
	struct utcp_addr ip6; /* own IPv6 address, beside the link-local one; none: no IPv6 */
	uint8_t prefix6_bits; /* of its subnet, 1 to 127 */
	uint16_t mtu; /* IP packet size on the link, bytes: 576, or 1280 with IPv6, to 9000 */
	uint32_t conn_max;
	uint32_t syn_max;    /* calls of peers that are kept; the others get SYN cookies; 0: 1024 */
	uint32_t recv_bytes; /* receive memory a connection, a power of two */
	uint32_t send_bytes; /* send memory a connection, a power of two */
	uint64_t rto_min_ns; /* floor of the retransmission timeout; 0: 200 ms, as Linux */
	uint64_t ack_delay_ns;	  /* longest time an ACK waits for data to ride on; 0: 1 ms */
	uint64_t time_wait_ns;	  /* stay in TIME-WAIT; 0: 1 s */
	uint64_t keepalive_ns;	  /* an idle peer is asked after one to two of these; 0: never */
	uint64_t user_timeout_ns; /* longest wait for progress (liveness.h); 0: R2 alone limits */
	enum utcp_congestion congestion;
	bool ecn;	     /* offer and accept ECN (RFC 3168) */
	bool sack_off;	     /* neither offer nor accept SACK (RFC 2018 2) */
	bool timestamps_off; /* neither offer nor accept timestamps (RFC 7323 3) */
	uint8_t secret[16];  /* random: ISN (RFC 6528) and the demultiplexing hash */
	bool isn_fixed;	     /* simulation only: use `isn` instead of RFC 6528 */
	uint32_t isn;
};

struct utcp_event {
	struct utcp_conn *conn;
	uint16_t bits;	 /* enum utcp_event_bits, merged, in the order of their values */
	uint16_t reason; /* enum utcp_reason, with UTCP_CLOSED */
};

/*
 * X(name, meaning). Every frame handed to utcp_input ends in exactly one of the counters whose name
 * begins with in_ or drop_: in_arp + in_nd + in_icmp + in_segments + the sum of drop_* == in_frames
 * (an invariant that utcp_check proves).
 */
#define UTCP_COUNTERS(X)                                                                   \
	X(in_frames, "frames received")                                                    \
	X(in_arp, "ARP packets handled")                                                   \
	X(in_nd, "neighbour discovery messages handled")                                   \
	X(in_icmp, "ICMP packets handled")                                                 \
	X(in_segments, "TCP segments handled")                                             \
	X(in_bytes, "payload bytes received in order")                                     \
	X(drop_short, "frames too short for their headers")                                \
	X(drop_ethertype, "neither ARP nor an IP that we speak")                           \
	X(drop_mac, "not addressed to us")                                                 \
	X(drop_arp, "malformed or unasked ARP")                                            \
	X(drop_nd, "malformed, unasked or unused neighbour discovery")                     \
	X(drop_ip_header, "bad IP version or lengths")                                     \
	X(drop_ip_checksum, "bad IPv4 header checksum")                                    \
	X(drop_ip_fragment, "fragments, which are not reassembled")                        \
	X(drop_ip_address, "IP source or destination that cannot be right")                \
	X(drop_ip6_extension, "IPv6 extension headers cut short, too many, or refused")    \
	X(drop_ip_protocol, "neither TCP nor ICMP")                                        \
	X(drop_icmp, "malformed or unanswered ICMP")                                       \
	X(drop_tcp_header, "bad TCP data offset, options or ports")                        \
	X(drop_tcp_checksum, "bad TCP checksum")                                           \
	X(drop_tcp_full, "SYNs and last ACKs of handshakes that found the table full")     \
	X(out_frames, "frames built")                                                      \
	X(out_segments, "TCP segments built")                                              \
	X(out_bytes, "payload bytes sent the first time")                                  \
	X(out_acks, "segments that only acknowledge")                                      \
	X(out_resets, "RST segments built")                                                \
	X(out_lost, "answers given up because their queue was full")                       \
	X(reserves_refused, "reserves for which the send memory had no room")              \
	X(retransmits, "segments sent again")                                              \
	X(fast_retransmits, "loss recoveries begun by acknowledgements")                   \
	X(cuts_undone, "cuts of the window taken back: nothing was lost (RFC 3522)")       \
	X(tail_probes, "tail loss probes (RFC 8985)")                                      \
	X(sacks_refused, "SACK blocks refused: inverted, or not within what is in flight") \
	X(duplicates_told, "ACKs that report what came twice (RFC 2883)")                  \
	X(timeouts, "retransmission timeouts")                                             \
	X(probes, "zero-window probes")                                                    \
	X(keepalives, "keep-alive probes of established connections")                      \
	X(user_timeouts, "connections ended by the user timeout")                          \
	X(dup_acks, "duplicate ACKs received")                                             \
	X(ooo_segments, "segments kept out of order")                                      \
	X(ooo_dropped, "segments out of order for which there was no room")                \
	X(scales_cut, "SYNs with a window scale above 14, taken for 14")                   \
	X(times_missing, "segments without the timestamp agreed on")                       \
	X(times_old, "segments with an old timestamp, refused by PAWS")                    \
	X(sacks_sent, "segments that report what came out of order")                       \
	X(dsacks_sent, "segments that report what came twice")                             \
	X(gaps_withdrawn, "connections whose data out of order gave way to another's")     \
	X(old_segments, "segments outside the window or already received")                 \
	X(challenge_acks, "challenge ACKs sent (RFC 5961)")                                \
	X(challenges_withheld, "answers to strange segments that a limit forbade")         \
	X(ecn_opened, "connections opened with ECN (RFC 3168)")                            \
	X(ce_segments, "segments of data that the network marked (CE)")                    \
	X(ece_acks, "ACKs of new data that tell of marks (ECE)")                           \
	X(cwr_segments, "segments that tell of a smaller window (CWR)")                    \
	X(icmp_hard, "calls ended by an ICMP error")                                       \
	X(icmp_soft, "ICMP errors that end nothing")                                       \
	X(icmp_unproven, "ICMP errors that quote nothing in flight")                       \
	X(path_mtu_lowered, "connections whose segments became smaller by ICMP")           \
	X(calls_kept, "calls of peers kept until their handshake is complete")             \
	X(calls_expired, "of these, given up unanswered")                                  \
	X(cookies_sent, "SYNs answered with a cookie")                                     \
	X(cookies_accepted, "connections made of cookies")                                 \
	X(cookies_refused, "ACKs that brought no cookie of ours, or a stale one")          \
	X(reopened, "connections in TIME-WAIT that gave way to a call (RFC 6191)")         \
	X(time_waits_cut, "connections in TIME-WAIT that gave way to younger ones")        \
	X(no_listener, "segments to nobody, answered with RST")                            \
	X(opened_active, "connections we opened")                                          \
	X(opened_passive, "connections accepted")                                          \
	X(closed, "connections ended")

struct utcp_counters {
#define X(name, meaning) uint64_t name;
	UTCP_COUNTERS(X)
#undef X
};

/* --- setup ----------------------------------------------------------------------------------- */

/* Makes an instance; `config` is copied. 0, -EINVAL, or -ENOMEM. */
int utcp_create(const struct utcp_config *config, uint64_t now_ns, struct utcp **utcp_out);

/* Frees it; connections still open vanish without a word to the peer. NULL is fine. */
void utcp_destroy(struct utcp *utcp);

/* Accepts connections to `port`. 0, -EADDRINUSE, or -ENOSPC. */
int utcp_listen(struct utcp *utcp, uint16_t port);

/*
 * Begins a connection to `peer` and `port` from an unused local port. 0; -ENETUNREACH
 * for an address that is our own or outside the subnet; -EADDRNOTAVAIL when no local port is left;
 * -ENOBUFS when the table is full, of connections or of hosts being asked for.
 */
int utcp_connect(struct utcp *utcp, struct utcp_addr peer, uint16_t port, uint64_t now_ns,
		 struct utcp_conn **conn_out);

/* --- turn ------------------------------------------------------------------------------------ */

/* Takes one received Ethernet frame, without its FCS. */
void utcp_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns);

enum { UTCP_EXPECT_MAX = 32 };

/* Whether there are so many connections that utcp_expect saves more than it costs. */
bool utcp_expect_pays(const struct utcp *utcp);

/*
 * These frames, or their first pieces, are the next to be taken in; those beyond UTCP_EXPECT_MAX
 * are not looked at. A hint: all it changes is the time that utcp_input takes.
 */
void utcp_expect(const struct utcp *utcp, const struct span *frames, unsigned count);

/* Runs the timers that are due. Time may jump; it never goes back. */
void utcp_advance(struct utcp *utcp, uint64_t now_ns);

/* When utcp_advance next has work, ns; UINT64_MAX for never. May be early, is never late. */
uint64_t utcp_deadline(const struct utcp *utcp);

/* Hands out at most `room` pending events, one a connection; returns their number. */
unsigned utcp_events(struct utcp *utcp, struct utcp_event *events, unsigned room);

/* Most bytes that one output frame can have. */
size_t utcp_frame_max(const struct utcp *utcp);

/*
 * Builds the next frame to send, of whatever kind, into `frame` (utcp_frame_max bytes); its length,
 * or 0 if there is none.
 */
size_t utcp_output(struct utcp *utcp, uint8_t *frame, uint64_t now_ns);

/*
 * The same for one connection's committed data alone. Until 0 is returned, the rest of its data
 * stays pending for utcp_output.
 */
size_t utcp_conn_output(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame, uint64_t now_ns);

/* Lends received in-order bytes: at most 2 spans, until utcp_consume or utcp_input. */
unsigned utcp_peek(struct utcp *utcp, struct utcp_conn *conn, struct span spans[2]);

/* Gives the first `bytes` back and reopens the window. */
void utcp_consume(struct utcp *utcp, struct utcp_conn *conn, size_t bytes);

/*
 * Lends exactly `bytes` of send memory in 1 or 2 rooms, or returns 0 and one UTCP_WRITABLE follows.
 */
unsigned utcp_reserve(struct utcp *utcp, struct utcp_conn *conn, size_t bytes,
		      struct room rooms[2]);

/* The first `bytes` reserved are to be sent; false after finish or the end, when nothing is. */
bool utcp_commit(struct utcp *utcp, struct utcp_conn *conn, size_t bytes);

/* Sends FIN after the committed data. Later calls do nothing. */
void utcp_finish(struct utcp *utcp, struct utcp_conn *conn);

/*
 * Drops all and sends RST where one is due (RFC 9293 3.10.5); UTCP_CLOSED(UTCP_ABORTED) follows,
 * unless another end is on its way to the application already.
 */
void utcp_abort(struct utcp *utcp, struct utcp_conn *conn);

/* --- report and tests ------------------------------------------------------------------------ */

/* The connection's place in the table: 0 to conn_max - 1, unique among those alive. */
uint32_t utcp_conn_index(const struct utcp *utcp, const struct utcp_conn *conn);

const struct utcp_counters *utcp_counters(const struct utcp *utcp);

/* Connections not yet free, and what is left of others in TIME-WAIT; peers' calls are none before
 * their handshake is complete. */
uint32_t utcp_conn_count(const struct utcp *utcp);

/*
 * Proves every invariant of the instance and of each connection (CHECK); for tests, after every
 * step.
 */
void utcp_check(const struct utcp *utcp);

#endif
