#include "stacks/utcp/calls.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/cookies.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/seq.h"

#define FIRST_WAIT_NS (1000ull * 1000 * 1000) /* RFC 6298 2.1 */

/* A cookie is good until the end of the period after its own. */
#define COOKIE_LIFE_NS (2ull << COOKIES_PERIOD_SHIFT)

/* What comes with another number than the cookie was made for may only have overtaken the segment
 * with the right one, or answer a second SYN-ACK. For so long after the last cookie it is not
 * refused with a RST, which would end an honest call; later, who was forgotten is told. */
#define OVERTAKING_NS (3000ull * 1000 * 1000)

int calls_create(struct calls *calls, uint32_t max)
{
	list_init(&calls->out);
	for (unsigned tries = 0; tries <= CALLS_TRIES; tries++)
		list_init(&calls->waiting[tries]);
	return ends_table_create(&calls->table, max, sizeof(struct call));
}

void calls_destroy(struct calls *calls)
{
	ends_table_destroy(&calls->table);
}

/* Its SYN-ACK is to leave with this turn's output. */
static void answer(struct calls *calls, struct call *call)
{
	list_remove(&call->entry.link);
	list_push(&calls->out, &call->entry.link);
}

static void forget(struct utcp *utcp, struct call *call)
{
	list_remove(&call->entry.link);
	ends_table_remove(&utcp->calls.table, &utcp->tuples, &call->entry);
}

/* --- SYN-ACK --------------------------------------------------------------------------------- */

/* What the peer may send before it heard more than our SYN-ACK, whose window is not scaled (RFC
 * 7323 2.2): the connection will say the same. */
static uint32_t first_window(const struct utcp *utcp)
{
	return utcp->config.recv_bytes < UINT16_MAX ? utcp->config.recv_bytes : UINT16_MAX;
}

/* Builds one, never with data: they would stand at the SYN's number. What the SYN did not offer is
 * not agreed to (RFC 7323 2.2, 3.2; RFC 2018 2; RFC 3168 6.1.1). */
static size_t build(struct utcp *utcp, uint8_t *frame, const struct segment_head *head,
		    const struct segment *syn, const struct cookie *numbers)
{
	struct options_syn options = {.mss = segment_head_mss(head, utcp->config.mtu),
				      .scale = syn->scale_given ? (int8_t)open_own_scale(utcp) : -1,
				      .sack = syn->sack_permitted && !utcp->config.sack_off,
				      .times = syn->has_times && !utcp->config.timestamps_off,
				      .times_value = numbers->times_value,
				      .times_echo = syn->times_value};
	struct segment_fields fields = {.seq = numbers->iss,
					.ack = syn->seq + 1,
					.window = (uint16_t)first_window(utcp),
					.flags = TCP_SYN | TCP_ACKS |
						 ecn_answer_flags(utcp, syn->flags)};

	fields.options_bytes =
		(uint16_t)options_put_syn(frame + segment_head_bytes(head), &options);
	utcp->counters.out_segments++;
	return segment_seal(head, frame, &fields);
}

/* The SYN as it came, but for its ends. */
static struct segment syn_of(const struct call *call)
{
	return (struct segment){.seq = call->irs,
				.flags = call->flags,
				.window = call->window,
				.mss = call->mss,
				.scale_given = call->scale_given,
				.scale = call->scale,
				.sack_permitted = call->sack_permitted,
				.has_times = call->has_times,
				.times_value = call->times_value};
}

/* A call's SYN-ACK, once more. */
static size_t build_again(struct utcp *utcp, struct call *call, uint8_t *frame, uint64_t now_ns)
{
	struct cookie numbers = {.iss = call->iss,
				 .times_value = call->times_offset +
						(uint32_t)(now_ns >> TIMES_TICK_SHIFT)};
	struct segment syn = syn_of(call);
	struct segment_head head;

	segment_head_init(&head, utcp->config.mac, call->mac, &call->entry.ends);
	utcp->counters.retransmits += call->sendings > 0;
	if (call->sendings < UINT8_MAX)
		call->sendings++;
	return build(utcp, frame, &head, &syn, &numbers);
}

size_t calls_output(struct utcp *utcp, uint8_t *frame, uint64_t now_ns)
{
	struct list *link = list_pop(&utcp->calls.out);
	struct call *call;

	if (!link)
		return 0;
	call = list_member(link, struct call, entry.link);
	call->sent_at_ns = now_ns;
	list_push(&utcp->calls.waiting[call->tries], &call->entry.link);
	return build_again(utcp, call, frame, now_ns);
}

