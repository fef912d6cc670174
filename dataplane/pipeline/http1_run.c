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
	return handler && handler->answers_alike ? handler : NULL;
}

/* Reads the head at `bytes` and judges it. NULL: it is none, or of another kind. */
static struct handler *read_alike(struct conn_world *world, struct span bytes,
				  size_t *head_bytes_out, bool *read_out)
{
	struct http1_scan scan = {0};

	*read_out = bytes.bytes > 0 &&
		    world->parser->parse(bytes.base, bytes.bytes, &world->http1_limits, &scan,
					 &world->request, head_bytes_out,
					 &world->counters->parser_allocations) == HTTP1_OK;
	return *read_out ? judge(world) : NULL;
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
	size_t response_bytes = run_head(world, handler)->bytes + handler->response_bytes;

	if ((run->handler && run->handler != handler) ||
	    run->response_bytes + response_bytes > RUN_BYTES_MAX)
		return false;
	run->handler = handler;
	run->requests++;
	run->request_bytes += head_bytes;
	run->response_bytes += response_bytes;
	run->response_body_bytes += handler->response_bytes;
	return true;
}

bool http1_find_run(struct conn_world *world, struct span piece, unsigned requests_max,
		    size_t due_bytes, struct run *run_out)
{
	struct run run = {.requests = 0};

	world->ahead.base = NULL;
	while (!world->draining && run.requests < requests_max && run.response_bytes < due_bytes) {
		struct span rest = {piece.base + run.request_bytes,
				    piece.bytes - run.request_bytes};
		size_t head_bytes;
		bool read;
		struct handler *handler = read_alike(world, rest, &head_bytes, &read);
		bool added = handler && add(world, &run, handler, head_bytes);

		if (!added && read && run.requests == 0) {
			world->ahead = (struct http1_ahead){rest.base, head_bytes};
			break; /* it is decoded next, and need not be read again */
		}
		if (read)
			world->parser->release(&world->request);
		if (!added)
			break;
	}
	*run_out = run;
	return run.requests > 0;
}

void http1_write_run(struct conn_world *world, const struct run *run, const uint8_t *request,
		     uint8_t *to)
{
	const struct http1_run_head *head = run_head(world, run->handler);

	for (unsigned i = 0; i < run->requests; i++) {
		memcpy(to, head->head, head->bytes);
		memset(to + head->bytes, FRAME_FILL_BYTE, run->handler->response_bytes);
		to += head->bytes + run->handler->response_bytes;
	}
}
