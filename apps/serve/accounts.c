#include "apps/serve/serve.h"

#include "apps/common/json.h"
#include "apps/common/process.h"
#include "apps/common/timing.h"
#include "dataplane/core/clock.h"
#include "dataplane/handlers/spec.h"

#include <string.h>
#include <unistd.h>

void serve_copy_add(struct serve_copy *sum, const struct serve_copy *copy)
{
	stack_copy_add(&sum->transport, &copy->transport);
#define X(name, meaning) sum->server.name += copy->server.name;
	SERVER_COUNTERS(X)
#undef X
	sum->server.busy.turns += copy->server.busy.turns;
	sum->server.busy.busy_turns += copy->server.busy.busy_turns;
	sum->server.busy.busy_ns += copy->server.busy.busy_ns;
	sum->server.busy.empty_ns += copy->server.busy.empty_ns;
	sum->server.busy.waited_ns += copy->server.busy.waited_ns;
}

/* Whether what is turned keeps the counter. */
static bool keeps(const struct serve_options *options, const char *counter)
{
	static const char *const bare_counters[] = {"requests", "responses", "connections"};

	for (unsigned i = 0; i < sizeof(bare_counters) / sizeof(bare_counters[0]); i++)
		if (strcmp(bare_counters[i], counter) == 0)
			return true;
	return !options->bare;
}

