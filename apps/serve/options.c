#include "apps/common/pipeline_flags.h"
#include "apps/serve/serve.h"
#include "dataplane/core/check.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/spec.h"
#include "dataplane/proto/http1_parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const serve_parser_names[] = {"views", "owned", NULL};

static const char *const scan_names[] = {"best", "scalar", "sse4.2", "avx2", NULL};

/* Bounds of every timeout. */
#define TIMEOUT_MIN CLOCK_MS_NS
#define TIMEOUT_MAX (3600 * CLOCK_SECOND_NS)

static bool is_http(const struct serve_options *options)
{
	return strcmp(codec_names[options->protocol], "http1") == 0;
}

/* Refuses what a bare echo cannot be. 0, or -EINVAL with `error` filled. */
static int judge_bare(const struct serve_options *options, const struct flags *flags,
		      struct tp_error *error)
{
	char names[128];

	if (!options->stack.stack->bare)
		return tp_fail(error, -EINVAL,
			       "the stack '%s' has no bare echo; these have one: %s",
			       options->stack.stack->name, stack_bare_names(names, sizeof(names)));
	if (options->stack.tls.on)
		return tp_fail(error, -EINVAL,
			       "--bare answers bytes as they come from the stack; leave out --tls");
	if (!options->handler)
		return tp_fail(error, -EINVAL,
			       "--bare has no handlers: leave out the routes of %s, or say "
			       "--handler respond",
			       flags_find(flags, "routes")->source);
	if (strcmp(options->handler, "respond") != 0)
		return tp_fail(error, -EINVAL,
			       "--bare has no handlers and answers as `respond` with "
			       "--response-bytes; leave out --handler %s",
			       options->handler);
	if (options->request_bytes > BARE_BODY_MAX || options->response_bytes > BARE_BODY_MAX)
		return tp_fail(error, -EINVAL,
			       "--bare answers bodies of %u bytes with bodies of %u; each may have "
			       "at most %u",
			       options->request_bytes, options->response_bytes, BARE_BODY_MAX);
	return 0;
}

/* Either a bare echo or a pipeline; what is the other's alone is dropped. */
static int resolve_bare(struct serve_options *options, struct flags *flags, struct tp_error *error)
{
	int rc;

	if (!options->bare)
		return flags_drop(flags, "request-bytes", "--bare", error);
	rc = judge_bare(options, flags, error);
	if (rc < 0)
		return rc;
	options->delivery_name = options->handler = NULL;
	flags_resolve(flags, "delivery", NULL);
	return 0;
}

int serve_resolve_answer(struct serve_options *options, struct flags *flags, struct tp_error *error)
{
	const struct flag *handler = flags_find(flags, "handler");
	const struct flag *routes = flags_find(flags, "routes");

	if (!routes->given || routes->layer < handler->layer) {
		options->routes.count = 0;
		flags_resolve(flags, "routes", NULL);
		return 0;
	}
	if (routes->layer == handler->layer)
		return tp_fail(error, -EINVAL,
			       "'handler' and 'routes' both say what answers, and both are from "
			       "the same place (%s); leave out one",
			       routes->source);
	options->handler = NULL;
	flags_resolve(flags, "handler", NULL);
	return 0;
}

static const struct handler_ops *ops_of(const char *handler, const char **argument_out)
{
	const struct handler_ops *ops = spec_find(handler, argument_out);

	CHECK(ops); /* its flag's kind took it */
	return ops;
}

static bool is_for_http(const char *handler)
{
	const char *argument;

	return ops_of(handler, &argument)->http_only;
}

static bool wants_upstream(const char *handler)
{
	return spec_wants_upstream(handler);
}

static unsigned handler_count(const struct serve_options *options)
{
	return options->handler ? 1 : options->routes.count;
}

static const char *handler_at(const struct serve_options *options, unsigned i)
{
	return options->handler ? options->handler : options->routes.table[i].handler;
}

/* The first of the handlers that this is true of, or NULL. */
static const char *find_handler(const struct serve_options *options, bool (*is)(const char *))
{
	for (unsigned i = 0; i < handler_count(options); i++)
		if (is(handler_at(options, i)))
			return handler_at(options, i);
	return NULL;
}

