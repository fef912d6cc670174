/*
 * limits: every bound of the data plane, in one place.
 *
 * Defaults are what the programs use when no flag says otherwise; maxima are what a flag may ask
 * for. Relations between bounds that code relies on are asserted here, at compile time.
 */
#ifndef WEIR_CORE_LIMITS_H
#define WEIR_CORE_LIMITS_H

enum {
	/* Connections of one worker's transport instance. */
	LIMIT_CONN_DEFAULT = 1024,
	LIMIT_CONN_MAX = 65536,

	/* Receive and send memory of one connection, bytes, powers of two. */
	LIMIT_RECV_BYTES = 64 * 1024,
	LIMIT_SEND_BYTES = 64 * 1024,
	LIMIT_RING_MIN_BYTES = 32 * 1024,
	LIMIT_RING_MAX_BYTES = 64 * 1024 * 1024,

	/* Events that one poll may report. */
	LIMIT_TURN_EVENTS = 256,

	/* Requests that one connection may have served in one turn before others get theirs. */
	LIMIT_TURN_REQUESTS = 256,

	/* Response bytes likewise: a kernel takes megabytes of them for a peer that never reads. */
	LIMIT_TURN_BYTES = 256 * 1024,

	/* Largest frame accepted, by its length field: the reference protocol's 16 MiB. */
	LIMIT_FRAME_BYTES = 16 * 1024 * 1024,

	/* Longest head of a request that a flag may allow; one is read in one piece. */
	LIMIT_HEAD_BYTES = LIMIT_RECV_BYTES / 2,

	/* Largest request body accepted, where no flag says otherwise. */
	LIMIT_BODY_BYTES = 64 * 1024 * 1024,

	/* Slowest that a peer may send a body or take a response, bytes a second. */
	LIMIT_RATE_BYTES = 1024,

	/*
	 * A body moves in pieces of at most this size; a frame within it is encoded in one piece.
	 */
	LIMIT_CHUNK_BYTES = 16 * 1024,

	/* Queued response bytes at which the policy `coalesce` writes: a buffer of 16 KiB. */
	LIMIT_COALESCE_BYTES = 16 * 1024,

	/* Bytes discarded from a peer that was told of its error, before it is reset. */
	LIMIT_LINGER_BYTES = 1024 * 1024,

	/* Pieces of received bytes that a reader looks at in one go. */
	LIMIT_SPANS = 16,

	/* Requests a load connection may have outstanding. */
	LIMIT_DEPTH_MAX = 1024,

	/*
	 * Files that a worker keeps in memory: the largest, all of them together, their number; and
	 * those that it may have open at a time because they are larger.
	 */
	LIMIT_FILE_KEPT_BYTES = 64 * 1024,
	LIMIT_FILE_STORE_BYTES = 16 * 1024 * 1024,
	LIMIT_FILE_STORE_ENTRIES = 4096,
	LIMIT_FILE_STREAMS = 256,

	/* Connections that a worker's proxy has to each upstream, where its text says no other. */
	LIMIT_UPSTREAM_CONNS = 64,

	/* Memory of a worker's cache likewise, and the least; entries are one for so many bytes. */
	LIMIT_CACHE_BYTES = 64 * 1024 * 1024,
	LIMIT_CACHE_BYTES_MIN = 1024 * 1024,
	LIMIT_CACHE_ENTRY_BYTES = 4096,
};

/* How long a file kept in memory is believed before the folder is asked again, nanoseconds. */
#define LIMIT_FILE_TRUSTED_NS (1000ull * 1000 * 1000)

/*
 * Times of a proxy where its text says nothing else, nanoseconds: to connect, for an upstream to
 * send or take something, and how long one that failed is left out at first.
 */
#define LIMIT_UPSTREAM_CONNECT_NS (1000ull * 1000 * 1000)
#define LIMIT_UPSTREAM_RESPONSE_NS (30ull * 1000 * 1000 * 1000)
#define LIMIT_UPSTREAM_DOWN_NS (250ull * 1000 * 1000)

/* So long a cache's fetch may wait for its own client while others wait for it, nanoseconds. */
#define LIMIT_CACHE_PATIENCE_NS (1000ull * 1000 * 1000)

/* Time that a peer told of its error has to close, nanoseconds. */
#define LIMIT_LINGER_NS (1000ull * 1000 * 1000)

/*
 * Times that a peer has where no flag says otherwise, nanoseconds: for a request's head, for its
 * body, between two requests, and to take a part of a response.
 */
#define LIMIT_HEAD_NS (10ull * 1000 * 1000 * 1000)
#define LIMIT_BODY_NS (30ull * 1000 * 1000 * 1000)
#define LIMIT_IDLE_NS (120ull * 1000 * 1000 * 1000)
#define LIMIT_SEND_NS (30ull * 1000 * 1000 * 1000)

_Static_assert((LIMIT_RECV_BYTES & (LIMIT_RECV_BYTES - 1)) == 0, "rings are powers of two");
_Static_assert((LIMIT_SEND_BYTES & (LIMIT_SEND_BYTES - 1)) == 0, "rings are powers of two");
_Static_assert(LIMIT_RING_MIN_BYTES >= 2 * LIMIT_CHUNK_BYTES,
	       "a chunk and a head fit the memory of a connection");
_Static_assert(LIMIT_RECV_BYTES >= LIMIT_RING_MIN_BYTES && LIMIT_SEND_BYTES >= LIMIT_RING_MIN_BYTES,
	       "the defaults are within their bounds");
_Static_assert(LIMIT_COALESCE_BYTES < LIMIT_SEND_BYTES, "a coalesced write fits the send memory");

#endif