/* --- SYN ------------------------------------------------------------------------------------- */

static void keep_syn(struct call *call, const struct segment *syn)
{
	call->irs = syn->seq;
	call->flags = syn->flags;
	call->window = syn->window;
	call->mss = syn->mss;
	call->scale_given = syn->scale_given;
	call->scale = syn->scale_given ? syn->scale : 0;
	call->sack_permitted = syn->sack_permitted;
	call->has_times = syn->has_times;
	call->times_value = syn->times_value;
	memcpy(call->mac, syn->frame + ETH_SOURCE, MAC_BYTES);
}

/* A SYN without a place: its answer is all that we remember it by. */
static void answer_with_cookie(struct utcp *utcp, const struct segment *segment,
			       const struct segment_ends *ends, uint64_t now_ns)
{
	struct open_numbers numbers = open_numbers(utcp, ends, now_ns);
	uint32_t clock = numbers.times_offset + (uint32_t)(now_ns >> TIMES_TICK_SHIFT);
	struct cookie cookie = cookies_make(utcp, segment, clock, now_ns);
	uint8_t *frame = answers_reserve(&utcp->answers);
	struct segment syn = *segment;
	struct segment_head head;

	if (!frame) {
		utcp->counters.out_lost++;
		return;
	}
	syn.flags = TCP_SYN;
	if (!syn.has_times || utcp->config.timestamps_off)
		syn.scale_given = syn.sack_permitted = false;
	segment_head_init(&head, utcp->config.mac, segment->frame + ETH_SOURCE, ends);
	answers_commit(&utcp->answers, build(utcp, frame, &head, &syn, &cookie));
	utcp->calls.cookies_until_ns = now_ns + COOKIE_LIFE_NS;
	utcp->calls.overtaking_until_ns = now_ns + OVERTAKING_NS;
	utcp->counters.cookies_sent++;
}

/* A new call; NULL if all places are taken. */
static struct call *begin(struct utcp *utcp, const struct segment *segment,
			  const struct segment_ends *ends, uint64_t now_ns)
{
	struct call *call = ends_table_add(&utcp->calls.table, &utcp->tuples, ends);
	struct open_numbers numbers;

	if (!call)
		return NULL;
	keep_syn(call, segment);
	numbers = open_numbers(utcp, ends, now_ns);
	call->iss = numbers.iss;
	call->times_offset = numbers.times_offset;
	answer(&utcp->calls, call);
	utcp->counters.calls_kept++;
	return call;
}

static enum calls_answer take_syn(struct utcp *utcp, const struct segment *segment,
				  const struct segment_ends *ends, uint64_t now_ns)
{
	if (!utcp_has_room(utcp))
		return CALLS_FULL;
	utcp->counters.scales_cut += segment->scale_steep; /* RFC 7323 2.3 */
	if (!begin(utcp, segment, ends, now_ns))
		answer_with_cookie(utcp, segment, ends, now_ns);
	return CALLS_TAKEN;
}

bool calls_reopen(struct utcp *utcp, const struct segment *segment, uint32_t old_end,
		  uint64_t now_ns)
{
	struct segment_ends ends = segment_ends(segment);
	struct call *call = NULL;

	if (utcp_has_room(utcp))
		call = begin(utcp, segment, &ends, now_ns);
	if (!call)
		return false;
	utcp->counters.scales_cut += segment->scale_steep;
	if (!seq_after(call->iss, old_end))
		call->iss = old_end + 1;
	return true;
}

/* The same SYN again: the peer has not seen our answer. It gets one beside those that time brings,
 * so that no number of SYNs keeps the place for longer. */
static void take_syn_again(struct utcp *utcp, struct call *call, const struct segment *segment,
			   uint64_t now_ns)
{
	uint8_t *frame;

	memcpy(call->mac, segment->frame + ETH_SOURCE, MAC_BYTES);
	if (!(segment->flags & TCP_ECE)) /* RFC 3168 6.1.1: called again without */
		call->flags = segment->flags;
	if (call->sendings == 0) /* the first leaves with this turn's output */
		return;
	frame = answers_reserve(&utcp->answers);
	if (frame)
		answers_commit(&utcp->answers, build_again(utcp, call, frame, now_ns));
	else
		utcp->counters.out_lost++;
}

/* An ACK of what is known, to what cannot be right (RFC 9293 3.10.7.4, RFC 5961 3.2 and 4.2): a
 * peer that began anew resets the call, a forger gains nothing. */
