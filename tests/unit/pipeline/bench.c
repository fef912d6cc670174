#include "tests/unit/pipeline/bench.h"

#include "dataplane/handlers/spec.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct tp_addr address = {.port = 7878};

struct server_config bench_config(const char *delivery, const char *handler,
				  uint32_t response_bytes)
{
	static struct route route = {.path = "/", .prefix = true};
	struct server_config config = {.routes = &route,
				       .route_count = 1,
				       .create_handler = spec_create,
				       .response_bytes = response_bytes,
				       .conn_max = BENCH_CONNS};

	route.handler = handler;
	CU_ASSERT_EQUAL(delivery_parse(delivery, &config.delivery), 0);
	return config;
}

void bench_open(struct bench *bench, const struct server_config *config,
		const struct tp_limits *limits)
{
	struct tp_config open = {.limits = *limits, .cpu = -1, .workers = 1};
	struct tp_error error;

	memset(bench, 0, sizeof(*bench));
	CU_ASSERT_EQUAL_FATAL(memory_net_create(&bench->net), 0);
	open.shared = bench->net;
	CU_ASSERT_EQUAL_FATAL(memory_ops.open(&open, &bench->server_tp, &error), 0);
	CU_ASSERT_EQUAL_FATAL(memory_ops.open(&open, &bench->client_tp, &error), 0);
	CU_ASSERT_EQUAL_FATAL(memory_ops.listen(bench->server_tp, &address, &error), 0);
	CU_ASSERT_EQUAL_FATAL(server_create(config, bench->server_tp, &bench->server, &error), 0);
}

void bench_close(struct bench *bench)
{
	server_destroy(bench->server);
	memory_ops.close(bench->client_tp);
	memory_ops.close(bench->server_tp);
	memory_net_destroy(bench->net);
}

static void poll_client(struct bench *bench)
{
	struct tp_event events[BENCH_CONNS];
	struct tp_turn turn;
	unsigned count = tp_poll(bench->client_tp, events, BENCH_CONNS, 0, &turn);

	for (unsigned i = 0; i < count; i++) {
		struct bench_end *end = events[i].conn->user;

		end->connected |= events[i].bits & TP_CONNECTED;
		end->finished |= (events[i].bits & TP_FINISHED) != 0;
		if (events[i].bits & TP_CLOSED) {
			end->closed = true;
			end->reason = events[i].reason;
		}
	}
}

void bench_turn(struct bench *bench)
{
	server_turn(bench->server, 0);
	server_check(bench->server);
	poll_client(bench);
}

struct bench_end *bench_connect(struct bench *bench, unsigned index)
{
	struct bench_end *end = &bench->ends[index];
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(
		memory_ops.connect(bench->client_tp, &address, end, &end->conn, &error), 0);
	bench_turn(bench);
	return end;
}

void bench_send(struct bench *bench, struct bench_end *end, const uint8_t *bytes, size_t count)
{
	struct room rooms[2];
	unsigned pieces = tp_reserve(bench->client_tp, end->conn, count, rooms);
	struct room_writer writer = room_writer_of(rooms, pieces);

	CU_ASSERT_EQUAL_FATAL(writer.left, count);
	room_writer_put(&writer, bytes, count);
	tp_commit(bench->client_tp, end->conn, count);
	tp_flush(bench->client_tp, end->conn);
}

void bench_request(struct bench *bench, struct bench_end *end, uint64_t first_id, unsigned count,
		   uint32_t body_bytes)
{
	size_t frame_bytes = FRAME_HEAD_BYTES + body_bytes;
	uint8_t *bytes = malloc(count * frame_bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	for (unsigned i = 0; i < count; i++) {
		struct frame_head head = {.id = first_id + i,
					  .opcode = FRAME_OPCODE_STRESS,
					  .flags = FRAME_START | FRAME_END,
					  .body_bytes = body_bytes};

		frame_encode(bytes + i * frame_bytes, &head);
		memset(bytes + i * frame_bytes + FRAME_HEAD_BYTES, (int)(first_id + i), body_bytes);
	}
	bench_send(bench, end, bytes, count * frame_bytes);
	free(bytes);
}

size_t bench_read(struct bench *bench, struct bench_end *end, uint8_t *to, size_t room)
{
	struct span spans[2];
	struct span_reader reader =
		span_reader_of(spans, tp_peek(bench->client_tp, end->conn, spans, 2));
	size_t step = reader.left < room ? reader.left : room;

	span_reader_copy(&reader, to, step);
	tp_consume(bench->client_tp, end->conn, step);
	return step;
}

bool bench_expect(struct bench *bench, struct bench_end *end, uint64_t id, uint32_t flags,
		  const uint8_t *body, size_t body_bytes)
{
	struct span spans[2];
	struct span_reader reader =
		span_reader_of(spans, tp_peek(bench->client_tp, end->conn, spans, 2));
	struct frame_head head;
	uint8_t *got;
	bool same;

	if (frame_decode(&reader, UINT32_MAX, &head) != FRAME_OK)
		return false;
	if (head.id != id || head.flags != flags || head.body_bytes != body_bytes ||
	    reader.left < body_bytes)
		return false;
	got = malloc(body_bytes + 1);
	span_reader_copy(&reader, got, body_bytes);
	same = body_bytes == 0 || memcmp(got, body, body_bytes) == 0;
	free(got);
	tp_consume(bench->client_tp, end->conn, FRAME_HEAD_BYTES + body_bytes);
	return same;
}

struct tp_counters bench_counters(const struct bench *bench)
{
	struct tp_counters counters = {0};

	bench->server_tp->ops->counters(bench->server_tp, &counters);
	return counters;
}
