#include "dataplane/pipeline/http1_run.h"

#include "dataplane/pipeline/filler.h"
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

/* A run being found. */
struct search {
	struct conn_world *world;
	struct run *run;
	const uint8_t *at, *end; /* of the piece, what stands behind the run */
	unsigned requests_max;
	size_t due_bytes;
	size_t bound_bytes; /* of answers, from which on the run is full; it has a handler */
};

/* Whether the run may be of the handler's requests. Its first one decides. */
static bool claim(struct search *search, struct handler *handler)
{
	struct run *run = search->run;

	if (!run->handler) {
		run->handler = handler;
		run->answer_bytes =
			run_head(search->world, handler)->bytes + handler->response_bytes;
		search->bound_bytes =
			run_bound(search->requests_max, search->due_bytes, run->answer_bytes);
	}
	return run->handler == handler;
}

static bool is_full(const struct search *search)
{
	return search->run->handler && search->run->response_bytes >= search->bound_bytes;
}

static bool is_known(const struct http1_known *known, const uint8_t *at, const uint8_t *end)
{
	return (size_t)(end - at) >= known->bytes && memcmp(at, known->head, known->bytes) == 0;
}

/* Adds all requests of the known head that stand there. */
static void add_known(struct search *search)
{
	const struct http1_known *known = &search->world->known;
	struct run *run = search->run;
	size_t answers_bytes = run->response_bytes;
	const uint8_t *at = search->at;

	if (!known->handler || !is_known(known, at, search->end) ||
	    !claim(search, known->handler) || is_full(search))
		return;
	do {
		at += known->bytes;
		answers_bytes += run->answer_bytes;
		run->requests++;
	} while (answers_bytes < search->bound_bytes && is_known(known, at, search->end));
	search->at = at;
	run->response_bytes = answers_bytes;
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

/* Reads a head into the world's request. */
static bool read_head(struct search *search, size_t *head_bytes_out)
{
	struct conn_world *world = search->world;
	struct http1_scan scan = {0};

	return search->at < search->end &&
	       world->parser->parse(search->at, (size_t)(search->end - search->at),
				    &world->http1_limits, &scan, &world->request, head_bytes_out,
				    &world->counters->parser_allocations) == HTTP1_OK;
}

/* Reads the head that stands there and adds its request. False: it is none of the run's. */
static bool add_next(struct search *search)
{
	struct conn_world *world = search->world;
	struct run *run = search->run;
	struct handler *handler;
	size_t head_bytes;
	bool added;

	if (!read_head(search, &head_bytes))
		return false;
	handler = judge(world);
	if (handler)
		learn(world, handler, search->at, head_bytes);
	added = handler && claim(search, handler) && !is_full(search);
	if (!added && run->requests == 0) /* it is decoded next, and need not be read again */
		world->ahead = (struct http1_ahead){search->at, head_bytes};
	else
		world->parser->release(&world->request);
	if (!added)
		return false;
	search->at += head_bytes;
	run->requests++;
	run->response_bytes += run->answer_bytes;
	return true;
}

bool http1_find_run(struct conn_world *world, struct span piece, unsigned requests_max,
		    size_t due_bytes, struct run *run_out)
{
	struct search search = {.world = world,
				.run = run_out,
				.at = piece.base,
				.end = piece.base + piece.bytes,
				.requests_max = requests_max,
				.due_bytes = due_bytes};

	world->ahead.base = NULL;
	*run_out = (struct run){.requests = 0};
	if (world->draining)
		return false;
	do
		add_known(&search);
	while (!is_full(&search) && add_next(&search));
	if (run_out->requests == 0)
		return false;
	run_out->request_bytes = (size_t)(search.at - piece.base);
	run_out->response_body_bytes = (size_t)run_out->requests * run_out->handler->response_bytes;
	return true;
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