static void challenge(struct utcp *utcp, struct call *call, uint64_t now_ns)
{
	struct segment_fields fields = {.seq = call->iss + 1,
					.ack = call->irs + 1,
					.window = (uint16_t)first_window(utcp),
					.flags = TCP_ACKS};
	uint32_t clock;
	struct segment_head head;
	uint8_t *frame;

	if (!challenge_allowed(utcp, &call->challenges, now_ns))
		return;
	frame = answers_reserve(&utcp->answers);
	if (!frame) {
		utcp->counters.out_lost++;
		return;
	}
	segment_head_init(&head, utcp->config.mac, call->mac, &call->entry.ends);
	if (call->has_times && !utcp->config.timestamps_off) {
		clock = call->times_offset + (uint32_t)(now_ns >> TIMES_TICK_SHIFT);
		options_put_times(frame + segment_head_bytes(&head), clock, call->times_value);
		fields.options_bytes = OPTIONS_TIMES_BYTES;
	}
	if (call->scale_given)
		fields.window = (uint16_t)(first_window(utcp) >> open_own_scale(utcp));
	answers_commit(&utcp->answers, segment_seal(&head, frame, &fields));
	utcp->counters.out_segments++;
	utcp->counters.challenge_acks++;
}

/* --- ACK and RST ----------------------------------------------------------------------------- */

static struct utcp_conn *complete(struct utcp *utcp, const struct call *call,
				  const struct segment *segment, uint64_t now_ns)
{
	struct open_handshake shake = {.syn = syn_of(call),
				       .iss = call->iss,
				       .lost = call->tries > 0,
				       .timed = call->sendings == 1,
				       .sent_at_ns = call->sent_at_ns};

	tcp_note_stall(utcp, now_ns); /* this call may be all that was late */
	return open_accepted(utcp, &shake, segment, now_ns);
}

static enum calls_answer take_cookie(struct utcp *utcp, const struct segment *segment,
				     uint64_t now_ns, struct utcp_conn **conn_out)
{
	struct open_handshake shake = {.iss = segment->ack - 1};
	struct utcp_conn *conn;

	if (now_ns >= utcp->calls.cookies_until_ns)
		return CALLS_STRANGER;
	if (!cookies_read(utcp, segment, now_ns, &shake.syn)) {
		utcp->counters.cookies_refused++;
		return now_ns < utcp->calls.overtaking_until_ns ? CALLS_TAKEN : CALLS_STRANGER;
	}
	conn = open_accepted(utcp, &shake, segment, now_ns);
	if (!conn)
		return CALLS_FULL;
	utcp->counters.cookies_accepted++;
	*conn_out = conn;
	return CALLS_OPENED;
}

/* What does not acknowledge the call's SYN-ACK may acknowledge the cookie that an earlier copy of
 * its SYN was answered with, when there was no place. */
static enum calls_answer take_cookie_beside(struct utcp *utcp, struct call *call,
					    const struct segment *segment, uint64_t now_ns,
					    struct utcp_conn **conn_out)
{
	enum calls_answer answer = take_cookie(utcp, segment, now_ns, conn_out);

	if (answer == CALLS_OPENED)
		forget(utcp, call);
	return answer;
}

static enum calls_answer take_ack(struct utcp *utcp, struct call *call,
				  const struct segment *segment, uint64_t now_ns,
				  struct utcp_conn **conn_out)
{
	struct utcp_conn *conn;

	if (segment->ack != call->iss + 1)
		return take_cookie_beside(utcp, call, segment, now_ns, conn_out);
	conn = complete(utcp, call, segment, now_ns);
	if (!conn) /* the call waits on: its SYN-ACK asks the peer again */
		return CALLS_FULL;
	forget(utcp, call);
	*conn_out = conn;
	return CALLS_OPENED;
}

/* RFC 7323 3.2 and 5.3; false if the segment is done with. */
static bool step_times(struct utcp *utcp, struct call *call, const struct segment *segment,
		       uint64_t now_ns)
{
	if (!call->has_times || utcp->config.timestamps_off || segment->flags & (TCP_RST | TCP_SYN))
		return true;
	if (!segment->has_times) {
		utcp->counters.times_missing++;
		return false;
	}
	if (!seq_before(segment->times_value, call->times_value))
		return true;
	utcp->counters.times_old++;
	challenge(utcp, call, now_ns);
	return false;
}