/* Whether a handler stands before, and what is wrong with it has been said. */
static bool is_before(const struct serve_options *options, unsigned i)
{
	for (unsigned before = 0; before < i; before++)
		if (strcmp(handler_at(options, before), handler_at(options, i)) == 0)
			return true;
	return false;
}

/* The flag that says what answers. */
static const struct flag *answer_of(const struct serve_options *options, const struct flags *flags)
{
	return flags_find(flags, options->handler ? "handler" : "routes");
}

/* Judges those that are to answer, by what they name: all that is missing is said. */
static int judge_handlers(const struct serve_options *options, const struct flags *flags,
			  struct tp_error *error)
{
	const struct flag *answer = answer_of(options, flags);
	bool is_typed = answer->layer == FLAGS_COMMAND_LINE;
	size_t bytes = 0;

	for (unsigned i = 0; i < handler_count(options); i++) {
		struct tp_error one;

		if (spec_judge(handler_at(options, i), &one) == 0 || is_before(options, i))
			continue;
		if (bytes < sizeof(error->text))
			bytes += (size_t)snprintf(error->text + bytes, sizeof(error->text) - bytes,
						  "%s%s%s%s", bytes || !is_typed ? "" : "--",
						  bytes	     ? ""
						  : is_typed ? answer->name
							     : answer->source,
						  bytes ? "; " : ": ", one.text);
	}
	return bytes ? -EINVAL : 0;
}

/*
 * Refuses a handler that has nothing to pass requests on to, and an upstream that no handler takes;
 * one that only a lower layer's handler would have taken is dropped.
 */
static int resolve_upstream(struct serve_options *options, struct flags *flags,
			    struct tp_error *error)
{
	const char *handler = find_handler(options, wants_upstream);
	const struct flag *upstream = flags_find(flags, "upstream");

	if (handler && !options->upstream)
		return tp_fail(error, -EINVAL,
			       "the handler %s passes requests on: say to whom by --upstream, or "
			       "write %s:ADDR",
			       handler, handler);
	if (handler || !options->upstream)
		return 0;
	if (upstream->layer >= answer_of(options, flags)->layer)
		return tp_fail(error, -EINVAL,
			       "--upstream (%s) has no effect: nothing answers by proxy or cache "
			       "without an address of its own",
			       upstream->source);
	options->upstream = NULL;
	flags_resolve(flags, "upstream", NULL);
	return 0;
}

/* Refuses handlers that frames cannot ask anything of, and routes that lead none of them on. */
static int judge_framed(const struct serve_options *options, struct tp_error *error)
{
	const char *handler = find_handler(options, is_for_http);

	if (handler)
		return tp_fail(error, -EINVAL, "the handler %.200s is HTTP's; use --protocol http1",
			       handler);
	if (options->handler || routes_find(&options->routes, "/", HTTP1_POST))
		return 0;
	return tp_fail(error, -EINVAL,
		       "a frame is a POST to '/', and no route answers that; add one, or use "
		       "--protocol http1");
}

/* Chooses how heads are scanned; of another protocol, drops what is for HTTP alone. */
static int resolve_http(struct serve_options *options, struct flags *flags, struct tp_error *error)
{
	const struct http1_limits *limits = &options->http_limits;
	const char *wanted = scan_names[options->http_scan];

	if (!is_http(options)) {
		int rc = flags_drop(flags, "http-", "--protocol http1", error);

		return rc < 0 ? rc : judge_framed(options, error);
	}
	if (limits->line_bytes > limits->head_bytes)
		return tp_fail(error, -EINVAL,
			       "--http-line-max %u is more than --http-head-max %u, which counts "
			       "the line too",
			       limits->line_bytes, limits->head_bytes);
	if (limits->head_bytes > options->recv_bytes / 2)
		return tp_fail(error, -EINVAL,
			       "--http-head-max %u is more than half of --recv-bytes %u: such a "
			       "head could not be received",
			       limits->head_bytes, options->recv_bytes);
	options->scan = http1_choose(options->http_scan == 0 ? NULL : wanted);
	if (!options->scan)
		return tp_fail(error, -EINVAL, "this CPU has no %s; use --http-scan best", wanted);
	flags_resolve(flags, "http-scan", options->scan);
	return 0;
}

