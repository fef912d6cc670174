#include "apps/run/plan/fit.h"

#include "apps/common/pipeline_flags.h"
#include "apps/common/ports.h"
#include "apps/common/stack.h"
#include "apps/load/client.h"
#include "apps/run/plan/argv.h"
#include "apps/run/plan/workers.h"
#include "dataplane/core/hugepages.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/spec.h"
#include "dataplane/proto/frame.h"
#include "dataplane/tls/tls.h"
#include "stacks/registry.h"

#include <errno.h>
#include <string.h>

/* Server and client are a process each. */
enum { HUGEPAGES_NEEDED_MIB = 2 * HUGEPAGES_PROCESS_MIB };

/* Of a request's head beside its path: the rest of its line, Host and Content-Length. */
enum { HTTP_HEAD_BYTES = 128 };

/* The client's file of progress stays open. */
enum { METRICS_FILES = 1 };

/* Which stacks the sides of a cell use. */
struct sides {
	struct stack_choice server;
	struct stack_choice client;
};

static void print_wait(struct setting_value *value, char text[WAIT_TEXT])
{
	struct wait wait;

	if (wait_parse(value->word, &wait) == 0)
		value->word = wait_print(&wait, text);
}

void fit_words(struct plan_cell *cell)
{
	print_wait(&cell->cell.of[SETTING_WAIT], cell->wait_text);
	print_wait(&cell->cell.of[SETTING_CLIENT_WAIT], cell->client_wait_text);
}

/* The client's as the server's, unless it is told otherwise. */
static void resolve_client(struct setting_value *of)
{
	if (setting_says(of[SETTING_CLIENT_STACK], "same"))
		of[SETTING_CLIENT_STACK] = of[SETTING_STACK];
	if (setting_says(of[SETTING_CLIENT_WAIT], "same"))
		of[SETTING_CLIENT_WAIT] = of[SETTING_WAIT];
}

/* The bytes of each response, where the handler says them. */
static void resolve_response(struct setting_value *of)
{
	const char *handler = of[SETTING_HANDLER].word, *argument;

	if (spec_find(handler, &argument)->answers == HANDLER_ANSWERS_ECHO)
		of[SETTING_RESPONSE_BYTES] = of[SETTING_REQUEST_BYTES];
	else
		of[SETTING_RESPONSE_BYTES].number =
			spec_fill_bytes(handler, of[SETTING_RESPONSE_BYTES].number);
}

/* Replaces what was left to the program by what it becomes. */
static void resolve(struct setting_value *of, const struct sides *sides,
		    const struct plan_ground *ground)
{
	if (setting_says(of[SETTING_WAIT], "default"))
		of[SETTING_WAIT].word = sides->server.stack->spins ? "spin" : "block";
	if (setting_says(of[SETTING_CLIENT_WAIT], "default"))
		of[SETTING_CLIENT_WAIT].word = sides->client.stack->spins ? "spin" : "block";
	resolve_response(of);
	if (sides->server.stack->ops->capabilities & TP_NEEDS_HUGEPAGES &&
	    setting_says(of[SETTING_HUGEPAGES], "auto"))
		of[SETTING_HUGEPAGES].word =
			ground->hugepages_free_mib >= HUGEPAGES_NEEDED_MIB ? "yes" : "no";
}

static int judge_wait(const struct stack *stack, const char *name, const struct setting_value *wait,
		      const char *setting, struct tp_error *error)
{
	if (setting_says(*wait, "spin") || setting_says(*wait, "default") ||
	    stack->ops->capabilities & TP_CAN_BLOCK)
		return 0;
	return tp_fail(error, -EINVAL,
		       "%s cannot wait by `%s`; set \"%s\" to \"spin\" or \"default\", or "
		       "exclude it",
		       name, wait->word, setting);
}

/* Whether a side may have so many workers. 0, or -EINVAL with `error` filled. */
static int judge_workers(const struct link *link, struct setting_value workers, const char *setting,
			 struct tp_error *error)
{
	if (link->workers_max == 0 || workers.word || workers.number <= link->workers_max)
		return 0;
	return tp_fail(error, -EINVAL,
		       "%s has at most %u worker in a process, not %u; set \"%s\" to %u, or "
		       "exclude it",
		       link->name, link->workers_max, workers.number, setting, link->workers_max);
}

