#include "apps/sim/wire.h"

#include "dataplane/core/bytes.h"
#include "dataplane/core/check.h"
#include "stacks/utcp/packet.h"
#include "apps/sim/random.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds in which a bit a second sends a byte. */
#define SECOND_BITS (8ull * 1000 * 1000 * 1000)

enum { SENDER_BEGIN = 6, SENDER_END = 12 }; /* in an Ethernet header */

struct flying {
	uint64_t at_ns;
	uint64_t order; /* breaks ties: first in, first out */
	unsigned to;
	size_t bytes;
	uint8_t *frame;
};

struct wire {
	struct wire_faults faults;
	struct random random;
	struct flying *heap; /* the soonest first */
	unsigned count;
	unsigned room;
	uint64_t order;
	uint64_t free_at_ns[2]; /* when the bottleneck has sent all that waits */
	uint64_t last_at_ns[2]; /* so that jitter alone keeps the order */
	bool tracing;
	FILE *trace;
	char *trace_text;
	size_t trace_bytes;
};

struct wire *wire_create(uint64_t seed, const struct wire_faults *faults)
{
	struct wire *wire = calloc(1, sizeof(*wire));

	CHECK(wire != NULL);
	wire->faults = *faults;
	wire->random.state = seed;
	return wire;
}

void wire_destroy(struct wire *wire)
{
	for (unsigned i = 0; i < wire->count; i++)
		free(wire->heap[i].frame);
	free(wire->heap);
	if (wire->trace)
		fclose(wire->trace);
	free(wire->trace_text);
	free(wire);
}

void wire_set_faults(struct wire *wire, const struct wire_faults *faults)
{
	wire->faults = *faults;
}

