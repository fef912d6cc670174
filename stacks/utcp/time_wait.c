#include "stacks/utcp/time_wait.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/seq.h"

int time_waits_create(struct time_waits *waits, uint32_t max)
{
	list_init(&waits->out);
	list_init(&waits->waiting);
	return ends_table_create(&waits->table, max, sizeof(struct time_wait));
}

void time_waits_destroy(struct time_waits *waits)
{
	ends_table_destroy(&waits->table);
}

struct time_wait *time_waits_find(const struct utcp *utcp, const struct segment_ends *ends)
{
	if (utcp->time_waits.table.slab.in_use == 0)
		return NULL;
	return ends_table_find(&utcp->time_waits.table, &utcp->tuples, ends);
}

static void forget(struct utcp *utcp, struct time_wait *old)
{
	list_remove(&old->entry.link);
	ends_table_remove(&utcp->time_waits.table, &utcp->tuples, &old->entry);
}

/* The first of a list, or NULL. */
static struct time_wait *first_of(const struct list *list)
{
	return list_empty(list) ? NULL : list_member(list->next, struct time_wait, entry.link);
}

/* Its ACK is to leave with this turn's output. */
static void answer(struct utcp *utcp, struct time_wait *old)
{
	list_remove(&old->entry.link);
	list_push(&utcp->time_waits.out, &old->entry.link);
}

static void give_way(struct utcp *utcp)
{
	struct time_wait *oldest = first_of(&utcp->time_waits.waiting);

	if (!oldest) /* more began in this turn than there are places */
		oldest = first_of(&utcp->time_waits.out);
	CHECK(oldest != NULL);
	forget(utcp, oldest);
	utcp->counters.time_waits_cut++;
}

void time_waits_add(struct utcp *utcp, const struct utcp_conn *conn, uint64_t now_ns)
{
	struct segment_ends ends = segment_head_ends(&conn->head);
	struct time_waits *waits = &utcp->time_waits;
	struct time_wait *old;

	if (waits->table.slab.in_use == waits->table.slab.count)
		give_way(utcp);
	old = ends_table_add(&waits->table, &utcp->tuples, &ends);
	CHECK(old != NULL);
	old->ends_at_ns = now_ns + utcp->config.time_wait_ns;
	old->snd_nxt = conn->snd_max;
	old->snd_oldest = conn->snd_una - conn->snd_wnd_max;
	old->rcv_nxt = conn->rcv_nxt;
	old->window = conn_window(conn);
	old->times = conn->times;
	old->challenges = conn->challenges;
	memcpy(old->mac, conn->head.bytes + ETH_DESTINATION, MAC_BYTES);
	old->rcv_scale = conn->rcv_scale;
	list_push(conn->ack_now || conn->rcv_acked != conn->rcv_nxt ? &waits->out : &waits->waiting,
		  &old->entry.link);
}

size_t time_waits_output(struct utcp *utcp, uint8_t *frame, uint64_t now_ns)
{
	struct time_wait *old = first_of(&utcp->time_waits.out);
	struct segment_fields fields = {.flags = TCP_ACKS};
	struct segment_head head;
	uint32_t field;

	if (!old)
		return 0;
	list_remove(&old->entry.link);
	list_push(&utcp->time_waits.waiting, &old->entry.link);
	field = old->window >> old->rcv_scale;
	fields.seq = old->snd_nxt;
	fields.ack = old->rcv_nxt;
	fields.window = (uint16_t)(field < UINT16_MAX ? field : UINT16_MAX);
	segment_head_init(&head, utcp->config.mac, old->mac, &old->entry.ends);
	if (old->times.on) {
		options_put_times(frame + segment_head_bytes(&head), times_now(&old->times, now_ns),
				  old->times.recent);
		fields.options_bytes = OPTIONS_TIMES_BYTES;
	}
	utcp->counters.out_segments++;
	utcp->counters.out_acks++;
	return segment_seal(&head, frame, &fields);
}

/* --- segments -------------------------------------------------------------------------------- */

/*
 * Whether a segment is a SYN that cannot be an old one's duplicate (RFC 6191 2). Timestamps decide
 * where both have them and they differ; a peer that has taken them up since has begun anew; for all
 * others it is the number, beyond all that the old connection had.
 */
static bool reopens(const struct utcp *utcp, const struct time_wait *old,
		    const struct segment *segment)
{
	bool has_times = segment->has_times && !utcp->config.timestamps_off;

	if ((segment->flags & (TCP_SYN | TCP_ACKS | TCP_RST)) != TCP_SYN ||
	    !utcp_listens(utcp, segment->own_port))
		return false;
	if (has_times && !old->times.on)
		return true;
	if (has_times && segment->times_value != old->times.recent)
		return seq_after(segment->times_value, old->times.recent);
	return !seq_before(segment->seq, old->rcv_nxt);
}

/* The old connection stays where there is no room for the new: its SYN comes again. */
static bool reopen(struct utcp *utcp, struct time_wait *old, const struct segment *segment,
		   uint64_t now_ns)
{
	if (!calls_reopen(utcp, segment, old->snd_nxt, now_ns))
		return false;
	utcp->counters.reopened++;
	forget(utcp, old);
	return true;
}