/* What the cell's stacks cannot do. 0, or -EINVAL with `error` filled. */
static int judge_stacks(const struct plan_cell *cell, const struct sides *sides,
			struct tp_error *error)
{
	const struct setting_value *of = cell->cell.of;
	int code = judge_workers(cell->link, of[SETTING_WORKERS], "workers", error);

	if (code == 0)
		code = judge_workers(link_find(of[SETTING_CLIENT_STACK].word),
				     of[SETTING_CLIENT_WORKERS], "client_workers", error);
	if (code == 0)
		code = judge_wait(sides->server.stack, of[SETTING_STACK].word, &of[SETTING_WAIT],
				  setting_name(SETTING_WAIT), error);
	if (code == 0)
		code = judge_wait(sides->client.stack, of[SETTING_CLIENT_STACK].word,
				  &of[SETTING_CLIENT_WAIT], setting_name(SETTING_CLIENT_WAIT),
				  error);
	return code;
}

/* Whether there are enough hugepages, if they must be. 0, or -EINVAL with `error` filled. */
static int judge_hugepages(const struct plan_cell *cell, const struct sides *sides,
			   const struct plan_ground *ground, struct tp_error *error)
{
	if (!(sides->server.stack->ops->capabilities & TP_NEEDS_HUGEPAGES) ||
	    !setting_says(cell->cell.of[SETTING_HUGEPAGES], "yes") ||
	    ground->hugepages_free_mib >= HUGEPAGES_NEEDED_MIB)
		return 0;
	return tp_fail(error, -EINVAL,
		       "hugepages are to be used, but %lu MiB of the %d MiB that server and client "
		       "need are free; `weir doctor` says how to get them, or set \"hugepages\" to "
		       "\"auto\" or \"no\"",
		       ground->hugepages_free_mib, HUGEPAGES_NEEDED_MIB);
}

/* Whether the client can reach the server. 0, or -EINVAL with `error` filled. */
static int judge_links(const struct plan_cell *cell, struct tp_error *error)
{
	const struct setting_value *of = cell->cell.of;
	const struct link *client = link_find(of[SETTING_CLIENT_STACK].word);

	if (client->kind == cell->link->kind)
		return 0;
	return tp_fail(error, -EINVAL,
		       "a client of %s connects over %s and cannot reach a server of %s, which is "
		       "on %s; set \"client_stack\" to a stack on %s or to \"same\", or exclude it",
		       of[SETTING_CLIENT_STACK].word, link_kind_name(client->kind),
		       of[SETTING_STACK].word, link_kind_name(cell->link->kind),
		       link_kind_name(cell->link->kind));
}

/* Whether the cell's link is for where its processes run. 0, or -EINVAL with `error` filled. */
static int judge_hosts(const struct plan_cell *cell, const struct plan_ground *ground,
		       struct tp_error *error)
{
	const char *stack = cell->cell.of[SETTING_STACK].word;
	bool on_network = cell->link->kind == LINK_NETWORK;

	if (on_network == (ground->hosts != NULL))
		return 0;
	if (on_network)
		return tp_fail(error, -EINVAL,
			       "%s is for servers and clients on several hosts, and the experiment "
			       "has no \"hosts\"; give them (docs/hosts.md), or exclude it",
			       stack);
	return tp_fail(error, -EINVAL,
		       "%s does not reach other hosts, and the experiment has \"hosts\"; set "
		       "\"stack\" to epoll@network or uring@network, or exclude it",
		       stack);
}

/*
 * Workers and CPUs of a cell whose processes run on several hosts, whose CPUs may not be known yet.
 * 0, or negative errno with `error` filled.
 */
static int choose_far_workers(struct plan_cell *cell, const struct plan_ground *ground,
			      struct tp_error *error)
{
	const struct hosts *hosts = ground->hosts;
	struct setting_value *of = cell->cell.of;
	unsigned all;

