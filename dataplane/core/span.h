/*
 * span: lent bytes, in one or more pieces.
 *
 * A span never owns. `struct span` lends bytes to read, `struct room` lends bytes to fill; each is
 * valid until the call that its lender names. A span_reader walks an array of spans as if they were
 * one run of bytes, a room_writer fills an array of rooms. Both live on the stack for one visit to
 * a connection.
 *
 * Plane: turn. No call allocates or fails; asking for more than there is, is the caller's bug
 * (ASSERT).
 */
#ifndef WEIR_CORE_SPAN_H
#define WEIR_CORE_SPAN_H

#include "dataplane/core/check.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const uint8_t *base;
	size_t bytes;
};

struct room {
	uint8_t *base;
	size_t bytes;
};

struct span_reader {
	const struct span *span; /* the piece being read */
	size_t offset;		 /* bytes of it already read */
	size_t left;		 /* bytes not yet read, over all pieces */
};

struct room_writer {
	const struct room *room; /* the piece being filled */
	size_t offset;		 /* bytes of it already filled */
	size_t left;		 /* bytes not yet filled, over all pieces */
};

/* A reader over `count` pieces; `spans` must outlive it. */
static inline struct span_reader span_reader_of(const struct span *spans, unsigned count)
{
	struct span_reader reader = {.span = spans};

	for (unsigned i = 0; i < count; i++)
		reader.left += spans[i].bytes;
	return reader;
}

/* The bytes that stand in one piece at the reader's place: empty only at the end. */
static inline struct span span_reader_piece(struct span_reader *reader)
{
	if (reader->left == 0)
		return (struct span){0};
	while (reader->offset == reader->span->bytes) {
		reader->span++;
		reader->offset = 0;
	}
	return (struct span){reader->span->base + reader->offset,
			     reader->span->bytes - reader->offset};
}

/* Passes over `bytes` of the current piece. */
static inline void span_reader_pass(struct span_reader *reader, size_t bytes)
{
	ASSERT(bytes <= reader->left && reader->offset + bytes <= reader->span->bytes);
	reader->offset += bytes;
	reader->left -= bytes;
}

/* Passes over `bytes` of what is left. */
static inline void span_reader_skip(struct span_reader *reader, size_t bytes)
{
	ASSERT(bytes <= reader->left);
	while (bytes > 0) {
		size_t piece = span_reader_piece(reader).bytes;
		size_t step = piece < bytes ? piece : bytes;

		span_reader_pass(reader, step);
		bytes -= step;
	}
}

/* Copies the next `bytes` to `to` and passes over them. */
static inline void span_reader_copy(struct span_reader *reader, uint8_t *to, size_t bytes)
{
	ASSERT(bytes <= reader->left);
	while (bytes > 0) {
		struct span piece = span_reader_piece(reader);
		size_t step = piece.bytes < bytes ? piece.bytes : bytes;

		memcpy(to, piece.base, step);
		to += step;
		span_reader_pass(reader, step);
		bytes -= step;
	}
}

/*
 * The next `bytes` in one piece, without passing over them: lent in place where they stand
 * together, else gathered into `scratch` (of at least `bytes`).
 */
static inline const uint8_t *span_reader_peek(struct span_reader *reader, uint8_t *scratch,
					      size_t bytes)
{
	struct span piece = span_reader_piece(reader);
	struct span_reader ahead = *reader;

	if (piece.bytes >= bytes)
		return piece.base;
	span_reader_copy(&ahead, scratch, bytes);
	return scratch;
}

/* A writer over `count` pieces; `rooms` must outlive it. */
static inline struct room_writer room_writer_of(const struct room *rooms, unsigned count)
{
	struct room_writer writer = {.room = rooms};

	for (unsigned i = 0; i < count; i++)
		writer.left += rooms[i].bytes;
	return writer;
}

/* The room that stands in one piece at the writer's place: empty only at the end. */
static inline struct room room_writer_piece(struct room_writer *writer)
{
	if (writer->left == 0)
		return (struct room){0};
	while (writer->offset == writer->room->bytes) {
		writer->room++;
		writer->offset = 0;
	}
	return (struct room){writer->room->base + writer->offset,
			     writer->room->bytes - writer->offset};
}

/* Says that `bytes` of the current piece have been filled. */
static inline void room_writer_advance(struct room_writer *writer, size_t bytes)
{
	ASSERT(bytes <= writer->left && writer->offset + bytes <= writer->room->bytes);
	writer->offset += bytes;
	writer->left -= bytes;
}

/* Copies `bytes` from `from` into the room. */
static inline void room_writer_put(struct room_writer *writer, const uint8_t *from, size_t bytes)
{
	ASSERT(bytes <= writer->left);
	while (bytes > 0) {
		struct room piece = room_writer_piece(writer);
		size_t step = piece.bytes < bytes ? piece.bytes : bytes;

		memcpy(piece.base, from, step);
		from += step;
		room_writer_advance(writer, step);
		bytes -= step;
	}
}

/* Fills `bytes` with one value. */
static inline void room_writer_fill(struct room_writer *writer, uint8_t value, size_t bytes)
{
	ASSERT(bytes <= writer->left);
	while (bytes > 0) {
		struct room piece = room_writer_piece(writer);
		size_t step = piece.bytes < bytes ? piece.bytes : bytes;

		memset(piece.base, value, step);
		room_writer_advance(writer, step);
		bytes -= step;
	}
}

#endif
