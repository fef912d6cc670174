#include "tests/unit/load/rig.h"

#include "apps/load/dialect.h"
#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tp_addr address = {.port = 7878};

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
				       .worker = 3,
				       .talk = &rig->talk};
	struct talk_config talk = {.dialect = config->http ? &dialect_http1 : &dialect_framed,
				   .request_bytes = config->request_bytes,
				   .answer = config->answer,
				   .response_bytes = config->response_bytes,
				   .method = TALK_METHOD_SUITABLE,
				   .path = "/",
				   .server = &address,
				   .status = 200};
	struct tp_error error;

	memset(rig, 0, sizeof(*rig));
	open_transport(rig, config);
	CU_ASSERT_EQUAL_FATAL(talk_init(&rig->talk, &talk, &error), 0);
	rig->record = malloc(sizeof(*rig->record));
	CU_ASSERT_EQUAL_FATAL(client_create(&client, rig->client_tp, rig->record, &rig->client), 0);
}

void rig_close(struct rig *rig)
{
	client_destroy(rig->client);
	memory_ops.close(rig->client_tp);
	memory_ops.close(rig->server_tp);
	memory_net_destroy(rig->net);
	talk_fini(&rig->talk);
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

/* Takes a request's head. Whether it was there, and the id that its body is to belong to. */
static bool read_head(const struct rig *rig, const struct rig_end *end, struct span_reader *reader,
		      uint64_t *id_out)
{
	const struct talk *talk = &rig->talk;
	struct frame_head head;
	uint8_t bytes[256];

	if (talk->dialect == &dialect_framed) {
		if (frame_decode(reader, LIMIT_FRAME_BYTES, &head) != FRAME_OK)
			return false;
		CU_ASSERT_EQUAL(head.opcode, FRAME_OPCODE_STRESS);
		CU_ASSERT_EQUAL(head.flags, FRAME_START | FRAME_END);
		CU_ASSERT_EQUAL_FATAL(head.body_bytes, talk->bodies.body_bytes);
		*id_out = head.id;
		return true;
	}
	CU_ASSERT_FATAL(talk->head_bytes <= sizeof(bytes));
	if (reader->left < talk->head_bytes)
		return false;
	span_reader_copy(reader, bytes, talk->head_bytes);
	CU_ASSERT_EQUAL(memcmp(bytes, talk->head, talk->head_bytes), 0);
	*id_out = RIG_FIRST_ID + ((uint64_t)(end - rig->ends) << 32) + end->request_total;
	return true;
}

/* Takes one request from the reader; false if there is no whole one. */
static bool read_request(struct rig *rig, struct rig_end *end, struct span_reader *reader)
{
	const struct bodies *bodies = &rig->talk.bodies;
	struct span_reader ahead = *reader;
	uint8_t body[2048];
	uint64_t id;

	if (!read_head(rig, end, &ahead, &id) || ahead.left < bodies->body_bytes)
		return false;
	CU_ASSERT_FATAL(bodies->body_bytes <= sizeof(body));
	span_reader_copy(&ahead, body, bodies->body_bytes);
	CU_ASSERT_EQUAL(memcmp(body, bodies_at(bodies, id), bodies->body_bytes), 0);
	CU_ASSERT_FATAL(end->request_count < RIG_REQUESTS);
	end->requests[end->request_count++] = id;
	end->request_total++;
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

/* The right head of a response; its length. */
static size_t put_head(const struct talk *talk, uint64_t id, uint8_t *to)
{
	struct frame_head head = {.id = id,
				  .opcode = FRAME_OPCODE_STRESS,
				  .flags = FRAME_START | FRAME_END,
				  .body_bytes = talk->response_bytes};

	if (talk->dialect == &dialect_http1)
		return (size_t)sprintf((char *)to, "HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n",
				       talk->response_bytes);
	frame_encode(to, &head);
	return FRAME_HEAD_BYTES;
}

size_t rig_response(const struct rig *rig, uint64_t id, uint8_t *to)
{
	const struct talk *talk = &rig->talk;
	size_t head_bytes = put_head(talk, id, to);

	if (talk->answer == TALK_ECHO)
		memcpy(to + head_bytes, bodies_at(&talk->bodies, id), talk->response_bytes);
	else
		memset(to + head_bytes, FRAME_FILL_BYTE, talk->response_bytes);
	return head_bytes + talk->response_bytes;
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

void rig_start(struct rig *rig, const struct rig_config *config)
{
	rig_open(rig, config);
	rig_connect(rig);
	client_begin(rig->client);
	rig_read(rig);
}

void rig_end_well(struct rig *rig)
{
	client_hold(rig->client);
	for (unsigned i = 0; i < 10 && client_outstanding(rig->client) > 0; i++) {
		rig_read(rig);
		rig_answer(rig);
		client_turn(rig->client, 0);
	}
	CU_ASSERT_EQUAL(client_outstanding(rig->client), 0);
	CU_ASSERT_FALSE(client_failed(rig->client));
	client_finish(rig->client);
	rig_poll(rig);
	for (unsigned i = 0; i < rig->accepted; i++)
		tp_finish(rig->server_tp, rig->ends[i].conn);
	for (unsigned i = 0; i < 4; i++) {
		rig_poll(rig);
		client_turn(rig->client, 0);
	}
	CU_ASSERT_TRUE(client_idle(rig->client));
	CU_ASSERT_EQUAL(failures_total(client_failures(rig->client)), 0);
	rig_close(rig);
}

void rig_expect_failure(const struct rig *rig, enum failure_kind kind, uint64_t count,
			const char *says)
{
	const struct failures *failures = client_failures(rig->client);

	CU_ASSERT_TRUE(client_failed(rig->client));
	CU_ASSERT_EQUAL(failures->count[kind], count);
	CU_ASSERT_EQUAL(failures_total(failures), count);
	if (!strstr(failures->text[kind], says)) {
		printf("# %s: wanted '%s' in '%s'\n", failure_name(kind), says,
		       failures->text[kind]);
		CU_FAIL("a failure's text does not say what happened");
	}
}

void rig_answer_with(struct rig *rig, const uint8_t *bytes, size_t count)
{
	rig_send(rig, &rig->ends[0], bytes, count);
	client_turn(rig->client, 0);
	client_turn(rig->client, 0);
	rig_poll(rig);
}