/* RFC 9293 3.10.7.4 for SYN-RECEIVED, all that can go wrong before the connection is made. */
static enum calls_answer input_call(struct utcp *utcp, struct call *call,
				    const struct segment *segment, uint64_t now_ns,
				    struct utcp_conn **conn_out)
{
	uint8_t kind = segment->flags & (TCP_SYN | TCP_ACKS | TCP_RST);

	if (kind == TCP_SYN && segment->seq == call->irs) {
		take_syn_again(utcp, call, segment, now_ns);
	} else if (!step_times(utcp, call, segment, now_ns)) {
		return CALLS_TAKEN;
	} else if (!segment_is_acceptable(segment, call->irs + 1, first_window(utcp))) {
		utcp->counters.old_segments++;
		if (!(kind & TCP_RST))
			challenge(utcp, call, now_ns);
	} else if (kind & TCP_RST && segment->seq == call->irs + 1) { /* RFC 5961 3.2 */
		forget(utcp, call);
	} else if (kind & (TCP_RST | TCP_SYN)) {
		challenge(utcp, call, now_ns);
	} else if (kind & TCP_ACKS) {
		return take_ack(utcp, call, segment, now_ns, conn_out);
	}
	return CALLS_TAKEN;
}

enum calls_answer calls_input(struct utcp *utcp, const struct segment *segment, uint64_t now_ns,
			      struct utcp_conn **conn_out)
{
	struct segment_ends ends = segment_ends(segment);
	struct call *call = ends_table_find(&utcp->calls.table, &utcp->tuples, &ends);
	uint8_t kind = segment->flags & (TCP_SYN | TCP_ACKS | TCP_RST);

	if (call)
		return input_call(utcp, call, segment, now_ns, conn_out);
	if (kind == TCP_SYN)
		return take_syn(utcp, segment, &ends, now_ns);
	if (kind == TCP_ACKS)
		return take_cookie(utcp, segment, now_ns, conn_out);
	/* Of the rest a listener answers what has an ACK and is no RST. */
	return kind == (TCP_SYN | TCP_ACKS) ? CALLS_STRANGER : CALLS_TAKEN;
}

/* --- time ------------------------------------------------------------------------------------ */

static uint64_t due_at(const struct call *call)
{
	return call->sent_at_ns + (FIRST_WAIT_NS << call->tries);
}

/* The first of a list, or NULL. */
static struct call *first_of(const struct list *list)
{
	return list_empty(list) ? NULL : list_member(list->next, struct call, entry.link);
}

static void time_out(struct utcp *utcp, struct call *call)
{
	utcp->counters.timeouts++;
	if (call->tries == CALLS_TRIES) {
		utcp->counters.calls_expired++;
		forget(utcp, call);
		return;
	}
	call->tries++;
	answer(&utcp->calls, call);
}

void calls_advance(struct utcp *utcp, uint64_t now_ns)
{
	unsigned left = CALLS_RESENT_A_TURN;

	if (utcp->calls.table.slab.in_use == 0)
		return;
	for (unsigned tries = 0; tries <= CALLS_TRIES; tries++) {
		struct call *call;

		while (left > 0 && (call = first_of(&utcp->calls.waiting[tries])) &&
		       now_ns >= due_at(call)) {
			time_out(utcp, call);
			left--;
		}
	}
}

uint64_t calls_deadline(const struct calls *calls)
{
	uint64_t soonest = UINT64_MAX;

	if (calls->table.slab.in_use == 0)
		return soonest;
	for (unsigned tries = 0; tries <= CALLS_TRIES; tries++) {
		const struct call *call = first_of(&calls->waiting[tries]);

		if (call && due_at(call) < soonest)
			soonest = due_at(call);
	}
	return soonest;
}

/* Whether each of a list is found by its ends; their number. */
static uint32_t check_list(const struct utcp *utcp, const struct list *list)
{
	uint32_t count = 0;

	for (const struct list *link = list->next; link != list; link = link->next) {
		const struct call *call = list_member(link, const struct call, entry.link);

		CHECK(ends_table_find(&utcp->calls.table, &utcp->tuples, &call->entry.ends) ==
		      call);
		CHECK(!tuples_find(&utcp->tuples, &utcp->conns, &call->entry.ends));
		CHECK(call->tries <= CALLS_TRIES);
		count++;
	}
	return count;
}

void calls_check(const struct utcp *utcp)
{
	uint32_t count = check_list(utcp, &utcp->calls.out);

	for (unsigned tries = 0; tries <= CALLS_TRIES; tries++)
		count += check_list(utcp, &utcp->calls.waiting[tries]);
	CHECK(count == utcp->calls.table.slab.in_use);
}
