#include "tests/unit/load/rig.h"

#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct tp_addr address = {.port = 7878};
static uint8_t fill[LIMIT_CHUNK_BYTES];

static void open_transport(struct rig *rig, const struct rig_config *config)
{
	uint32_t bytes = config->memory_bytes ? config->memory_bytes : LIMIT_SEND_BYTES;
	struct tp_config open = {
		.limits = {.conn_max = RIG_CONNS, .recv_bytes = bytes, .send_bytes = bytes},
		.cpu = -1,
		.workers = 1};
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(memory_net_create(&rig->net), 0);
	open.shared = rig->net;
	CU_ASSERT_EQUAL_FATAL(memory_ops.open(&open, &rig->server_tp, &error), 0);
	CU_ASSERT_EQUAL_FATAL(memory_ops.open(&open, &rig->client_tp, &error), 0);
	CU_ASSERT_EQUAL_FATAL(memory_ops.listen(rig->server_tp, &address, &error), 0);
}

void rig_open(struct rig *rig, const struct rig_config *config)
{
	struct client_config client = {.server = address,
				       .connections = config->connections,
				       .depth = config->depth,
				       .refill = config->refill,
				       .worker = 3};

	memset(rig, 0, sizeof(*rig));
	memset(fill, FRAME_FILL_BYTE, sizeof(fill));
	open_transport(rig, config);
	CU_ASSERT_EQUAL_FATAL(bodies_create(&rig->bodies, config->request_bytes), 0);
	rig->plan = (struct verify_plan){
		.handler = {.kind = config->handler, .response_bytes = config->response_bytes},
		.bodies = &rig->bodies,
		.fill = fill};
	client.plan = &rig->plan;
	rig->record = malloc(sizeof(*rig->record));
	CU_ASSERT_EQUAL_FATAL(client_create(&client, rig->client_tp, rig->record, &rig->client), 0);
}

void rig_close(struct rig *rig)
{
	client_destroy(rig->client);
	memory_ops.close(rig->client_tp);
	memory_ops.close(rig->server_tp);
	memory_net_destroy(rig->net);
	bodies_destroy(&rig->bodies);
	free(rig->record);
}

void rig_connect(struct rig *rig)
{
	for (unsigned i = 0; i < 10 && !client_connected(rig->client); i++) {
		client_connect(rig->client);
		rig_poll(rig);
		client_turn(rig->client, 0);
	}
	rig_poll(rig);
	CU_ASSERT_TRUE_FATAL(client_connected(rig->client));
}

void rig_poll(struct rig *rig)
{
	struct tp_event events[RIG_CONNS];
	struct tp_turn turn;
	unsigned count = tp_poll(rig->server_tp, events, RIG_CONNS, 0, &turn);

	for (unsigned i = 0; i < count; i++) {
		struct rig_end *end = events[i].conn->user;

		if (events[i].bits & TP_ACCEPTED) {
			end = &rig->ends[rig->accepted++];
			end->conn = events[i].conn;
			end->conn->user = end;
		}
		end->finished |= (events[i].bits & TP_FINISHED) != 0;
		end->closed |= (events[i].bits & TP_CLOSED) != 0;
	}
}

/* Takes one request from the reader; false if there is no whole one. */
static bool read_request(struct rig *rig, struct rig_end *end, struct span_reader *reader)
{
	uint8_t body[2048];
	struct span_reader ahead = *reader;
	struct frame_head head;

	if (frame_decode(&ahead, LIMIT_FRAME_BYTES, &head) != FRAME_OK ||
	    ahead.left < rig->bodies.body_bytes)
		return false;
	CU_ASSERT_EQUAL(head.opcode, FRAME_OPCODE_STRESS);
	CU_ASSERT_EQUAL(head.flags, FRAME_START | FRAME_END);
	CU_ASSERT_EQUAL_FATAL(head.body_bytes, rig->bodies.body_bytes);
	CU_ASSERT_FATAL(head.body_bytes <= sizeof(body));
	span_reader_copy(&ahead, body, head.body_bytes);
	CU_ASSERT_EQUAL(memcmp(body, bodies_at(&rig->bodies, head.id), head.body_bytes), 0);
	CU_ASSERT_FATAL(end->request_count < RIG_REQUESTS);
	end->requests[end->request_count++] = head.id;
	*reader = ahead;
	return true;
}

void rig_read(struct rig *rig)
{
	struct span spans[LIMIT_SPANS];

	rig_poll(rig);
	for (unsigned i = 0; i < rig->accepted; i++) {
		struct rig_end *end = &rig->ends[i];
		struct span_reader reader;
		size_t there;

		if (end->closed)
			continue;
		reader = span_reader_of(spans,
					tp_peek(rig->server_tp, end->conn, spans, LIMIT_SPANS));
		there = reader.left;
		while (read_request(rig, end, &reader))
			;
		if (there > reader.left)
			tp_consume(rig->server_tp, end->conn, there - reader.left);
	}
}

void rig_send(struct rig *rig, struct rig_end *end, const uint8_t *bytes, size_t count)
{
	struct room rooms[2];
	unsigned room_count = tp_reserve(rig->server_tp, end->conn, count, rooms);
	struct room_writer writer = room_writer_of(rooms, room_count);

	CU_ASSERT_FATAL(room_count > 0);
	room_writer_put(&writer, bytes, count);
	tp_commit(rig->server_tp, end->conn, count);
	tp_flush(rig->server_tp, end->conn);
}

size_t rig_response(const struct rig *rig, uint64_t id, uint8_t *to)
{
	const struct handler *handler = &rig->plan.handler;
	uint32_t bytes = handler_response_bytes(handler, rig->bodies.body_bytes);
	struct frame_head head = {.id = id,
				  .opcode = FRAME_OPCODE_STRESS,
				  .flags = FRAME_START | FRAME_END,
				  .body_bytes = bytes};

	frame_encode(to, &head);
	if (handler->kind == HANDLER_ECHO)
		memcpy(to + FRAME_HEAD_BYTES, bodies_at(&rig->bodies, id), bytes);
	else
		memset(to + FRAME_HEAD_BYTES, FRAME_FILL_BYTE, bytes);
	return FRAME_HEAD_BYTES + bytes;
}

void rig_answer(struct rig *rig)
{
	static uint8_t bytes[LIMIT_SEND_BYTES];

	for (unsigned i = 0; i < rig->accepted; i++) {
		struct rig_end *end = &rig->ends[i];
		size_t count = 0;

		for (unsigned j = 0; j < end->request_count; j++)
			count += rig_response(rig, end->requests[j], bytes + count);
		if (count > 0)
			rig_send(rig, end, bytes, count);
		end->request_count = 0;
	}
}
