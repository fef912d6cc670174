/*
 * produce: the rest of a response whose bytes the handler has, put as far as there is room.
 *
 * Plane: turn.
 */
#ifndef WEIR_HANDLERS_PRODUCE_H
#define WEIR_HANDLERS_PRODUCE_H

#include "dataplane/core/limits.h"
#include "dataplane/pipeline/exchange.h"

/*
 * Has `produce` write what is left of a body of known length, in pieces, and finishes the response;
 * for each advance. Where it returns false the bytes are not to be had, and the response is broken.
 */
static inline void produce_rest(struct exchange *exchange,
				bool (*produce)(struct exchange *exchange, void *source,
						struct room_writer *writer, size_t bytes),
				void *source)
{
	struct room_writer writer;
	uint64_t left;

	while ((left = exchange_left(exchange)) > 0) {
		size_t step = left < LIMIT_CHUNK_BYTES ? (size_t)left : LIMIT_CHUNK_BYTES;

		if (!exchange_room(exchange, step, &writer))
			return;
		if (!produce(exchange, source, &writer, step)) {
			exchange_break(exchange);
			return;
		}
		exchange_put(exchange, step);
	}
	exchange_finish(exchange);
}

#endif