	if (setting_says(of[SETTING_CLIENT_WORKERS], "same"))
		of[SETTING_CLIENT_WORKERS] = of[SETTING_WORKERS];
	if (setting_says(of[SETTING_WORKERS], "all") ||
	    setting_says(of[SETTING_CLIENT_WORKERS], "all"))
		return tp_fail(error, -EINVAL,
			       "with \"hosts\" workers are to be numbers, not \"all\"");
	if (setting_says(of[SETTING_PLACEMENT], "across-nodes"))
		return tp_fail(
			error, -EINVAL,
			"\"placement\" is between server and client on one machine, and the "
			"experiment has \"hosts\"; leave it out, or name \"cpus\" of a host");
	all = hosts_client_workers(hosts, of[SETTING_CLIENT_WORKERS].number);
	if (of[SETTING_CONNECTIONS].number < all)
		return tp_fail(error, -EINVAL, "%u connections are too few for %u client workers",
			       of[SETTING_CONNECTIONS].number, all);
	return hosts_pins(hosts, ground->topology, of[SETTING_WORKERS].number,
			  of[SETTING_CLIENT_WORKERS].number, &cell->pins, error);
}

/* Whether a bare echo can take or give bodies so long. 0, or -EINVAL with `error` filled. */
static int judge_bare_body(const struct setting_value *of, enum setting_id id,
			   struct tp_error *error)
{
	if (of[id].number <= BARE_BODY_MAX)
		return 0;
	return tp_fail(
		error, -EINVAL,
		"\"%s\" is %u, but a bare server takes and gives bodies of at most %d bytes; "
		"lower it, set \"bare\" to false, or exclude it",
		setting_name(id), of[id].number, BARE_BODY_MAX);
}

/* What a bare echo cannot be asked for. 0, or -EINVAL with `error` filled. */
static int judge_bare(const struct plan_cell *cell, const struct stack *stack,
		      struct tp_error *error)
{
	const struct setting_value *of = cell->cell.of;

	if (!of[SETTING_BARE].number)
		return 0;
	if (cell_speaks_http(&cell->cell) || of[SETTING_TLS].number)
		return tp_fail(error, -EINVAL,
			       "an experiment's bare server speaks framed without TLS alone; set "
			       "\"bare\" to "
			       "false, or exclude it");
	if (!setting_says(of[SETTING_HANDLER], "respond"))
		return tp_fail(error, -EINVAL,
			       "a bare server answers with a fixed size and has no handler `%s`; "
			       "set \"handler\" to \"respond\", or exclude it",
			       of[SETTING_HANDLER].word);
	if (!stack->bare)
		return tp_fail(error, -EINVAL,
			       "the stack '%s' has no bare echo; set \"bare\" to false, or exclude "
			       "it",
			       stack->name);
	if (judge_bare_body(of, SETTING_REQUEST_BYTES, error) < 0)
		return -EINVAL;
	return judge_bare_body(of, SETTING_RESPONSE_BYTES, error);
}

/* What belongs to HTTP alone. 0, or -EINVAL with `error` filled. */
static int judge_protocol(const struct cell *cell, struct tp_error *error)
{
	static const enum setting_id of_http[] = {SETTING_HTTP_PARSER, SETTING_PATH};
	struct setting_value usual;

	if (cell_speaks_http(cell))
		return 0;
	for (unsigned i = 0; i < sizeof(of_http) / sizeof(of_http[0]); i++)
		if (setting_default(of_http[i], &usual) &&
		    !setting_equal(of_http[i], cell->of[of_http[i]], usual))
			return tp_fail(error, -EINVAL,
				       "\"%s\" is `%s`, which means something with HTTP alone; set "
				       "\"protocol\" to \"http1\", or exclude it",
				       setting_name(of_http[i]), cell->of[of_http[i]].word);
	return 0;
}

/* Whether this build, whose is the client, speaks TLS. 0, or negative errno with `error`. */
static int judge_tls(const struct cell *cell, struct tp_error *error)
{
	static const struct tls_config client = {.insecure = true, .version_max = TLS_1_3};

	return cell->of[SETTING_TLS].number ? tls_check(&client, error) : 0;
}

