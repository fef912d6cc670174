/*
 * utcp as what is played against, in the time that the script says.
 */
#include "tests/sim/player.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"

#include <string.h>

static void configure(struct utcp_config *config, const struct script *script)
{
	for (unsigned i = 0; i < script->step_count; i++) {
		const struct script_step *step = &script->steps[i];

		if (step->kind != STEP_CONFIG)
			continue;
		if (strcmp(step->name, "recv") == 0)
			config->recv_bytes = (uint32_t)step->number;
		else if (strcmp(step->name, "send") == 0)
			config->send_bytes = (uint32_t)step->number;
		else if (strcmp(step->name, "mtu") == 0)
			config->mtu = (uint16_t)step->number;
		else if (strcmp(step->name, "conns") == 0)
			config->conn_max = (uint32_t)step->number;
		else
			CHECK(!"a setting that there is");
	}
}

static void open_utcp(struct player *player, const struct script *script)
{
	struct utcp_config config = peer_config();

	config.isn = player->numbers.own;
	if (script)
		configure(&config, script);
	peer_open(&player->peer, &config);
	player->began = *utcp_counters(player->peer.utcp);
}

static void close_utcp(struct player *player)
{
	peer_close(&player->peer);
}

static void put(struct player *player, const struct peer_segment *segment)
{
	peer_put(&player->peer, segment);
}

static bool take(struct player *player, struct peer_segment *segment)
{
	peer_poll(&player->peer);
	return peer_take(&player->peer, segment);
}

static void wait_ns(struct player *player, uint64_t ns)
{
	uint64_t end = player->peer.now_ns + ns, next;

	while ((next = utcp_deadline(player->peer.utcp)) <= end && !player->failure[0]) {
		peer_jump(&player->peer,
			  next > player->peer.now_ns ? next - player->peer.now_ns : 0);
		player_collect(player);
	}
	peer_jump(&player->peer, end - player->peer.now_ns);
	player_collect(player);
}

/* It is never late. */
static void await(struct player *player)
{
	(void)player;
}

/* --- the application ------------------------------------------------------------------------- */

static void connect_(struct player *player)
{
	peer_call(&player->peer);
}

static bool write_(struct player *player, const void *data, size_t bytes)
{
	return peer_app_write(&player->peer, data, bytes);
}

static size_t read_(struct player *player, uint8_t *to, size_t room)
{
	return peer_app_read(&player->peer, to, room);
}

static void finish(struct player *player)
{
	utcp_finish(player->peer.utcp, player->peer.conn);
}

static void abort_(struct player *player)
{
	utcp_abort(player->peer.utcp, player->peer.conn);
}

static uint32_t readable(const struct player *player)
{
	struct span spans[2];
	unsigned count;
	uint32_t bytes = 0;

	if (!player->peer.conn || player->peer.closed > 0)
		return 0;
	count = utcp_peek(player->peer.utcp, player->peer.conn, spans);
	for (unsigned i = 0; i < count; i++)
		bytes += (uint32_t)spans[i].bytes;
	return bytes;
}

static bool finished(const struct player *player)
{
	return player->peer.events & UTCP_FINISHED;
}

/* The one connection that the peer talks to is the only one there is. */
static const char *state(const struct player *player)
{
	const struct utcp *utcp = player->peer.utcp;

	for (uint32_t i = 0; i < utcp->conns.fresh; i++) {
		const struct utcp_conn *conn = slab_at(&utcp->conns, i);

		if (conn_alive(conn) && conn->state != CONN_CLOSED)
			return conn_state_name(conn->state);
	}
	if (utcp->time_waits.table.slab.in_use > 0)
		return "TIME-WAIT";
	return conn_state_name(utcp->calls.table.slab.in_use > 0 ? CONN_SYN_RECEIVED : CONN_CLOSED);
}

static const char *end(const struct player *player)
{
	static const char *const names[] = {
		[UTCP_DONE] = "done",	    [UTCP_RESET] = "reset",
		[UTCP_REFUSED] = "refused", [UTCP_TIMEOUT] = "timeout",
		[UTCP_ABORTED] = "aborted", [UTCP_UNREACHABLE] = "unreachable",
	};

	return player->peer.closed == 0 ? "-" : names[player->peer.reason];
}

static uint64_t counter_of(const struct utcp_counters *counters, const char *name)
{
#define X(field, meaning)              \
	if (strcmp(name, #field) == 0) \
		return counters->field;
	UTCP_COUNTERS(X)
#undef X
	return UINT64_MAX;
}

static uint64_t count(const struct player *player, const struct script_step *step)
{
	return counter_of(utcp_counters(player->peer.utcp), step->name) -
	       counter_of(&player->began, step->name);
}

const struct player_tcp player_utcp = {
	.open = open_utcp,
	.close = close_utcp,
	.put = put,
	.take = take,
	.wait = wait_ns,
	.await = await,
	.connect = connect_,
	.write = write_,
	.read = read_,
	.finish = finish,
	.abort = abort_,
	.readable = readable,
	.finished = finished,
	.state = state,
	.end = end,
	.count = count,
};
