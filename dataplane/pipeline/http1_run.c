#include "dataplane/pipeline/http1_run.h"

#include "dataplane/handlers/filler.h"
#include "dataplane/pipeline/http1_answer.h"
#include "dataplane/pipeline/world.h"

/* The handler that answers the world's request alike; NULL if it is not of that kind. */
static struct handler *judge(const struct conn_world *world)
{
	const struct http1_request *request = &world->request;
	struct handler *handler = world->only;
	unsigned code;
	uint32_t methods;

	if (request->method != HTTP1_GET || request->minor == 0 || !request->framing.keep_alive ||
	    request->framing.chunked || request->framing.length_bytes > 0)
		return NULL;
	if (!handler)
		handler = route_find(world->routes, request->path, HTTP1_GET, &code, &methods);
	return handler && handler->answers == ANSWERS_ALIKE ? handler : NULL;
}

static const struct http1_run_head *run_head(struct conn_world *world,
					     const struct handler *handler)
{
	struct http1_run_head *head = &world->run_head;
	const char *date = date_text(&world->date, world->now_ns);

	if (head->handler == handler && head->until_ns == world->date.until_ns)
		return head;
	head->handler = handler;
	head->until_ns = world->date.until_ns;
	head->bytes = http1_answer_head(head->head, &filler_response(handler->response_bytes),
					&(struct http1_answer){.date = date});
	return head;
}

/* Adds a request to the run. False: its answer finds no room, or is another handler's. */
static bool add(struct conn_world *world, struct run *run, struct handler *handler,
		size_t head_bytes)
{
	if (!run->handler) {
		run->handler = handler;
		run->answer_bytes = run_head(world, handler)->bytes + handler->response_bytes;
	}
	if (run->handler != handler || run->response_bytes + run->answer_bytes > RUN_BYTES_MAX)
		return false;
	run->requests++;
	run->request_bytes += head_bytes;
	run->response_bytes += run->answer_bytes;
	run->response_body_bytes += handler->response_bytes;
	return true;
}

static bool is_known(const struct http1_known *known, struct span bytes)
{
	return known->handler && bytes.bytes >= known->bytes &&
	       memcmp(bytes.base, known->head, known->bytes) == 0;
}

static void learn(struct conn_world *world, struct handler *handler, const uint8_t *head,
		  size_t head_bytes)
{
	struct http1_known *known = &world->known;

	if (world->parser->copies || head_bytes > sizeof(known->head))
		return;
	known->handler = handler;
	known->bytes = head_bytes;
	memcpy(known->head, head, head_bytes);
}

/* As add_next, for a head that is to be read. */
static bool read_next(struct conn_world *world, struct span bytes, struct run *run)
{
	struct http1_scan scan = {0};
	struct handler *handler;
	size_t head_bytes;
	bool added;

	if (bytes.bytes == 0 ||
	    world->parser->parse(bytes.base, bytes.bytes, &world->http1_limits, &scan,
				 &world->request, &head_bytes,
				 &world->counters->parser_allocations) != HTTP1_OK)
		return false;
	handler = judge(world);
	if (handler)
		learn(world, handler, bytes.base, head_bytes);
	added = handler && add(world, run, handler, head_bytes);
	if (!added && run->requests == 0) /* it is decoded next, and need not be read again */
		world->ahead = (struct http1_ahead){bytes.base, head_bytes};
	else
		world->parser->release(&world->request);
	return added;
}

/* Adds the request that stands behind the run. False: none does that belongs to it. */
static bool add_next(struct conn_world *world, struct span piece, struct run *run)
{
	struct span rest = {piece.base + run->request_bytes, piece.bytes - run->request_bytes};

	if (is_known(&world->known, rest))
		return add(world, run, world->known.handler, world->known.bytes);
	return read_next(world, rest, run);
}

bool http1_find_run(struct conn_world *world, struct span piece, unsigned requests_max,
		    size_t due_bytes, struct run *run_out)
{
	struct run run = {.requests = 0};

	world->ahead.base = NULL;
	while (!world->draining && run.requests < requests_max && run.response_bytes < due_bytes &&
	       add_next(world, piece, &run))
		;
	*run_out = run;
	return run.requests > 0;
}

/* The first answer; then all that are written are copied behind themselves. */
void http1_write_run(struct conn_world *world, const struct run *run, const uint8_t *request,
		     uint8_t *to)
{
	const struct http1_run_head *head = run_head(world, run->handler);
	size_t written = run->answer_bytes;

	memcpy(to, head->head, head->bytes);
	memset(to + head->bytes, FRAME_FILL_BYTE, run->handler->response_bytes);
	while (written < run->response_bytes) {
		size_t left = run->response_bytes - written;
		size_t step = left < written ? left : written;

		memcpy(to + written, to, step);
		written += step;
	}
}
