/*
 * fetch: what a cache fetches of its upstreams, once for all that ask for the same meanwhile.
 *
 * Private to cache (cache.c tells the story): who leads a fetch and who is joined to it, what is
 * kept of it, and how long others wait for the leader's client.
 *
 * Plane: turn.
 */
#ifndef WEIR_HANDLERS_FETCH_H
#define WEIR_HANDLERS_FETCH_H

#include "dataplane/handlers/proxied.h"
#include "dataplane/handlers/store.h"
#include "dataplane/proto/http1_date.h"

enum {
	FETCH_KEY_BYTES = 2048, /* a longer one is passed on */
	FETCH_AGE_BYTES = 32,	/* "Age: N" and its end, behind the fields that are kept */
};

/* An answer in the store: its fields, then its body. */
struct fetch_kept {
	struct store_entry entry;
	bool whole;
	uint32_t fields_bytes;
	uint64_t lifetime_ns;
	uint64_t age_seconds; /* when it was sent to us */
	uint64_t asked_ns;    /* when its fetch began; it is no younger than that */
	char date[HTTP1_DATE_BYTES];

	/* Until it is whole. */
	struct fetch_asking *leader; /* whose fetch it is */
	struct list joined;	     /* those that wait for it */
	struct list stalled;	     /* in the fetch's list while its client takes nothing */
	uint64_t stalled_ns;	     /* since then, */
	uint64_t dawdled_ns;	     /* and for so long in all before */
};

enum fetch_state {
	FETCH_ASK,	/* who answers is to be decided */
	FETCH_UPSTREAM, /* fetches of the upstreams */
	FETCH_JOINED,	/* waits for another's fetch */
	FETCH_HIT,	/* is to be answered from the store */
	FETCH_SEND,	/* is being answered from it */
	FETCH_STATE_COUNT,
};

/* An exchange's state. */
struct fetch_asking {
	struct proxied_tap tap; /* first */
	struct fetch *fetch;
	struct exchange *exchange;
	enum fetch_state state;
	struct proxied *proxied; /* UPSTREAM, JOINED */
	struct fetch_kept *kept; /* pinned: UPSTREAM: being filled, or NULL; HIT, SEND: answers */
	struct store_cursor cursor;
	struct list joined; /* in the kept's list, or none */
	struct list timed;  /* JOINED: in the fetch's list, by deadline */
	uint64_t due_ns;
	bool may_lead; /* others may wait for its fetch */
	bool changes;  /* the method is not safe: what is kept may be wrong behind it */
	uint32_t key_bytes;
	uint8_t key[FETCH_KEY_BYTES];
};

/* All that is fetched and kept; whoever embeds it fills what stands first. */
struct fetch {
	struct conn_world *world;
	struct store store;
	uint64_t ttl_ns;
	uint64_t join_ns;      /* so long anybody waits for another's fetch */
	uint64_t answer_bytes; /* the largest that is kept */
	/* Its own, by fetch_init. */
	uint64_t evicted;    /* of the store's, already counted */
	struct list waiting; /* of those joined */
	struct list stalled; /* of struct fetch_kept, by time */
};

void fetch_init(struct fetch *fetch);

/* Alone writes an asking's state. */
void fetch_set_state(struct fetch_asking *asking, enum fetch_state to);

/* What is kept under the key, if it is still fresh or being fetched at some pace; else NULL. */
struct fetch_kept *fetch_find(struct fetch *fetch, struct span key);

/* Answers from the store, in which it is pinned from now on. */
void fetch_hit(struct fetch_asking *asking, struct fetch_kept *kept);

/* Waits for another's fetch, and waits no longer. */
void fetch_join(struct fetch_asking *asking, struct fetch_kept *kept);
void fetch_leave(struct fetch_asking *asking);

/* Fetches, if it may for all that ask for the same until it has come. */
void fetch_lead(struct fetch_asking *asking);

/* What the leader fetched is whole, or will not be kept; whoever was joined goes on. */
void fetch_end(struct fetch_asking *asking, bool whole);

/* Notes whether the leader's fetch waits for its client. */
void fetch_watch_pace(struct fetch_asking *asking);

/* Keeps what is passed on: an asking's tap. */
extern const struct proxied_tap fetch_tap;

/* CHECK the invariants of all, and of one exchange, for tests; between turns. */
void fetch_check_all(const struct fetch *fetch);
void fetch_check(const struct fetch_asking *asking);

/* Ends waits that were too long; when the next one is. */
uint64_t fetch_upkeep(struct fetch *fetch, uint64_t now_ns);

#endif
