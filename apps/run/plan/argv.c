#include "apps/run/plan/argv.h"

#include "dataplane/core/limits.h"
#include "dataplane/handlers/spec.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 2, 3))) static void add_text(json_t *argv, const char *format, ...)
{
	char text[PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(argv, json_string(text));
}

static void add_flag(json_t *argv, const char *flag, const char *value)
{
	add_text(argv, "--%s", flag);
	add_text(argv, "%s", value);
}

static void add_setting(json_t *argv, const char *flag, const struct cell *cell, enum setting_id id)
{
	add_text(argv, "--%s", flag);
	if (setting_kind(id) == SETTING_IS_WORD)
		add_text(argv, "%s", cell->of[id].word);
	else
		add_text(argv, "%u", cell->of[id].number);
}

/* One side of a sample: which program, how it runs and waits, and where it is. */
struct side {
	const char *verb;
	enum setting_id stack;
	enum setting_id wait;
	enum setting_id workers;
	const char *handler; /* of a client: whose answers it expects; NULL: it is not told */
	const char *address; /* NULL if it needs none */
	const struct cpus *cpus;
};

static struct link_place link_place_of(const struct plan_sample *sample,
				       const struct plan_ground *ground)
{
	return (struct link_place){.socket_folder = ground->socket_folder,
				   .run_id = ground->run_id,
				   .sample_id = sample->id,
				   .port = ground->port,
				   .network_ip =
					   ground->hosts ? hosts_address(ground->hosts) : NULL};
}

/* What both sides are told in this order: where and how they run, and what is answered. */
static json_t *begin_argv(const struct side *side, const struct plan_sample *sample,
			  const struct plan_ground *ground)
{
	const struct cell *cell = &sample->cell->cell;
	struct link_place place = link_place_of(sample, ground);
	char spec[LINK_SPEC_BYTES], text[CPUS_TEXT_BYTES];
	json_t *argv = json_pack("[ss]", "weir", side->verb);

	add_flag(argv, "stack", link_print_spec(cell->of[side->stack].word, &place, spec));
	if (side->address)
		add_flag(argv, "address", side->address);
	add_setting(argv, "workers", cell, side->workers);
	add_flag(argv, "cpus", side->cpus->count ? cpus_print(side->cpus, text) : PLAN_CPUS_LATER);
	add_setting(argv, "wait", cell, side->wait);
	add_setting(argv, "hugepages", cell, SETTING_HUGEPAGES);
	if (side->handler)
		add_flag(argv, "handler", side->handler);
	add_setting(argv, "response-bytes", cell, SETTING_RESPONSE_BYTES);
	return argv;
}

/*
 * What is spoken, as both sides are told. What a program does by itself is not said, so that one of
 * an older commit, which knows no other, can be told the same.
 */
static void add_protocol(json_t *argv, const struct cell *cell)
{
	if (cell_speaks_http(cell))
		add_setting(argv, "protocol", cell, SETTING_PROTOCOL);
	if (cell->of[SETTING_TLS].number)
		add_text(argv, "--tls");
}

/* Its file may say things of a protocol that this cell does not speak, and the cell says so. */
static void add_config(json_t *argv, const struct experiment *experiment, const struct cell *cell)
{
	add_flag(argv, "config", experiment->server_config);
	if (!cell_speaks_http(cell))
		add_setting(argv, "protocol", cell, SETTING_PROTOCOL);
	if (!cell->of[SETTING_TLS].number)
		add_text(argv, "--no-tls");
}

/* Where the upstream listens and the server connects to. */
static void add_upstream(json_t *argv, const char *flag, const struct plan_ground *ground)
{
	add_text(argv, "--%s", flag);
	add_text(argv, "127.0.0.1:%u", ground->upstream_port);
}

uint64_t argv_kept(const struct experiment *experiment, const struct cell *cell)
{
	const struct routes *routes = &experiment->routes;
	struct route all = {.path = "/", .handler = cell->of[SETTING_HANDLER].word};
	const char *upstream = experiment->upstream.wanted ? "127.0.0.1:1" : NULL;

	if (cell->of[SETTING_BARE].number)
		return 0;
	return spec_count_conns(routes->count ? routes->table : &all,
				routes->count ? routes->count : 1, upstream);
}

uint32_t argv_conn_max(unsigned connections, uint64_t kept)
{
	uint64_t clients = connections > LIMIT_CONN_DEFAULT ? connections : LIMIT_CONN_DEFAULT;

	return clients + kept < LIMIT_CONN_MAX ? (uint32_t)(clients + kept) : LIMIT_CONN_MAX;
}

/* Whether anything that answers in a cell passes requests on: a server told in vain refuses. */
static bool passes_on(const struct experiment *experiment, const struct cell *cell)
{
	const struct routes *routes = &experiment->routes;

	for (unsigned i = 0; i < routes->count; i++)
		if (spec_wants_upstream(routes->table[i].handler))
			return true;
	return routes->count == 0 && spec_wants_upstream(cell->of[SETTING_HANDLER].word);
}

json_t *argv_make_server(const struct experiment *experiment, const struct plan_sample *sample,
			 const struct plan_ground *ground)
{
	const struct plan_cell *cell = sample->cell;
	const struct setting_value *of = cell->cell.of;
	const struct side side = {.verb = "serve",
				  .stack = SETTING_STACK,
				  .wait = SETTING_WAIT,
				  .workers = SETTING_WORKERS,
				  .handler = experiment->routes.count ? NULL
								      : of[SETTING_HANDLER].word,
				  .address = cell->link->server_address,
				  .cpus = &cell->pins.server};
	struct link_place place = link_place_of(sample, ground);
	char endpoint[LINK_ENDPOINT_BYTES];
	json_t *argv = begin_argv(&side, sample, ground);

	add_flag(argv, "listen", link_print_endpoint(cell->link, &place, endpoint));
	if (of[SETTING_BARE].number) {
		add_text(argv, "--bare");
		add_setting(argv, "request-bytes", &cell->cell, SETTING_REQUEST_BYTES);
	} else {
		add_setting(argv, "delivery", &cell->cell, SETTING_DELIVERY);
	}
	add_text(argv, "--conn-max");
	add_text(argv, "%u", argv_conn_max(of[SETTING_CONNECTIONS].number, cell->kept));
	add_protocol(argv, &cell->cell);
	if (cell_speaks_http(&cell->cell) && !setting_says(of[SETTING_HTTP_PARSER], "views"))
		add_setting(argv, "http-parser", &cell->cell, SETTING_HTTP_PARSER);
	if (experiment->server_config)
		add_config(argv, experiment, &cell->cell);
	if (experiment->upstream.wanted && passes_on(experiment, &cell->cell))
		add_upstream(argv, "upstream", ground);
	return argv;
}

json_t *argv_make_client(const struct experiment *experiment, const struct plan_sample *sample,
			 const struct plan_ground *ground)
{
	const struct plan_cell *cell = sample->cell;
	const struct setting_value *of = cell->cell.of;
	const struct side side = {.verb = "load",
				  .stack = SETTING_CLIENT_STACK,
				  .wait = SETTING_CLIENT_WAIT,
				  .workers = SETTING_CLIENT_WORKERS,
				  .handler = setting_says(of[SETTING_HANDLER], "echo") ? "echo"
										       : "respond",
				  .address = cell->link->client_address,
				  .cpus = &cell->pins.client};
	struct link_place place = link_place_of(sample, ground);
	char endpoint[LINK_ENDPOINT_BYTES];
	json_t *argv = begin_argv(&side, sample, ground);

	add_flag(argv, "connect", link_print_endpoint(cell->link, &place, endpoint));
	add_setting(argv, "connections", &cell->cell, SETTING_CONNECTIONS);
	add_setting(argv, "depth", &cell->cell, SETTING_DEPTH);
	add_setting(argv, "request-bytes", &cell->cell, SETTING_REQUEST_BYTES);
	add_setting(argv, "refill", &cell->cell, SETTING_REFILL);
	add_protocol(argv, &cell->cell);
	if (of[SETTING_TLS].number)
		add_text(argv,
			 "--tls-insecure"); /* the server makes its certificate as it starts */
	if (cell_speaks_http(&cell->cell))
		add_setting(argv, "path", &cell->cell, SETTING_PATH);
	add_flag(argv, "warmup", experiment->warmup);
	add_flag(argv, "duration", experiment->duration);
	add_text(argv, "--json");
	add_text(argv, "%s/client.json", sample->folder);
	add_text(argv, "--metrics");
	add_text(argv, "%s/metrics.jsonl", sample->folder);
	add_text(argv, "--hgrm");
	add_text(argv, "%s/latency.hgrm", sample->folder);
	return argv;
}

json_t *argv_make_upstream(const struct experiment *experiment, const struct plan_sample *sample,
			   const struct plan_ground *ground)
{
	const struct upstream *upstream = &experiment->upstream;
	char text[CPUS_TEXT_BYTES];
	json_t *argv = json_pack("[ss]", "weir", "serve");

	add_flag(argv, "stack", "epoll@loopback");
	add_text(argv, "--workers");
	add_text(argv, "%u", upstream->workers);
	add_flag(argv, "cpus", cpus_print(&sample->cell->pins.upstream, text));
	add_flag(argv, "wait", "block");
	add_flag(argv, "handler", upstream->handler);
	add_text(argv, "--response-bytes");
	add_text(argv, "%u", upstream->response_bytes);
	add_upstream(argv, "listen", ground);
	add_flag(argv, "protocol", "http1");
	add_flag(argv, "delivery", "immediate");
	return argv;
}
