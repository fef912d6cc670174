/*
 * conn: a connection of the uring stack, as its files share it; private to stacks/uring.
 *
 * A connection's two rings lease their memory while they hold bytes or the kernel is to fill them.
 * Requests to the kernel name the connection by index and generation, and its place is used again
 * only when the kernel has answered all of them.
 *
 * Every list a connection can stand on, and why:
 *	attend   it has something for the kernel that the next poll is to queue
 *	lending  it holds buffers of the pool
 *	marked   it has committed bytes that were not flushed
 *	pending  it has events that poll has not returned; after the last, it waits for release
 *	live     it is in use at all
 */
#ifndef WEIR_STACKS_URING_CONN_H
#define WEIR_STACKS_URING_CONN_H

#include "dataplane/core/lease.h"
#include "dataplane/core/limits.h"
#include "dataplane/core/list.h"
#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Buffers that one connection may lend at once: with its own ring, LIMIT_SPANS spans. */
enum { UR_LENT_MAX = LIMIT_SPANS - 2 };

enum ur_state {
	UR_FREE,
	UR_CONNECTING,
	UR_OPEN,
	UR_CLOSED, /* its last event is pending or was returned; the kernel may still answer */
	UR_STATE_COUNT,
};

/* How receiving stands with the kernel. */
enum ur_receiving {
	UR_RECV_IDLE,	   /* not asked for */
	UR_RECV_MULTISHOT, /* into the pool's buffers, until told otherwise */
	UR_RECV_STOPPING,  /* likewise, and it was told to end */
	UR_RECV_SINGLE,	   /* once, into the connection's own ring */
};

/* How a connection stands in the ring's table of files. */
enum ur_file {
	UR_FILE_NEW,	  /* not there, and it was not asked for */
	UR_FILE_ENTERING, /* asked for */
	UR_FILE_ENTERED,
	UR_FILE_PLAIN, /* refused, or asked to leave */
};

/* What a completion is about; never 0, which is what a request says that was not filled in. */
enum ur_kind {
	UR_ACCEPT = 1,
	UR_CONNECT,
	UR_RECV,
	UR_SEND,
	UR_WATCH,
	UR_CANCEL,
	UR_CLOSE,
	UR_FILE,
};

struct ur_conn {
	struct tp_conn base;
	int fd;
	uint32_t generation; /* of this use of the memory */
	uint32_t requests;   /* with the kernel or queued */

	struct ring recv;     /* received before what is lent */
	uint32_t lent_bytes;  /* in buffers of the pool, behind the ring's */
	uint32_t lent_offset; /* of the first buffer, already consumed */
	uint16_t lent_first;  /* UR_POOL_NONE: none */
	uint16_t lent_last;
	uint16_t lent_count;
	uint8_t receiving; /* enum ur_receiving */
	bool surplus;	   /* more is lent than the ring could take in, or than was in sight */
	bool hidden;	   /* the last peek did not show all of it */
	bool lacked;	   /* the pool had no buffer for it */
	bool watched;	   /* the kernel is asked to tell of an error, for nothing else would */

	/*
	 * The ring holds in this order: bytes sent but still held by the kernel (zero copy), bytes
	 * in flight, bytes that were flushed, bytes that are only marked.
	 */
	struct ring send;
	uint32_t held_bytes;
	uint32_t flight_bytes;
	uint32_t flight_sent;  /* of those in flight, told as sent so far */
	uint32_t flight_sends; /* requests that are the one outstanding send */
	uint32_t notices;      /* zero-copy sends that the kernel still holds memory of */
	uint32_t marked_bytes; /* committed, not flushed */
	uint32_t lent_room;    /* reserved, not committed */
	uint32_t wanted_bytes; /* a reserve of that size was refused; 0: none was */
	int send_error;	       /* of one in flight, as an errno */
	struct msghdr message; /* a write across the ring's end */
	struct iovec pieces[2];

	uint16_t bits;	 /* events not yet returned */
	uint16_t reason; /* enum tp_reason, with TP_CLOSED in bits */
	uint8_t state;	 /* enum ur_state, written by ur_set_state alone */
	uint8_t file;	 /* enum ur_file */
	int tabled_fd;	 /* what the kernel reads to enter it */
	bool is_tcp;
	bool connecting; /* the kernel is to tell how connecting ends */
	bool finishing;	 /* finish was called */
	bool ended;	 /* our side was shut down */
	bool peer_ended;
	bool gone; /* nobody may name it any more: release when the kernel has answered all */
	struct list attend;
	struct list lending;
	struct list marked;
	struct list pending;
	struct list live;
};

#endif
