#include "dataplane/pipeline/refusal.h"

#include "dataplane/pipeline/world.h"

#include <string.h>

/* A code and the methods to name with it, as a handler's state. */
static void *pack(unsigned code, uint32_t methods)
{
	return (void *)((uintptr_t)methods << 16 | code);
}

/* The field line that names the methods; its length. */
static size_t write_allow(uint8_t *to, uint32_t methods)
{
	static const char name[] = "Allow: ";
	uint8_t *at = mempcpy(to, name, sizeof(name) - 1);

	for (unsigned i = 0; i < HTTP1_METHOD_COUNT; i++) {
		const char *method = http1_method_name(i);

		if (!(methods >> i & 1))
			continue;
		if (at > to + sizeof(name) - 1)
			at = mempcpy(at, ", ", 2);
		at = mempcpy(at, method, strlen(method));
	}
	at = mempcpy(at, "\r\n", 2);
	return (size_t)(at - to);
}

static void respond(struct exchange *exchange, unsigned code, uint32_t methods)
{
	uint8_t fields[128];
	struct response response = {.status = (uint16_t)code};

	if (exchange_responded(exchange))
		return;
	response.fields = (struct span){fields, write_allow(fields, methods)};
	exchange_respond(exchange, &response);
}

static void refusal_advance(struct handler *handler, struct exchange *exchange)
{
	uintptr_t state = (uintptr_t)exchange_state(exchange);
	unsigned code = state & 0xFFFF;
	uint32_t methods = (uint32_t)(state >> 16);

	if (code == 404) {
		exchange_refuse(exchange, 404, "no route leads there");
		return;
	}
	respond(exchange, code, methods);
	exchange_finish(exchange);
}

static void refusal_begin(struct handler *handler, struct exchange *exchange,
			  const struct request *request)
{
	refusal_advance(handler, exchange);
}

static const struct handler_ops refusal_ops = {
	.name = "refusal",
	.begin = refusal_begin,
	.advance = refusal_advance,
};
static struct handler refusal = {.ops = &refusal_ops};

static struct handler *refuse(struct exchange *exchange, unsigned code, uint32_t methods)
{
	exchange_set_state(exchange, pack(code, methods));
	return &refusal;
}

struct handler *refusal_or_handler(const struct conn_world *world, const struct request *request,
				   struct exchange *exchange)
{
	struct handler *handler;
	unsigned code;
	uint32_t methods;

	if (!request->http)
		return world->framed ? world->framed : refuse(exchange, 404, 0);
	if (request->http->form == HTTP1_ASTERISK)
		return refuse(exchange, 200, route_methods(world->routes));
	if (world->only && request->method < HTTP1_TRACE)
		return world->only;
	handler = route_find(world->routes, request->path, request->method, &code, &methods);
	return handler ? handler : refuse(exchange, code, methods);
}
