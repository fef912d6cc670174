/*
 * stream: bytes on their way from one application to the other, each of which can be verified.
 *
 * A stream begins with a head, its index and its length, 4 bytes each; what follows is a function
 * of index and place. So a receiver that knows neither learns both, and finds any byte that is not
 * where it belongs.
 */
#ifndef WEIR_APPS_SIM_STREAM_H
#define WEIR_APPS_SIM_STREAM_H

#include "dataplane/core/span.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { STREAM_HEAD_BYTES = 8 };

struct stream {
	unsigned from;	/* host */
	uint32_t bytes; /* with its head */
	uint32_t written;
	bool claimed;	 /* a receiver has read its head */
	bool whole;	 /* and all of it */
	bool broken;	 /* its connection failed: only a prefix may arrive */
	uint32_t caller; /* who opened its connection: host and port */
	bool aborted;	 /* either application aborted its connection: as if broken */
};

/* The byte at a place behind the head. */
static inline uint8_t stream_byte(int index, uint32_t at)
{
	uint64_t word = ((uint64_t)(unsigned)index << 32 | at >> 3) * 0x9e3779b97f4a7c15u;

	word ^= word >> 29;
	return (uint8_t)(word >> 8 * (at & 7));
}

/* Writes the next `bytes` of a stream into rooms of at least as much. */
static inline void stream_fill(struct stream *stream, int index, const struct room *rooms,
			       unsigned count, uint32_t bytes)
{
	struct room_writer writer = room_writer_of(rooms, count);
	uint8_t head[STREAM_HEAD_BYTES], byte;

	memcpy(head, &index, 4);
	memcpy(head + 4, &stream->bytes, 4);
	for (uint32_t i = 0; i < bytes; i++) {
		uint32_t at = stream->written + i;

		byte = at < STREAM_HEAD_BYTES ? head[at] : stream_byte(index, at);
		room_writer_put(&writer, &byte, 1);
	}
	stream->written += bytes;
}

#endif