/* Whether both sides may have as many sockets. 0, or negative errno with `error` filled. */
static int judge_descriptors(const struct plan_cell *cell, const struct sides *sides,
			     struct tp_error *error)
{
	const struct setting_value *of = cell->cell.of;
	unsigned connections = of[SETTING_CONNECTIONS].number;
	unsigned link_files = cell->link->kind == LINK_VETH ? VETH_DESCRIPTORS : 0;
	uint64_t kept = cell->kept * of[SETTING_WORKERS].number;
	int code = stack_judge_descriptors(sides->server.stack, of[SETTING_WORKERS].number, true,
					   connections + kept, link_files, error);

	if (code < 0)
		return code;
	code = stack_judge_descriptors(sides->client.stack, of[SETTING_CLIENT_WORKERS].number,
				       false, connections, METRICS_FILES, error);
	if (code < 0 || (cell->link->kind != LINK_LOOPBACK && cell->link->kind != LINK_VETH))
		return code;
	return ports_judge(connections, cell->link->kind == LINK_VETH, error);
}

/* Bytes of a whole request, of HTTP at most. */
static uint32_t request_bytes(const struct cell *cell)
{
	size_t head = cell_speaks_http(cell) ? HTTP_HEAD_BYTES + strlen(cell->of[SETTING_PATH].word)
					     : FRAME_HEAD_BYTES;

	return cell->of[SETTING_REQUEST_BYTES].number + (uint32_t)head;
}

/* Whether a worker has room for all beside what its handlers keep. 0, or -EINVAL with `error`. */
static int judge_room(const struct plan_cell *cell, struct tp_error *error)
{
	unsigned connections = cell->cell.of[SETTING_CONNECTIONS].number;
	uint32_t conn_max = argv_conn_max(connections, cell->kept);

	if (handler_clients(conn_max, cell->kept) >= connections)
		return 0;
	return tp_fail(error, -EINVAL,
		       "of the %u connections that a worker can have its handlers keep %llu for "
		       "their upstreams, and %u clients are more than are left; lower "
		       "\"connections\", or exclude it",
		       conn_max, (unsigned long long)cell->kept, connections);
}

/* What the settings cannot mean together. 0, or -EINVAL with `error` filled. */
static int judge_load(const struct cell *cell, struct tp_error *error)
{
	const struct setting_value *of = cell->of;

	static const enum setting_id sides[] = {SETTING_WORKERS, SETTING_CLIENT_WORKERS};

	for (unsigned i = 0; i < sizeof(sides) / sizeof(sides[0]); i++)
		if (of[SETTING_CONNECTIONS].number < of[sides[i]].number)
			return tp_fail(error, -EINVAL, "%u connections are too few for %u workers",
				       of[SETTING_CONNECTIONS].number, of[sides[i]].number);
	if (client_send_bytes(of[SETTING_DEPTH].number, request_bytes(cell)) == 0)
		return tp_fail(
			error, -EINVAL,
			"a window of depth %u of %u-byte requests is larger than any connection's "
			"send memory; lower one of them, or exclude it",
			of[SETTING_DEPTH].number, of[SETTING_REQUEST_BYTES].number);
	return 0;
}

/*
 * Whether server and client keep out of each other's CPUs. Their workers do; a thread of the
 * kernel's that polls for one of them may be told to run on the other's. 0, or -EINVAL with `error`
 * filled.
 */
static int judge_held(const struct plan_cell *cell, const struct sides *sides,
		      struct tp_error *error)
{
	struct cpus server =
		stack_held_cpus(sides->server.stack, sides->server.options, &cell->pins.server);
	struct cpus client =
		stack_held_cpus(sides->client.stack, sides->client.options, &cell->pins.client);

	for (unsigned i = 0; i < server.count; i++)
		if (cpus_have(&client, server.cpu[i]))
			return tp_fail(
				error, -EINVAL,
				"server (%s) and client (%s) would share CPU %u by \"sqpoll-cpu\"; "
				"name one that neither side has and give the client a "
				"\"client_stack\" of its own, or exclude it",
				cell->cell.of[SETTING_STACK].word,
				cell->cell.of[SETTING_CLIENT_STACK].word, server.cpu[i]);
	return 0;
}

