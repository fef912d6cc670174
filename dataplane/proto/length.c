#include "dataplane/proto/length.h"

#include "dataplane/core/bytes.h"

static uint32_t read_prefix(const uint8_t *from, enum length_order order)
{
	return order == LENGTH_BIG_ENDIAN ? bytes_get_be32(from) : bytes_get_le32(from);
}

enum length_status length_decode(struct span_reader *reader, enum length_order order,
				 uint32_t payload_max, uint32_t *payload_bytes_out)
{
	uint8_t scratch[LENGTH_PREFIX_BYTES];
	uint32_t payload_bytes;

	if (reader->left < LENGTH_PREFIX_BYTES)
		return LENGTH_MORE;
	payload_bytes = read_prefix(span_reader_peek(reader, scratch, sizeof(scratch)), order);
	if (payload_bytes > payload_max)
		return LENGTH_TOO_LONG;
	span_reader_skip(reader, LENGTH_PREFIX_BYTES);
	*payload_bytes_out = payload_bytes;
	return LENGTH_OK;
}

void length_encode(uint8_t *to, enum length_order order, uint32_t payload_bytes)
{
	if (order == LENGTH_BIG_ENDIAN)
		bytes_put_be32(to, payload_bytes);
	else
		bytes_put_le32(to, payload_bytes);
}

struct span length_whole(struct span_reader *reader, enum length_order order, uint32_t payload_max)
{
	struct span piece = span_reader_piece(reader);
	uint32_t payload_bytes;

	if (piece.bytes < LENGTH_PREFIX_BYTES)
		return (struct span){0};
	payload_bytes = read_prefix(piece.base, order);
	if (payload_bytes > payload_max || payload_bytes > piece.bytes - LENGTH_PREFIX_BYTES)
		return (struct span){0};
	span_reader_skip(reader, LENGTH_PREFIX_BYTES + (size_t)payload_bytes);
	return (struct span){piece.base + LENGTH_PREFIX_BYTES, payload_bytes};
}
