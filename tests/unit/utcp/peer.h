/*
 * peer: the other end of the link, by hand.
 *
 * Builds the frames that a test wants, feeds them to one utcp instance and reads what it answers.
 * Shares no code with utcp: headers and checksums are done here again, the slow and plain way, and
 * every answer is verified. Speaks IPv4, or IPv6 in a run that has PEER_IP6 in its environment: the
 * tests of TCP itself are run with both.
 */
#ifndef WEIR_TESTS_UTCP_PEER_H
#define WEIR_TESTS_UTCP_PEER_H

#include "stacks/utcp/utcp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MS 1000000ull
#define SECOND (1000 * MS)

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32, ECE = 64, CWR = 128 };

enum {
	PEER_IP = 0x0a000002,
	OWN_IP = 0x0a000001,
	PEER_PORT = 40000,
	OWN_PORT = 7878,
	PEER_ISN = (int)0xfffffff0, /* just under the wrap, as is our own */
	OWN_ISN = (int)0xfffffff8,
	FRAME_ROOM = 9100,
};

/* The addresses of IPv6, of which the host part is that of the others. */
#define PEER_PREFIX6 0xfd, 0x77, 0, 0, 0, 0, 0, 0
extern const uint8_t peer_ip6[16], peer_own_ip6[16];

struct peer {
	struct utcp *utcp;
	struct utcp_conn *conn;
	uint64_t now_ns;
	uint32_t seq;	  /* the next that the peer sends */
	uint32_t ack;	  /* the next that it expects */
	uint32_t own_isn; /* where utcp's numbers must begin */
	uint16_t window;  /* what it offers */
	uint16_t port;
	uint16_t own_port; /* at utcp's end */
	bool times;	   /* it speaks timestamps, and offers them and SACK in its SYN */
	uint32_t times_value;
	uint32_t times_echo; /* the last value that came */
	uint16_t events;     /* all bits returned since they were last cleared */
	uint16_t reason;
	unsigned closed; /* UTCP_CLOSED events */
	unsigned accepted;
	uint8_t frame[FRAME_ROOM]; /* the last answer */
	size_t frame_bytes;
};

/* A frame from utcp, or what a test sends. */
struct peer_segment {
	uint32_t seq;
	uint32_t ack;
	uint16_t window;
	uint16_t port; /* of the peer */
	uint16_t own_port;
	uint8_t flags;
	uint8_t ecn; /* of the IP header */
	uint16_t urgent;
	const uint8_t *options;
	size_t options_bytes;
	const uint8_t *data;
	size_t bytes;
};

/* Whether this run is of IPv6. */
bool peer_is_ip6(void);

/* The peer's address, of the run's family; and another in the same subnet. */
struct utcp_addr peer_addr(void);
struct utcp_addr peer_addr_of(uint8_t host);

/* Where TCP begins in a frame of this run. */
size_t peer_tcp_at(void);

/*
 * The usual configuration; a test may change it before peer_open. The MSS that its link has room
 * for is 1460 with both families.
 */
struct utcp_config peer_config(void);

/* An instance that listens at OWN_PORT, and its peer. */
void peer_open(struct peer *peer, const struct utcp_config *config);

/* Ends both; every connection must be gone or is dropped. */
void peer_close(struct peer *peer);

/* Feeds a segment built from `segment`; fields left 0 are not filled in. */
void peer_put(struct peer *peer, const struct peer_segment *segment);

/* The usual segment: next in order, ACK of all, the offered window. Moves seq on by what it takes
 * up. */
void peer_send(struct peer *peer, uint8_t flags, const void *data, size_t bytes);

/* The same at another sequence number, without moving seq. */
void peer_send_at(struct peer *peer, uint32_t seq, uint8_t flags, const void *data, size_t bytes);

/* Feeds any frame. */
void peer_put_frame(struct peer *peer, const uint8_t *frame, size_t bytes);

/* Builds the frame of a segment; its length. */
size_t peer_build(const struct peer_segment *segment, uint8_t frame[FRAME_ROOM]);

/* Takes utcp's next frame, which must be a sound TCP segment; false if there is none. */
bool peer_take(struct peer *peer, struct peer_segment *segment_out);

/* Reads the segment in peer->frame, which must be a sound one of TCP. */
void peer_read(struct peer *peer, struct peer_segment *segment_out);

/* The first option of this kind in a segment, or NULL. */
const uint8_t *peer_option(const struct peer_segment *segment, uint8_t kind);

/* The timestamps of a segment; false if it has none. */
bool peer_times(const struct peer_segment *segment, uint32_t *value_out, uint32_t *echo_out);

/* What the IP header of the last answer says of ECN. */
uint8_t peer_ecn(const struct peer *peer);

/* Takes utcp's next frame of any kind; its length or 0. */
size_t peer_take_frame(struct peer *peer);

/* Takes and forgets all frames; returns how many. */
unsigned peer_drain(struct peer *peer);

/* Lets time pass, running timers whenever they are due, and forgets what is sent. */
void peer_wait(struct peer *peer, uint64_t ns);

/* Lets time pass in one jump. */
void peer_jump(struct peer *peer, uint64_t ns);

/* Collects events into peer->events. */
void peer_poll(struct peer *peer);

/* The peer calls: three-way handshake with these SYN options (NULL: MSS 1460, and
 * with peer->times SACK and timestamps). Fills peer->conn. */
void peer_connect(struct peer *peer, const uint8_t *options, size_t bytes);

/* utcp calls and finds the peer; the SYN has not left yet. */
void peer_call(struct peer *peer);

/* utcp calls: ARP is answered, the SYN is taken; the peer has not answered it yet. */
void peer_be_called(struct peer *peer);

/* The same, completed. */
void peer_accept(struct peer *peer);

/* Has the application write `bytes` of `data`. False if there was no room. */
bool peer_app_write(struct peer *peer, const void *data, size_t bytes);

/* Has the application read all that is there into `to`; how much that was. */
size_t peer_app_read(struct peer *peer, uint8_t *to, size_t room);

/* Changes who a frame is from. */
void peer_set_source(uint8_t *frame, struct utcp_addr source);

/* Whether the last answer asks where the peer is; and tells it. */
bool peer_is_question(const struct peer *peer);
void peer_answer_question(struct peer *peer);

/* Writes the headers of an IPv6 packet from the peer to us, which carries `bytes` behind them. */
void peer_put_ip6(uint8_t *frame, uint8_t next, size_t bytes);

/* Changes both addresses of an IPv6 packet, and the frame's where the destination is a group. */
void peer_set_ip6(uint8_t *frame, const uint8_t from[16], const uint8_t to[16]);

/* The checksum of what a packet of IPv6 carries, its pseudo header included. */
uint16_t peer_checksum6(const uint8_t *ip, uint8_t protocol, const uint8_t *data, size_t bytes);

/* The Internet checksum of `bytes` with `sum` added, the plain way. */
uint16_t peer_checksum(uint32_t sum, const uint8_t *data, size_t bytes);

#endif
