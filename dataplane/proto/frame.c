#include "dataplane/proto/frame.h"

#include "dataplane/core/check.h"

static enum frame_status judge_length(uint32_t frame_len, uint32_t frame_max)
{
	if (frame_len < FRAME_LENGTH_MIN)
		return FRAME_TOO_SHORT;
	return frame_len > frame_max ? FRAME_TOO_LONG : FRAME_OK;
}

enum frame_status frame_decode(struct span_reader *reader, uint32_t frame_max,
			       struct frame_head *head_out)
{
	uint8_t scratch[FRAME_HEAD_BYTES];
	enum frame_status status;
	const uint8_t *bytes;
	uint32_t frame_len;

	if (reader->left < FRAME_LENGTH_BYTES)
		return FRAME_NEED_MORE;
	bytes = span_reader_peek(reader, scratch,
				 reader->left < FRAME_HEAD_BYTES ? FRAME_LENGTH_BYTES
								 : FRAME_HEAD_BYTES);
	frame_len = bytes_get_le32(bytes + FRAME_OFFSET_LENGTH);
	status = judge_length(frame_len, frame_max);
	if (status != FRAME_OK)
		return status;
	if (reader->left < FRAME_HEAD_BYTES)
		return FRAME_NEED_MORE;
	*head_out = (struct frame_head){.id = bytes_get_le64(bytes + FRAME_OFFSET_ID),
					.opcode = bytes_get_le64(bytes + FRAME_OFFSET_OPCODE),
					.flags = bytes_get_le32(bytes + FRAME_OFFSET_FLAGS),
					.body_bytes = frame_len - FRAME_LENGTH_MIN};
	span_reader_skip(reader, FRAME_HEAD_BYTES);
	return FRAME_OK;
}

void frame_encode(uint8_t *to, const struct frame_head *head)
{
	ASSERT(head->body_bytes <= UINT32_MAX - FRAME_LENGTH_MIN);
	bytes_put_le32(to + FRAME_OFFSET_LENGTH, FRAME_LENGTH_MIN + head->body_bytes);
	bytes_put_le64(to + FRAME_OFFSET_ID, head->id);
	bytes_put_le64(to + FRAME_OFFSET_OPCODE, head->opcode);
	bytes_put_le32(to + FRAME_OFFSET_FLAGS, head->flags);
}

const char *frame_status_text(enum frame_status status)
{
	switch (status) {
	case FRAME_OK:
		return "frame is well formed";
	case FRAME_NEED_MORE:
		return "frame is incomplete";
	case FRAME_TOO_SHORT:
		return "frame length is smaller than the fixed header";
	case FRAME_TOO_LONG:
		return "frame length exceeds the limit";
	}
	return "frame status is unknown";
}
