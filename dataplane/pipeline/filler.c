#include "dataplane/pipeline/filler.h"

#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"

void filler_answer(struct exchange *exchange, uint32_t bytes)
{
	uint64_t left;

	if (!exchange_drop(exchange))
		return;
	if (!exchange_responded(exchange))
		exchange_respond(exchange, &filler_response(bytes));
	while ((left = exchange_left(exchange)) > 0) {
		size_t step = left < LIMIT_CHUNK_BYTES ? left : LIMIT_CHUNK_BYTES;
		struct room_writer writer;

		if (!exchange_room(exchange, step, &writer))
			return;
		room_writer_fill(&writer, FRAME_FILL_BYTE, step);
		exchange_put(exchange, step);
	}
	exchange_finish(exchange);
}
