/*
 * wire: a simulated link between two ends, with seeded faults and a clock that is an argument.
 *
 * Frames put in at one end come out at the other, later, perhaps never, twice, changed, marked, or
 * in another order; or they wait for each other at a bottleneck. What happens is decided by the
 * seed alone, so that the same calls see the same faults. A trace of what happened to each frame
 * can be kept for people to read.
 */
#ifndef WEIR_APPS_SIM_WIRE_H
#define WEIR_APPS_SIM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { WIRE_FRAME_MAX = 9100 };

/* How often a frame suffers what, in thousandths, and how long it travels. */
struct wire_faults {
	unsigned loss;
	unsigned duplicate;
	unsigned
		corrupt; /* one bit, one byte, or the tail cut off: all that a checksum must find */
	unsigned reorder; /* held back by up to reorder_ns */
	unsigned mark;	  /* says that it met congestion (RFC 3168), if it may be told so */
	uint64_t reorder_ns;
	uint64_t delay_ns;
	uint64_t jitter_ns; /* added, and order is kept unless `reorder` strikes */

	/* A bottleneck: frames of one direction wait for each other. */
	uint64_t bits_per_s;  /* 0: none */
	uint32_t queue_bytes; /* a frame that would make more wait is lost */
	uint32_t mark_bytes;  /* one that finds more waiting is marked, if it may be; 0: never */
};

struct wire;

struct wire *wire_create(uint64_t seed, const struct wire_faults *faults);
void wire_destroy(struct wire *wire);

/* From now on other faults; frames under way stay as they are. */
void wire_set_faults(struct wire *wire, const struct wire_faults *faults);

/* Puts a frame in at `end` (0 or 1). */
void wire_send(struct wire *wire, unsigned end, const uint8_t *frame, size_t bytes,
	       uint64_t now_ns);

/* When the next frame comes out, at whichever end; UINT64_MAX if none is under way. */
uint64_t wire_next(const struct wire *wire);

/* Takes the next frame that is due: its length and where it comes out, or 0. */
size_t wire_receive(struct wire *wire, uint64_t now_ns, uint8_t frame[WIRE_FRAME_MAX],
		    unsigned *end_out);

/* Bytes that wait for the bottleneck behind `end`. */
uint64_t wire_queued(const struct wire *wire, unsigned end, uint64_t now_ns);

/* Frames under way. */
unsigned wire_in_flight(const struct wire *wire);

/* Keeps a readable line for each frame put in. */
void wire_trace_start(struct wire *wire);

/* Adds a line of the caller's to the trace. */
void wire_trace_note(struct wire *wire, uint64_t now_ns, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes the last `lines` of the trace. */
void wire_trace_print(const struct wire *wire, FILE *to, unsigned lines);

/* One line that says what a frame is. Returns `text`. */
const char *wire_describe(const uint8_t *frame, size_t bytes, char *text, size_t text_bytes);

#endif