static json_t *server_to_json(const struct serve_options *options,
			      const struct server_counters *server)
{
	json_t *object = json_object();

#define X(name, meaning)                   \
	json_object_set_new(object, #name, \
			    keeps(options, #name) ? json_count(server->name) : json_null());
	SERVER_COUNTERS(X)
#undef X
	return object;
}

static json_t *busy_to_json(const struct busy *busy)
{
	json_t *object = json_object();

	json_object_set_new(object, "turns", json_count(busy->turns));
	json_object_set_new(object, "busy_turns", json_count(busy->busy_turns));
	json_object_set_new(object, "busy_ns", json_count(busy->busy_ns));
	json_object_set_new(object, "empty_ns", json_count(busy->empty_ns));
	json_object_set_new(object, "waited_ns", json_count(busy->waited_ns));
	return object;
}

bool serve_polls_itself(const struct serve_options *options)
{
	const struct stack_options *stack = &options->stack;
	uint64_t polled = stack_option(stack, "sqpoll-cpu", UINT64_MAX);

	if (!stack_is_submitted_for(stack) || stack->wait.kind != WAIT_SPIN)
		return false;
	/* else each worker's own */
	return polled > CPUS_NUMBER_MAX || cpus_have(&stack->cpus, (unsigned)polled);
}

json_t *serve_copy_to_json(const struct serve_options *options, const struct serve_copy *sum)
{
	struct cpus held =
		stack_held_cpus(options->stack.stack, options->stack.options, &options->stack.cpus);
	json_t *object = json_object();

	json_object_set_new(object, "now_ns", json_count(clock_now_ns()));
	json_object_set_new(
		object, "transport",
		stack_counters_to_json(options->stack.stack->ops, &sum->transport.counters));
	json_object_set_new(object, "details",
			    stack_details_to_json(&sum->transport, TP_DETAIL_COUNT));
	json_object_set_new(object, "levels",
			    stack_details_to_json(&sum->transport, TP_DETAIL_LEVEL));
	if (options->stack.tls.on)
		json_object_set_new(object, "tls_negotiated",
				    tls_agreed_to_json(&sum->transport.agreed));
	json_object_set_new(object, "server", server_to_json(options, &sum->server));
	json_object_set_new(object, "busy", busy_to_json(&sum->server.busy));
	json_object_set_new(object, "process", process_to_json());
	process_add_cpus(object, &held);
	return object;
}

/* What the kernel's TCP counted on our connections, in the place of the stack's own counts. */
static void add_segments(json_t *transport, const struct tp_addr *listen,
			 const struct serve_segments *segments)
{
	static const char *const names[] = {"segments_out", "segments_in", "segments_resent",
					    "segments_connections"};
	const struct segments *sum = &segments->sum;
	const uint64_t values[] = {sum->out, sum->in, sum->resent, sum->connections};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (listen->family == TP_UNIX)
			json_set_unknown(transport, names[i], "a Unix socket has no segments");
		else if (segments->code < 0)
			json_set_unknown(transport, names[i], strerror(-segments->code));
		else
			json_object_set_new(transport, names[i], json_count(values[i]));
	}
}

static json_t *binding_of(const struct serve_options *options, const struct serve_worker *workers)
{
	json_t *object = json_object(), *array = json_array();

	for (unsigned i = 0; i < options->stack.workers; i++)
		json_array_append_new(array, binding_to_json(&workers[i].worker.binding));
	json_object_set(object, "memory", options->memory);
	json_object_set_new(object, "workers", array);
	return object;
}

json_t *serve_snapshot_to_json(const struct serve_options *options, const struct serve_copy *sum,
			       const struct serve_worker *workers,
			       const struct serve_segments *segments)
{
	json_t *object = serve_copy_to_json(options, sum);

	if (options->stack.stack->uses_descriptors)
		add_segments(json_object_get(object, "transport"), &options->listen, segments);
	json_object_set_new(object, "binding", binding_of(options, workers));
	return object;
}

/* How requests are read; null where none are HTTP's. */
static json_t *http_to_json(const struct serve_options *options)
{
	if (!options->scan)
		return json_null();
	return json_pack("{ssss}", "parser", serve_parser_names[options->http_parser], "scan",
			 options->scan);
}

/* Connections of each worker that are not its clients': its handlers keep them for upstreams. */
static uint32_t count_kept(const struct serve_options *options)
{
	const struct route all = {.handler = options->handler};
	const struct route *routes = options->handler ? &all : options->routes.table;
	uint64_t kept;

	if (options->bare)
		return 0;
	kept = spec_count_conns(routes, options->handler ? 1 : options->routes.count,
				options->upstream);
	return options->conn_max - handler_clients(options->conn_max, kept);
}

json_t *serve_ready_to_json(const struct serve_options *options, const struct serve_worker *workers)
{
	const struct stack_options *stack = &options->stack;
	struct cpus held = stack_held_cpus(stack->stack, stack->options, &stack->cpus);
	json_t *object = json_object();
	char listen[TP_ADDR_TEXT];

	json_object_set_new(object, "listen", json_text(tp_addr_print(&options->listen, listen)));
	json_object_set_new(object, "stack", json_text(stack->stack->name));
	json_object_set_new(object, "device", json_text(stack->device));
	json_object_set_new(object, "workers", json_integer(stack->workers));
	json_object_set_new(object, "cpus", cpus_to_numbers(&stack->cpus));
	json_object_set_new(object, "held_cpus", cpus_to_numbers(&held));
	json_object_set_new(object, "pid", json_integer(getpid()));
	json_object_set_new(object, "pipeline", json_boolean(!options->bare));
	json_object_set_new(object, "protocol", json_text(codec_names[options->protocol]));
	json_object_set_new(object, "tls", tls_options_to_json(&stack->tls));
	json_object_set_new(object, "delivery", json_text(options->delivery_name));
	json_object_set_new(object, "handler", json_text(options->handler));
	json_object_set_new(object, "http", http_to_json(options));
	json_object_set_new(object, "clients_max",
			    json_integer(options->conn_max - count_kept(options)));
	json_object_set_new(object, "response_bytes", json_integer(options->response_bytes));
	json_object_set_new(object, "request_bytes",
			    options->bare ? json_integer(options->request_bytes) : json_null());
	json_object_set_new(object, "wait", json_text(stack->wait_text));
	json_object_set_new(object, "sqpoll_competes", json_boolean(serve_polls_itself(options)));
	json_object_set_new(object, "options", stack_options_to_json(stack));
	json_object_set_new(object, "features", stack_features_to_json(stack->stack->ops));
	json_object_set_new(object, "hugepages", stack_hugepages_to_json(stack));
	json_object_set_new(object, "capabilities",
			    stack_capabilities_to_json(workers[0].capabilities));
	serve_add_link(object, options);
	json_object_set_new(object, "binding", binding_of(options, workers));
	json_object_set_new(object, "clock", timing_to_json());
	json_object_set_new(object, "nonce", json_text(options->nonce));
	json_object_set(object, "config", options->effective);
	json_object_set(object, "config_sources", options->sources);
	return object;
}

static void print_kept(const struct serve_options *options, const char *counter, uint64_t value)
{
	if (keeps(options, counter))
		printf("%-22s %llu\n", counter, (unsigned long long)value);
}

/* One line of the summary; "unknown" for a counter that the stack does not keep. */
static void print_counter(const struct serve_options *options, const struct serve_copy *sum,
			  enum tp_counter counter)
{
	if (options->stack.stack->ops->counters_known >> counter & 1)
		printf("%-22s %llu\n", tp_counter_name(counter),
		       (unsigned long long)tp_counter_value(&sum->transport.counters, counter));
	else
		printf("%-22s unknown to this stack\n", tp_counter_name(counter));
}

static void print_ratio(const char *name, uint64_t of, uint64_t per)
{
	if (per)
		printf("%-22s %.2f\n", name, (double)of / (double)per);
	else
		printf("%-22s n/a (n=0)\n", name);
}

/* What the stack counted of handshakes, if it has any. */
static void print_handshakes(const struct stack_copy *transport)
{
	static const char handshakes[] = "tls_handshakes";

	for (unsigned i = 0; i < transport->detail_count; i++) {
		const struct tp_detail *detail = &transport->details[i];

		if (strncmp(detail->name, handshakes, strlen(handshakes)) == 0)
			printf("%-22s %llu\n", detail->name, (unsigned long long)detail->value);
	}
}

/* Says what to do if connections found no room, in the stack or among the clients. */
static void print_refusals(const struct serve_options *options, const struct serve_copy *sum)
{
	bool counted = options->stack.stack->ops->counters_known & TP_KNOWS(accepts_refused);
	uint32_t kept = count_kept(options);
	uint64_t refused = counted ? sum->transport.counters.accepts_refused : 0;

	if (kept)
		refused += sum->server.connections_refused;
	if (!refused)
		return;
	printf("note: connections were refused for want of room; --conn-max is %u for each of %u "
	       "workers",
	       options->conn_max, options->stack.workers);
	if (kept)
		printf(", of which %u are kept for upstreams", kept);
	printf("\n");
}

void serve_print_summary(const struct serve_options *options, const struct serve_copy *sum)
{
	const struct server_counters *server = &sum->server;
	const struct tp_counters *transport = &sum->transport.counters;

#define X(name, meaning) print_kept(options, #name, server->name);
	SERVER_COUNTERS(X)
#undef X
	print_counter(options, sum, TP_COUNT_accepts_refused);
	print_handshakes(&sum->transport);
	print_counter(options, sum, TP_COUNT_writes);
	print_ratio("bytes_per_write", transport->written_bytes, transport->writes);
	print_ratio("responses_per_write", server->responses, transport->writes);
	print_counter(options, sum, TP_COUNT_segments_out);
	print_counter(options, sum, TP_COUNT_syscalls);
	print_counter(options, sum, TP_COUNT_bursts_out);
	print_counter(options, sum, TP_COUNT_polls);
	print_counter(options, sum, TP_COUNT_empty_polls);
	if (stack_is_submitted_for(&options->stack))
		printf("%-22s n/a (%s)\n", "busy_us_per_request", stack_busy_unknown);
	else
		print_ratio("busy_us_per_request", server->busy.busy_ns / 1000, server->requests);
	print_refusals(options, sum);
	fflush(stdout);
}
