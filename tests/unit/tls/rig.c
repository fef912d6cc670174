#include "tests/unit/tls/rig.h"

#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "stacks/memory/memory.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { DETAILS_MAX = 64, CRUMB_BYTES = 2 * LIMIT_CHUNK_BYTES / LIMIT_SPANS };

const char rig_name[] = "tls";
const bool rig_resets = true;
const bool rig_seals = true;
struct rig_side rig_server, rig_client;
uint64_t rig_consumed_bytes;

void rig_reset(void)
{
	rig_server = (struct rig_side){.config = {.server = true, .resumption = true}};
	rig_client = (struct rig_side){.config = {.insecure = true, .resumption = true}};
	rig_server.config.version_max = rig_client.config.version_max = TLS_1_3;
}

/* --- memory, lent in crumbs: as little as the contract allows --- */

static unsigned peek_crumbs(struct tp *tp, struct tp_conn *conn, struct span *spans, unsigned room)
{
	struct span both[2];
	struct span_reader reader =
		span_reader_of(both, memory_ops.peek(tp, conn, both, sizeof(both) / sizeof(*both)));
	unsigned count = 0;

	for (; count < room && reader.left > 0; count++) {
		struct span piece = span_reader_piece(&reader);

		piece.bytes = piece.bytes < CRUMB_BYTES ? piece.bytes : CRUMB_BYTES;
		spans[count] = piece;
		span_reader_skip(&reader, piece.bytes);
	}
	return count;
}

static void consume_crumbs(struct tp *tp, struct tp_conn *conn, size_t bytes)
{
	rig_consumed_bytes += bytes;
	memory_ops.consume(tp, conn, bytes);
}

static void lend_in_crumbs(struct tp *tp)
{
	static struct tp_ops ops;

	ops = memory_ops;
	ops.peek = peek_crumbs;
	ops.consume = consume_crumbs;
	tp->ops = &ops;
	rig_consumed_bytes = 0;
}

static int open_side(const struct rig_side *side, const struct tp_limits *limits,
		     struct memory_net *net, struct tp **tp_out, struct tp_error *error)
{
	struct tp_config config = {.cpu = -1, .workers = 1, .shared = net, .limits = *limits};
	struct tp *lower;
	int code;

	config.limits.conn_max += side->conns_more;
	code = memory_ops.open(&config, &lower, error);
	if (code == 0 && side->in_crumbs)
		lend_in_crumbs(lower);
	if (code == 0 && side->plain)
		*tp_out = lower;
	else if (code == 0)
		code = tls_open(&side->config, limits, lower, tp_out, error);
	if (code < 0)
		printf("# %s\n", error->text);
	return code;
}

int rig_open(const struct tp_limits *server, const struct tp_limits *client,
	     struct rig_pair *pair_out, struct tp_error *error)
{
	struct rig_pair pair = {.addr.port = 1, .nobody.port = 2};
	struct memory_net *net;
	int code = memory_net_create(&net);

	if (code < 0)
		return code;
	pair.shared = net;
	code = open_side(&rig_server, server, net, &pair.server, error);
	if (code == 0)
		code = open_side(&rig_client, client, net, &pair.client, error);
	if (code == 0)
		*pair_out = pair;
	return code; /* a failed test may leak */
}

int rig_reopen_server(struct rig_pair *pair, const struct tp_limits *limits)
{
	struct tp_error error;
	int code = open_side(&rig_server, limits, pair->shared, &pair->server, &error);

	return code < 0 ? code : pair->server->ops->listen(pair->server, &pair->addr, &error);
}

int rig_reopen_client(struct rig_pair *pair, const struct tp_limits *limits)
{
	struct tp_error error;

	return open_side(&rig_client, limits, pair->shared, &pair->client, &error);
}

void rig_close(struct rig_pair *pair)
{
	if (pair->client)
		pair->client->ops->close(pair->client);
	if (pair->server)
		pair->server->ops->close(pair->server);
	memory_net_destroy(pair->shared);
}

uint64_t rig_detail(const struct tp *tp, const char *name)
{
	struct tp_detail details[DETAILS_MAX];
	unsigned count = tp->ops->details(tp, details, DETAILS_MAX);

	for (unsigned i = 0; i < count && i < DETAILS_MAX; i++)
		if (strncmp(details[i].name, "tls_", 4) == 0 &&
		    strcmp(details[i].name + 4, name) == 0)
			return details[i].value;
	CU_FAIL("no such detail");
	return UINT64_MAX;
}

bool rig_until(struct world *world, const struct tp *tp, const char *name, uint64_t value)
{
	uint64_t deadline = clock_now_ns() + 20 * CLOCK_SECOND_NS;

	while (rig_detail(tp, name) < value && clock_now_ns() < deadline)
		world_turn(world);
	return rig_detail(tp, name) >= value;
}