static bool sooner(const struct flying *a, const struct flying *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void heap_push(struct wire *wire, struct flying flying)
{
	unsigned at = wire->count++;

	if (wire->count > wire->room) {
		wire->room = wire->room ? 2 * wire->room : 64;
		wire->heap = realloc(wire->heap, wire->room * sizeof(*wire->heap));
		CHECK(wire->heap != NULL);
	}
	while (at > 0 && sooner(&flying, &wire->heap[(at - 1) / 2])) {
		wire->heap[at] = wire->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	wire->heap[at] = flying;
}

static struct flying heap_pop(struct wire *wire)
{
	struct flying first = wire->heap[0], last = wire->heap[--wire->count];
	unsigned at = 0, child;

	while ((child = 2 * at + 1) < wire->count) {
		if (child + 1 < wire->count && sooner(&wire->heap[child + 1], &wire->heap[child]))
			child++;
		if (!sooner(&wire->heap[child], &last))
			break;
		wire->heap[at] = wire->heap[child];
		at = child;
	}
	wire->heap[at] = last;
	return first;
}

/*
 * Damages a copy so that a checksum, or a check of lengths, must find it. The sender's hardware
 * address stays, which only Ethernet's own checksum covers, and that the device has verified.
 */
static void corrupt(struct wire *wire, struct flying *flying)
{
	size_t at = random_below(&wire->random, flying->bytes);

	if (at >= SENDER_BEGIN && at < SENDER_END)
		at = SENDER_END;

	switch (random_below(&wire->random, 3)) {
	case 0:
		flying->frame[at] ^= (uint8_t)(1u << random_below(&wire->random, 8));
		break;
	case 1:
		flying->frame[at] ^= (uint8_t)(1 + random_below(&wire->random, 255));
		break;
	default:
		flying->bytes = at;
		break;
	}
}

/* The ECN field of a frame (RFC 3168 5), 0 for what is not IP. */
static unsigned ecn_of(const uint8_t *frame, size_t bytes)
{
	const uint8_t *ip = frame + ETH_BYTES;

	if (bytes < ETH_BYTES + IP_BYTES)
		return 0;
	switch (bytes_get_be16(frame + ETH_TYPE)) {
	case ETH_TYPE_IPV4:
		return ip[IP_TOS] & IP_CE;
	case ETH_TYPE_IPV6:
		return ip[IP6_CLASS] >> IP6_ECN_SHIFT & IP_CE;
	default:
		return 0;
	}
}

static bool may_be_marked(const uint8_t *frame, size_t bytes)
{
	return ecn_of(frame, bytes) % IP_CE != 0;
}

/* Sets CE, and corrects an IPv4 header's checksum by the difference (RFC 1624, equation 3). */
static void mark(uint8_t *frame)
{
	uint8_t *ip = frame + ETH_BYTES;
	uint32_t sum = (uint16_t)~bytes_get_be16(ip + IP_CHECKSUM);

	if (bytes_get_be16(frame + ETH_TYPE) == ETH_TYPE_IPV6) {
		ip[IP6_CLASS] |= IP_CE << IP6_ECN_SHIFT; /* no checksum covers it */
		return;
	}
	sum += (uint16_t)~bytes_get_be16(ip + IP_VERSION);
	ip[IP_TOS] |= IP_CE;
	sum += bytes_get_be16(ip + IP_VERSION);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	bytes_put_be16(ip + IP_CHECKSUM, (uint16_t)~sum);
}

uint64_t wire_queued(const struct wire *wire, unsigned end, uint64_t now_ns)
{
	uint64_t free_at_ns = wire->free_at_ns[end];

	return free_at_ns > now_ns ? (free_at_ns - now_ns) * wire->faults.bits_per_s / SECOND_BITS
				   : 0;
}

/* Has a frame wait for the bottleneck; false if there is no room for it. */
static bool enter_queue(struct wire *wire, unsigned end, size_t bytes, uint64_t now_ns)
{
	uint64_t *free_at_ns = &wire->free_at_ns[end];

	if (wire->faults.bits_per_s == 0) {
		*free_at_ns = now_ns;
		return true;
	}
	if (wire_queued(wire, end, now_ns) + bytes > wire->faults.queue_bytes)
		return false;
	if (*free_at_ns < now_ns)
		*free_at_ns = now_ns;
	*free_at_ns += bytes * SECOND_BITS / wire->faults.bits_per_s;
	return true;
}

/* Whether a frame that may be marked is: now and then, or for the bottleneck's queue, in which it
 * already waits. */
static bool strikes_mark(struct wire *wire, unsigned end, size_t bytes, uint64_t now_ns)
{
	const struct wire_faults *faults = &wire->faults;

	if (faults->mark_bytes > 0 &&
	    wire_queued(wire, end, now_ns) > (uint64_t)faults->mark_bytes + bytes)
		return true;
	return faults->mark > 0 && random_chance(&wire->random, faults->mark);
}

static void launch(struct wire *wire, unsigned end, const uint8_t *frame, size_t bytes,
		   uint64_t now_ns, const char *fate)
{
	const struct wire_faults *faults = &wire->faults;
	struct flying flying = {.order = wire->order++, .to = 1 - end, .bytes = bytes};
	char text[160];

	flying.at_ns = wire->free_at_ns[end] + faults->delay_ns +
		       random_below(&wire->random, faults->jitter_ns);
	if (random_chance(&wire->random, faults->reorder)) {
		flying.at_ns += random_below(&wire->random, faults->reorder_ns);
		fate = "held back";
	} else {
		if (flying.at_ns < wire->last_at_ns[end])
			flying.at_ns = wire->last_at_ns[end];
		wire->last_at_ns[end] = flying.at_ns;
	}
	flying.frame = malloc(bytes);
	CHECK(flying.frame != NULL);
	memcpy(flying.frame, frame, bytes);
	if (may_be_marked(frame, bytes) && strikes_mark(wire, end, bytes, now_ns)) {
		mark(flying.frame);
		fate = "marked";
	}
	if (random_chance(&wire->random, faults->corrupt)) {
		corrupt(wire, &flying);
		fate = "corrupted";
	}
	if (wire->tracing)
		wire_trace_note(wire, now_ns, "%c > %c  %s  arrives %.6f %s", "AB"[end],
				"AB"[1 - end], wire_describe(frame, bytes, text, sizeof(text)),
				(double)flying.at_ns / 1e9, fate);
	heap_push(wire, flying);
}

void wire_send(struct wire *wire, unsigned end, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	char text[160];

	CHECK(bytes > 0 && bytes <= WIRE_FRAME_MAX);
	if (random_chance(&wire->random, wire->faults.loss) ||
	    !enter_queue(wire, end, bytes, now_ns)) {
		if (wire->tracing)
			wire_trace_note(wire, now_ns, "%c > %c  %s  LOST", "AB"[end], "AB"[1 - end],
					wire_describe(frame, bytes, text, sizeof(text)));
		return;
	}
	launch(wire, end, frame, bytes, now_ns, "");
	if (random_chance(&wire->random, wire->faults.duplicate))
		launch(wire, end, frame, bytes, now_ns, "duplicate");
}

uint64_t wire_next(const struct wire *wire)
{
	return wire->count > 0 ? wire->heap[0].at_ns : UINT64_MAX;
}

size_t wire_receive(struct wire *wire, uint64_t now_ns, uint8_t frame[WIRE_FRAME_MAX],
		    unsigned *end_out)
{
	struct flying flying;

	if (wire_next(wire) > now_ns)
		return 0;
	flying = heap_pop(wire);
	memcpy(frame, flying.frame, flying.bytes);
	free(flying.frame);
	*end_out = flying.to;
	/* A frame cut to nothing still arrives, as the shortest that a caller can be handed. */
	return flying.bytes > 0 ? flying.bytes : 1;
}

unsigned wire_in_flight(const struct wire *wire)
{
	return wire->count;
}

void wire_trace_start(struct wire *wire)
{
	wire->trace = open_memstream(&wire->trace_text, &wire->trace_bytes);
	CHECK(wire->trace != NULL);
	wire->tracing = true;
}

void wire_trace_note(struct wire *wire, uint64_t now_ns, const char *format, ...)
{
	va_list arguments;

	if (!wire->tracing)
		return;
	fprintf(wire->trace, "# %12.6f  ", (double)now_ns / 1e9);
	va_start(arguments, format);
	vfprintf(wire->trace, format, arguments);
	va_end(arguments);
	fputc('\n', wire->trace);
}

void wire_trace_print(const struct wire *wire, FILE *to, unsigned lines)
{
	const char *from;

	if (!wire->tracing)
		return;
	fflush(wire->trace);
	from = wire->trace_text + wire->trace_bytes;
	while (from > wire->trace_text && (from[-1] != '\n' || lines-- > 0))
		from--;
	fputs(from, to);
}
