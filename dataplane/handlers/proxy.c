/*
 * proxy: what the upstreams answer.
 */
#include "dataplane/handlers/handlers.h"
#include "dataplane/handlers/proxied.h"

#include <errno.h>
#include <stdlib.h>

struct proxy_handler {
	struct handler handler;
	struct proxy proxy;
};

static struct proxy *proxy_of(struct handler *handler)
{
	return &((struct proxy_handler *)handler)->proxy;
}

static int proxy_judge(const char *argument, struct tp_error *error)
{
	struct proxy_config config;

	return proxy_config_parse(argument, false, &config, error);
}

static uint32_t proxy_count_conns(const char *argument)
{
	struct proxy_config config;
	struct tp_error ignored;

	return proxy_config_parse(argument, false, &config, &ignored) == 0
		       ? proxy_config_conns(&config)
		       : 0;
}

static int proxy_create(const char *argument, const struct handler_config *config,
			struct handler **handler_out, struct tp_error *error)
{
	struct proxy_handler *handler;
	struct proxy_config parsed;
	int code = proxy_config_parse(argument, false, &parsed, error);

	if (code < 0)
		return code;
	handler = calloc(1, sizeof(*handler));
	if (!handler)
		return tp_fail(error, -ENOMEM, "proxy: no memory");
	handler->handler.ops = &proxy_ops;
	code = proxy_open(&handler->proxy, &parsed, config->world, error);
	if (code < 0) {
		free(handler);
		return code;
	}
	handler->handler.conn_max = proxy_conn_max(&handler->proxy);
	*handler_out = &handler->handler;
	return 0;
}

static void proxy_destroy(struct handler *handler)
{
	proxy_close(proxy_of(handler));
	free(handler);
}

static void proxy_begin(struct handler *handler, struct exchange *exchange,
			const struct request *request)
{
	struct proxied *proxied = proxied_begin(proxy_of(handler), exchange, request, NULL);

	exchange_set_state(exchange, proxied);
	proxied_advance(proxied);
}

static void proxy_advance(struct handler *handler, struct exchange *exchange)
{
	proxied_advance(exchange_state(exchange));
}

static void proxy_end(struct handler *handler, struct exchange *exchange)
{
	proxied_end(exchange_state(exchange));
}

static uint64_t proxy_keep_up(struct handler *handler, uint64_t now_ns)
{
	return proxy_upkeep(proxy_of(handler), now_ns);
}

static void proxy_check(const struct handler *handler, const struct exchange *exchange)
{
	if (exchange)
		proxied_check(exchange_state(exchange));
	else
		proxy_check_all(&((const struct proxy_handler *)handler)->proxy);
}

const struct handler_ops proxy_ops = {
	.name = "proxy",
	.argument = "ADDR[,ADDR]",
	.takes_upstream = true,
	.http_only = true,
	.judge = proxy_judge,
	.count_conns = proxy_count_conns,
	.create = proxy_create,
	.destroy = proxy_destroy,
	.begin = proxy_begin,
	.advance = proxy_advance,
	.end = proxy_end,
	.upkeep = proxy_keep_up,
	.check = proxy_check,
};
