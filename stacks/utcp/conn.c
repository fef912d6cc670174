#include "stacks/utcp/conn.h"

#include "dataplane/core/check.h"
#include "dataplane/core/slab.h"

#include <string.h>

#define TO(state) (1u << (state))

/* RFC 9293 figure 5; every state may also break off to CLOSED, as do those that figure 5 leads to
 * TIME-WAIT (time_wait.h). */
static const uint16_t legal[CONN_STATE_COUNT] = {
	[CONN_CLOSED] = TO(CONN_SYN_SENT) | TO(CONN_SYN_RECEIVED),
	[CONN_SYN_SENT] = TO(CONN_SYN_RECEIVED) | TO(CONN_ESTABLISHED),
	[CONN_SYN_RECEIVED] = TO(CONN_ESTABLISHED),
	[CONN_ESTABLISHED] = TO(CONN_FIN_WAIT_1) | TO(CONN_CLOSE_WAIT),
	[CONN_FIN_WAIT_1] = TO(CONN_FIN_WAIT_2) | TO(CONN_CLOSING),
	[CONN_FIN_WAIT_2] = 0,
	[CONN_CLOSE_WAIT] = TO(CONN_LAST_ACK),
	[CONN_CLOSING] = 0,
	[CONN_LAST_ACK] = 0,
};

static const char *const names[CONN_STATE_COUNT] = {
	"CLOSED",     "SYN-SENT",   "SYN-RECEIVED", "ESTABLISHED", "FIN-WAIT-1",
	"FIN-WAIT-2", "CLOSE-WAIT", "CLOSING",	    "LAST-ACK",
};

void conn_prepare(struct utcp_conn *conn, uint8_t *memory, uint32_t recv_bytes, uint32_t send_bytes)
{
	CHECK(memory != NULL);
	memset(conn, 0, sizeof(*conn));
	ring_init(&conn->recv, memory, recv_bytes);
	ring_init(&conn->send, memory + recv_bytes + CONN_SEND_STAGGER_BYTES, send_bytes);
	conn->gaps = SLAB_NONE;
	list_init(&conn->event_link);
	list_init(&conn->out_link);
	timer_init(&conn->timer);
	rtt_init(&conn->rtt);
	flight_init(&conn->flight);
	conn->recovery = SLAB_NONE;
	conn->path = rack_path_of_new();
	conn->usual_flags = TCP_ACKS;
	conn->timeout_at_ns = conn->ack_at_ns = conn->liveness.look_at_ns = TIMER_NEVER;
}

void conn_set_state(struct utcp_conn *conn, enum conn_state state)
{
	ASSERT(state == CONN_CLOSED ? conn->state != CONN_CLOSED : legal[conn->state] & TO(state));
	conn->state = (uint8_t)state;
}

const char *conn_state_name(enum conn_state state)
{
	return state < CONN_STATE_COUNT ? names[state] : "?";
}
