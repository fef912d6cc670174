#include "apps/serve/turner.h"

#include "dataplane/handlers/spec.h"
#include "dataplane/proto/http1_parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pipeline {
	struct turner base;
	struct tp *tp;
	struct server *server;
};

static const struct pipeline *pipeline_of(const struct turner *turner)
{
	return (const struct pipeline *)turner;
}

static int create_server(const struct serve_options *options, struct tp *tp,
			 struct server **server_out, struct tp_error *error)
{
	const struct route all = {.path = "/", .prefix = true, .handler = options->handler};
	struct server_config config = {
		.delivery = options->delivery,
		.codec = codec_find(codec_names[options->protocol]),
		.routes = options->handler ? &all : options->routes.table,
		.route_count = options->handler ? 1 : options->routes.count,
		.create_handler = spec_create,
		.response_bytes = options->response_bytes,
		.upstream = options->upstream,
		.conn_max = options->conn_max,
		.body_max = options->body_max,
		.timeouts = options->timeouts,
		.parser = http1_parser_find(serve_parser_names[options->http_parser]),
		.http1_limits = options->http_limits,
	};

	return server_create(&config, tp, server_out, error);
}

static void pipeline_close(struct turner *turner)
{
	struct pipeline *pipeline = (struct pipeline *)turner;

	server_destroy(pipeline->server);
	if (pipeline->tp)
		pipeline->tp->ops->close(pipeline->tp);
	free(pipeline);
}

static int pipeline_open(const struct serve_options *options, uint16_t index,
			 struct turner **turner_out, struct tp_error *error)
{
	struct tp_limits limits = {.conn_max = options->conn_max,
				   .recv_bytes = options->recv_bytes,
				   .send_bytes = options->send_bytes};
	struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
	int rc;

	if (!pipeline)
		return tp_fail(error, -ENOMEM, "no memory for a pipeline");
	rc = stack_open(&options->stack, index, true, &limits, &pipeline->tp, error);
	if (rc == 0)
		rc = pipeline->tp->ops->listen(pipeline->tp, &options->listen, error);
	if (rc == 0)
		rc = create_server(options, pipeline->tp, &pipeline->server, error);
	if (rc < 0) {
		pipeline_close(&pipeline->base);
		return rc;
	}
	pipeline->base = (struct turner){.ops = &pipeline_turner,
					 .busy = &server_counters(pipeline->server)->busy,
					 .capabilities = pipeline->tp->ops->capabilities};
	*turner_out = &pipeline->base;
	return 0;
}

static void pipeline_turn(struct turner *turner, uint64_t wait_ns)
{
	server_turn(pipeline_of(turner)->server, wait_ns);
}

static const char *pipeline_gone_part(const struct turner *turner)
{
	const struct tp *tp = pipeline_of(turner)->tp;

	return tp->device_gone ? tp->gone_part : NULL;
}

static void pipeline_drain(struct turner *turner)
{
	server_drain(pipeline_of(turner)->server);
}

static bool pipeline_idle(const struct turner *turner)
{
	return server_idle(pipeline_of(turner)->server);
}

static void pipeline_copy(const struct turner *turner, struct serve_copy *copy_out)
{
	stack_copy_take(&copy_out->transport, pipeline_of(turner)->tp);
	copy_out->server = *server_counters(pipeline_of(turner)->server);
}

const struct turner_ops pipeline_turner = {
	.open = pipeline_open,
	.turn = pipeline_turn,
	.gone_part = pipeline_gone_part,
	.drain = pipeline_drain,
	.idle = pipeline_idle,
	.copy = pipeline_copy,
	.close = pipeline_close,
};