/* Finds the stacks of both sides. 0, or negative errno with `error` filled. */
static int find_sides(const struct plan_cell *cell, struct sides *sides, struct tp_error *error)
{
	const struct setting_value *of = cell->cell.of;
	int code = stack_find(of[SETTING_STACK].word, &sides->server, error);

	return code < 0 ? code : stack_find(of[SETTING_CLIENT_STACK].word, &sides->client, error);
}

/* Workers and CPUs of a cell whose processes are all here. 0, or negative errno with `error`. */
static int choose_workers(struct plan_cell *cell, const struct sides *sides,
			  const struct plan_ground *ground, const int *kind, bool even,
			  struct tp_error *error)
{
	const struct setting_value *of = cell->cell.of;
	const struct link *client = link_find(of[SETTING_CLIENT_STACK].word);
	struct workers_bounds bounds = {cell->link->workers_max, client->workers_max, kind, even};
	int code;

	if (!kind)
		cell->client_fills = setting_says(of[SETTING_CLIENT_WORKERS], "all");
	code = workers_choose(&cell->cell, ground->topology, &bounds, &cell->pins, error);
	if (code == 0 && cell->upstream_workers)
		code = pins_add_upstream(ground->topology, cell->upstream_workers, &cell->pins,
					 error);
	return code < 0 ? code : judge_held(cell, sides, error);
}

/* How a cell's CPUs fall short, or "". */
static const char *shortage_of(const struct plan_cell *cell)
{
	return cell->pins.degraded ? cell->pins.degraded : "";
}

bool fit_kind(struct plan_cell *cell, const struct plan_ground *ground, int kind, bool even)
{
	struct plan_cell moved = *cell;
	struct tp_error ignored;
	struct sides sides;

	if (cell->client_fills)
		moved.cell.of[SETTING_CLIENT_WORKERS] = (struct setting_value){.word = "all"};
	if (find_sides(cell, &sides, &ignored) < 0 ||
	    choose_workers(&moved, &sides, ground, &kind, even, &ignored) < 0 ||
	    (moved.pins.degraded && strcmp(moved.pins.degraded, shortage_of(cell)) != 0))
		return false;
	cell->cell.of[SETTING_CLIENT_WORKERS] = moved.cell.of[SETTING_CLIENT_WORKERS];
	cell->pins = moved.pins;
	return true;
}

int fit_cell(struct plan_cell *cell, const struct plan_ground *ground, struct tp_error *error)
{
	struct setting_value *of = cell->cell.of;
	struct sides sides;
	int code;

	resolve_client(of);
	cell->link = link_find(of[SETTING_STACK].word);
	code = find_sides(cell, &sides, error);
	if (code == 0)
		code = judge_links(cell, error);
	if (code == 0)
		code = judge_hosts(cell, ground, error);
	if (code == 0)
		code = judge_stacks(cell, &sides, error);
	if (code == 0)
		code = judge_protocol(&cell->cell, error);
	if (code == 0)
		code = judge_tls(&cell->cell, error);
	if (code == 0)
		code = judge_bare(cell, sides.server.stack, error);
	if (code == 0 && ground->hosts)
		code = choose_far_workers(cell, ground, error);
	else if (code == 0)
		code = choose_workers(cell, &sides, ground, NULL, false, error);
	if (code == 0)
		code = judge_load(&cell->cell, error);
	if (code == 0)
		code = judge_room(cell, error);
	if (code == 0)
		resolve(of, &sides, ground);
	return code;
}

int fit_host(const struct plan_cell *cell, const struct plan_ground *ground, struct tp_error *error)
{
	struct sides sides;
	int code = find_sides(cell, &sides, error);

	if (code == 0)
		code = judge_hugepages(cell, &sides, ground, error);
	if (code == 0)
		code = judge_descriptors(cell, &sides, error);
	return code;
}