/* What can be no part of the old connection, or comes from who has lost it (RFC 5961). */
static void challenge(struct utcp *utcp, struct time_wait *old, uint64_t now_ns)
{
	if (!challenge_allowed(utcp, &old->challenges, now_ns))
		return;
	utcp->counters.challenge_acks++;
	answer(utcp, old);
}

/* As on a connection: data sent again needs its ACK, the rest gets a bounded number. */
static void answer_unacceptable(struct utcp *utcp, struct time_wait *old,
				const struct segment *segment, uint64_t now_ns)
{
	if (segment->flags & TCP_SYN
		    ? challenge_allowed(utcp, &old->challenges, now_ns)
		    : segment->bytes > 0 ||
			      challenge_answer_allowed(utcp, &old->challenges, now_ns))
		answer(utcp, old);
}

/* RFC 7323 3.2 and 5.3; false if the segment is done with. */
static bool step_times(struct utcp *utcp, struct time_wait *old, const struct segment *segment,
		       uint64_t now_ns)
{
	if (!old->times.on || segment->flags & TCP_RST)
		return true;
	if (!segment->has_times) {
		if (segment->flags & TCP_SYN)
			return true;
		utcp->counters.times_missing++;
		return false;
	}
	if (!times_is_old(&old->times, segment, now_ns))
		return true;
	utcp->counters.times_old++;
	answer_unacceptable(utcp, old, segment, now_ns);
	return false;
}

/* First, the number. The peer's FIN again says that our ACK of it was lost: the wait begins anew
 * (the eighth step), and goes to where the peer now is. */
static bool step_sequence(struct utcp *utcp, struct time_wait *old, const struct segment *segment,
			  uint64_t now_ns)
{
	if (segment_is_acceptable(segment, old->rcv_nxt, old->window))
		return true;
	utcp->counters.old_segments++;
	if (segment->flags & TCP_RST)
		return false;
	if (segment->flags & TCP_FIN && segment->seq + segment_length(segment) == old->rcv_nxt) {
		old->ends_at_ns = now_ns + utcp->config.time_wait_ns;
		memcpy(old->mac, segment->frame + ETH_SOURCE, MAC_BYTES);
	}
	answer_unacceptable(utcp, old, segment, now_ns);
	return false;
}

bool time_waits_input(struct utcp *utcp, struct time_wait *old, const struct segment *segment,
		      uint64_t now_ns)
{
	if (reopens(utcp, old, segment))
		return reopen(utcp, old, segment, now_ns);
	if (!step_times(utcp, old, segment, now_ns) || !step_sequence(utcp, old, segment, now_ns))
		return true;
	if (segment->flags & TCP_RST) /* RFC 1337 3: no assassination */
		return true;
	if (segment->flags & TCP_SYN)
		challenge(utcp, old, now_ns);
	else if (!(segment->flags & TCP_ACKS))
		return true;
	else if (seq_within(segment->ack, old->snd_oldest, old->snd_nxt))
		times_take(&old->times, segment, old->rcv_nxt, now_ns);
	else
		challenge(utcp, old, now_ns); /* RFC 5961 5.2 */
	return true;
}

/* --- time ------------------------------------------------------------------------------------ */

void time_waits_advance(struct utcp *utcp, uint64_t now_ns)
{
	struct time_wait *old;

	for (unsigned left = TIME_WAITS_ENDED_A_TURN; left > 0; left--) {
		old = first_of(&utcp->time_waits.waiting);
		if (!old || now_ns < old->ends_at_ns)
			return;
		forget(utcp, old);
	}
}

uint64_t time_waits_deadline(const struct time_waits *waits)
{
	const struct time_wait *first = first_of(&waits->waiting);

	return first ? first->ends_at_ns : UINT64_MAX;
}

/* Whether each of a list is found by its ends, and nothing else is; their number. */
static uint32_t check_list(const struct utcp *utcp, const struct list *list)
{
	uint32_t count = 0;

	for (const struct list *link = list->next; link != list; link = link->next) {
		const struct time_wait *old = list_member(link, const struct time_wait, entry.link);
		const struct segment_ends *ends = &old->entry.ends;

		CHECK(time_waits_find(utcp, ends) == old);
		CHECK(!tuples_find(&utcp->tuples, &utcp->conns, ends));
		CHECK(!ends_table_find(&utcp->calls.table, &utcp->tuples, ends));
		CHECK(old->times.on || old->times.recent == 0);
		CHECK(old->window <= utcp->config.recv_bytes);
		CHECK(old->challenges.taken <= CHALLENGES_CONN_MAX);
		count++;
	}
	return count;
}

void time_waits_check(const struct utcp *utcp)
{
	uint32_t count = check_list(utcp, &utcp->time_waits.out) +
			 check_list(utcp, &utcp->time_waits.waiting);

	CHECK(count == utcp->time_waits.table.slab.in_use);
}
