/*
 * length: the generic length-delimited codec: a 4-byte length, then as many bytes.
 *
 * The length counts what follows it alone. Big-endian by default, little-endian on request. Beside
 * the reference protocol (frame.h) it is what codec benchmarks compare: framing and nothing else.
 *
 * Plane: turn. Nothing here allocates or keeps state.
 */
#ifndef WEIR_PROTO_LENGTH_H
#define WEIR_PROTO_LENGTH_H

#include "dataplane/core/span.h"

#include <stdint.h>

enum { LENGTH_PREFIX_BYTES = 4 };

enum length_order { LENGTH_BIG_ENDIAN, LENGTH_LITTLE_ENDIAN };

enum length_status {
	LENGTH_OK,
	LENGTH_MORE,	 /* nothing was consumed */
	LENGTH_TOO_LONG, /* the length exceeds the limit; known from its 4 bytes */
};

/*
 * Decodes one prefix. LENGTH_OK: exactly LENGTH_PREFIX_BYTES are passed over and
 * `payload_bytes_out` is written, at most `payload_max`; else neither happens.
 */
enum length_status length_decode(struct span_reader *reader, enum length_order order,
				 uint32_t payload_max, uint32_t *payload_bytes_out);

/* Writes the prefix of a payload at `to`. */
void length_encode(uint8_t *to, enum length_order order, uint32_t payload_bytes);

/*
 * The next payload without a copy, if it stands with its prefix in the reader's piece and is within
 * `payload_max`; both are passed over. Else base NULL, nothing is passed over, and length_decode
 * finds out why.
 */
struct span length_whole(struct span_reader *reader, enum length_order order, uint32_t payload_max);

#endif