/* A write that the policy waits for has to fit the send memory beside what follows it. */
static int judge_memory(const struct serve_options *options, struct tp_error *error)
{
	if (options->delivery.threshold_bytes <= options->send_bytes / 2)
		return 0;
	return tp_fail(error, -EINVAL,
		       "--delivery %s waits for more than half of --send-bytes %u; raise one or "
		       "lower the other",
		       options->delivery_name, options->send_bytes);
}

static int resolve_listen(struct serve_options *options, struct flags *flags,
			  struct tp_error *error)
{
	struct stack_options *stack = &options->stack;
	const struct subnet *own = &stack->address;

	if ((own->ip || own->prefix6_bits) && !flags_find(flags, "listen")->given) {
		options->listen.family = own->ip ? TP_IPV4 : TP_IPV6;
		if (own->ip)
			options->listen.ip = own->ip;
		else
			memcpy(options->listen.ip6, own->ip6, sizeof(own->ip6));
		flags_resolve(flags, "listen",
			      tp_addr_print(&options->listen, options->listen_text));
	}
	return stack_resolve_endpoint(stack, flags, "listen", &options->listen,
				      options->listen_text, error);
}

int serve_resolve(struct serve_options *options, struct flags *flags, struct tp_error *error)
{
	const char *alpn = is_http(options) ? "http/1.1" : NULL;
	int rc = stack_resolve(&options->stack, flags, false, error);

	options->delivery_name = flags_find(flags, "delivery")->text;
	options->nonce = getenv(SERVE_NONCE);
	flags_resolve(flags, "config", options->config.files);
	if (rc == 0)
		rc = tls_resolve(&options->stack.tls, flags, true, alpn, error);
	if (rc == 0)
		rc = serve_resolve_answer(options, flags, error);
	if (rc == 0)
		rc = judge_handlers(options, flags, error);
	if (rc == 0)
		rc = resolve_upstream(options, flags, error);
	if (rc == 0)
		rc = resolve_http(options, flags, error);
	if (rc == 0)
		rc = judge_memory(options, error);
	if (rc == 0)
		rc = resolve_bare(options, flags, error);
	return rc < 0 ? rc : resolve_listen(options, flags, error);
}

/* What the command line says; the table below writes it. */
static struct serve_options options;

static struct flag table[] = {
	STACK_FLAGS(&options.stack),
	{.name = "config",
	 .kind = &flag_config,
	 .value = &options.config,
	 .about = "flags from a file, or from a shipped one by its name; may be repeated; see "
		  "docs/configuration.md"},
	{.name = "check",
	 .kind = &flag_switch,
	 .value = &options.check,
	 .command_line = true,
	 .about = "print the effective configuration, and end"},
	{.name = "listen",
	 .kind = &flag_endpoint,
	 .value = &options.listen,
	 .initial = "127.0.0.1:7878",
	 .about = "where to listen; with --address, there"},
	PIPELINE_FLAGS(&options),
	TLS_FLAGS(&options.stack.tls),
	TLS_SERVER_FLAGS(&options.stack.tls),
	{.name = "delivery",
	 .kind = &flag_delivery,
	 .value = &options.delivery,
	 .initial = "immediate",
	 .about = "when queued responses are written"},
	{.name = "routes",
	 .kind = &flag_routes,
	 .value = &options.routes,
	 .about = "in place of --handler: which path is answered by which; best in a file"},
	{.name = "upstream",
	 .kind = &flag_upstream,
	 .value = &options.upstream,
	 .about = "whom the handlers proxy and cache pass requests on to if they name nobody"},
	{.name = "body-max",
	 .kind = &flag_bytes,
	 .value = &options.body_max,
	 .initial = "64MiB",
	 .min = 1,
	 .max = 1024 * 1024 * 1024,
	 .about = "body bytes that a request may have; a frame holds 16MiB at most"},
	{.name = "head-timeout",
	 .kind = &flag_timeout,
	 .value = &options.timeouts.head_ns,
	 .initial = "10s",
	 .min = TIMEOUT_MIN,
	 .max = TIMEOUT_MAX,
	 .about = "time for a request's head"},
	{.name = "body-timeout",
	 .kind = &flag_timeout,
	 .value = &options.timeouts.body_ns,
	 .initial = "30s",
	 .min = TIMEOUT_MIN,
	 .max = TIMEOUT_MAX,
	 .about = "time for a request's body"},
	{.name = "idle-timeout",
	 .kind = &flag_timeout,
	 .value = &options.timeouts.idle_ns,
	 .initial = "120s",
	 .min = TIMEOUT_MIN,
	 .max = TIMEOUT_MAX,
	 .about = "time between two requests"},
	{.name = "send-timeout",
	 .kind = &flag_timeout,
	 .value = &options.timeouts.send_ns,
	 .initial = "30s",
	 .min = TIMEOUT_MIN,
	 .max = TIMEOUT_MAX,
	 .about = "time for a peer to take a part of its response"},
	{.name = "rate-min",
	 .kind = &flag_bytes,
	 .value = &options.timeouts.rate_bytes,
	 .initial = "1KiB",
	 .max = LIMIT_RING_MAX_BYTES,
	 .about = "bytes a second that a peer must send or take at least; 0: any"},
	{.name = "http-line-max",
	 .kind = &flag_bytes,
	 .value = &options.http_limits.line_bytes,
	 .initial = "8KiB",
	 .min = 64,
	 .max = LIMIT_HEAD_BYTES,
	 .about = "bytes of a request line"},
	{.name = "http-head-max",
	 .kind = &flag_bytes,
	 .value = &options.http_limits.head_bytes,
	 .initial = "16KiB",
	 .min = 128,
	 .max = LIMIT_HEAD_BYTES,
	 .about = "bytes of a request's head; at most half of --recv-bytes"},
	{.name = "http-fields-max",
	 .kind = &flag_count,
	 .value = &options.http_limits.fields,
	 .initial = "100",
	 .min = 1,
	 .max = HTTP1_FIELDS_MAX,
	 .about = "fields of a request's head"},
	{.name = "http-parser",
	 .kind = &flag_choice,
	 .value = &options.http_parser,
	 .choices = serve_parser_names,
	 .initial = "views",
	 .about = "read heads in place, or copy them as the experiment's control"},
	{.name = "http-scan",
	 .kind = &flag_choice,
	 .value = &options.http_scan,
	 .choices = scan_names,
	 .initial = "best",
	 .about = "how heads are scanned; best: the fastest that this CPU has"},
	{.name = "bare",
	 .kind = &flag_switch,
	 .value = &options.bare,
	 .about = "the stack's bare echo, with no pipeline; trusts its peer"},
	{.name = "request-bytes",
	 .kind = &flag_bytes,
	 .value = &options.request_bytes,
	 .initial = "256",
	 .max = BODY_BYTES_MAX,
	 .about = "bare: body bytes of each request; of http1, bytes of the whole request"},
	{.name = "conn-max",
	 .kind = &flag_count,
	 .value = &options.conn_max,
	 .initial = "1024",
	 .min = 1,
	 .max = LIMIT_CONN_MAX,
	 .about = "connections that one worker may have"},
	{.name = "recv-bytes",
	 .kind = &flag_ring,
	 .value = &options.recv_bytes,
	 .initial = "64KiB",
	 .min = LIMIT_RING_MIN_BYTES,
	 .max = LIMIT_RING_MAX_BYTES,
	 .about = "receive memory of one connection"},
	{.name = "send-bytes",
	 .kind = &flag_ring,
	 .value = &options.send_bytes,
	 .initial = "64KiB",
	 .min = LIMIT_RING_MIN_BYTES,
	 .max = LIMIT_RING_MAX_BYTES,
	 .about = "send memory of one connection"},
};

struct flags serve_flags(struct serve_options **options_out)
{
	*options_out = &options;
	return (struct flags){.program = "weir serve",
			      .about = "Serves requests until SIGINT, SIGTERM or SIGHUP; SIGUSR1 "
				       "prints a snapshot.",
			      .table = table,
			      .count = sizeof(table) / sizeof(table[0])};
}
