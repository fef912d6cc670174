#include "tests/unit/handlers/hand.h"

#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/spec.h"
#include "dataplane/pipeline/codec.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1024 * 1024, TURNS_MAX = 3000, CONNS = 320 };

/* The time of all instances, ahead of whatever clock a server looks at when it is made. */
static uint64_t now_ns;

static unsigned poll_now(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
			 struct tp_turn *turn_out)
{
	unsigned count = memory_ops.poll(tp, events, room, wait_ns, turn_out);

	turn_out->now_ns = now_ns;
	return count;
}

/* The memory stack, told the time. */
static struct tp_ops hand_ops;

static struct tp *open_tp(struct hand *hand, uint32_t conn_max)
{
	struct tp_config config = {.limits = {.conn_max = conn_max,
					      .recv_bytes = LIMIT_RECV_BYTES,
					      .send_bytes = LIMIT_SEND_BYTES},
				   .cpu = -1,
				   .workers = 1,
				   .shared = hand->net};
	struct tp_error error;
	struct tp *tp;

	CU_ASSERT_EQUAL_FATAL(memory_ops.open(&config, &tp, &error), 0);
	tp->ops = &hand_ops;
	return tp;
}

void hand_open(struct hand *hand)
{
	memset(hand, 0, sizeof(*hand));
	hand_ops = memory_ops;
	hand_ops.poll = poll_now;
	now_ns = clock_now_ns() + 3600 * CLOCK_SECOND_NS;
	CU_ASSERT_EQUAL_FATAL(memory_net_create(&hand->net), 0);
	hand->conn_max = CONNS;
	hand->client_tp = open_tp(hand, CONNS);
}

void hand_kill(struct hand *hand, unsigned server)
{
	server_destroy(hand->servers[server]);
	memory_ops.close(hand->server_tps[server]);
	hand->servers[server] = NULL;
}

static void free_texts(struct hand_end *ends, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(ends[i].text);
}

void hand_close(struct hand *hand)
{
	for (unsigned i = 0; i < hand->server_count; i++) {
		if (hand->servers[i])
			hand_kill(hand, i);
	}
	if (hand->upstream_tp)
		memory_ops.close(hand->upstream_tp);
	memory_ops.close(hand->client_tp);
	memory_net_destroy(hand->net);
	free_texts(hand->clients, hand->client_count);
	free_texts(hand->upstreams, hand->upstream_count);
}

unsigned hand_serve(struct hand *hand, uint16_t port, const char *handler)
{
	struct route route = {.path = "/", .prefix = true, .handler = handler};
	struct server_config config = {.codec = &codec_http1,
				       .routes = &route,
				       .route_count = 1,
				       .create_handler = spec_create,
				       .conn_max = hand->conn_max};
	unsigned index = hand->server_count++;
	struct tp_error error = {""};

	CU_ASSERT_EQUAL(delivery_parse("coalesce", &config.delivery), 0);
	hand->server_tps[index] = open_tp(hand, hand->conn_max);
	CU_ASSERT_EQUAL_FATAL(
		memory_ops.listen(hand->server_tps[index], &(struct tp_addr){.port = port}, &error),
		0);
	CU_ASSERT_EQUAL_FATAL(
		server_create(&config, hand->server_tps[index], &hand->servers[index], &error), 0);
	return index;
}

void hand_listen(struct hand *hand)
{
	struct tp_error error;

	hand->upstream_tp = open_tp(hand, CONNS);
	CU_ASSERT_EQUAL_FATAL(
		memory_ops.listen(hand->upstream_tp, &(struct tp_addr){.port = HAND_PORT}, &error),
		0);
}

static struct hand_end *new_end(struct hand_end *ends, unsigned *count)
{
	struct hand_end *end = &ends[*count];

	CU_ASSERT_FATAL(*count < HAND_ENDS);
	(*count)++;
	end->text = calloc(1, TEXT_BYTES);
	CU_ASSERT_PTR_NOT_NULL_FATAL(end->text);
	return end;
}

static void read_end(struct tp *tp, struct hand_end *end)
{
	struct span spans[2];
	struct span_reader reader = span_reader_of(spans, tp_peek(tp, end->conn, spans, 2));
	size_t room = TEXT_BYTES - 1 - end->bytes;
	size_t step = reader.left < room ? reader.left : room;

	span_reader_copy(&reader, (uint8_t *)end->text + end->bytes, step);
	tp_consume(tp, end->conn, step);
	end->bytes += step;
	end->text[end->bytes] = '\0';
}

static void poll_ends(struct tp *tp, struct hand_end *ends, unsigned *count)
{
	struct tp_event events[CONNS];
	struct tp_turn turn;
	unsigned event_count = tp_poll(tp, events, CONNS, 0, &turn);

	for (unsigned i = 0; i < event_count; i++) {
		struct hand_end *end;

		if (events[i].bits & TP_ACCEPTED) {
			events[i].conn->user = new_end(ends, count);
			((struct hand_end *)events[i].conn->user)->conn = events[i].conn;
		}
		end = events[i].conn->user;
		end->finished |= (events[i].bits & TP_FINISHED) != 0;
		if (events[i].bits & TP_CLOSED) {
			end->closed = true;
			end->reason = events[i].reason;
		}
	}
	for (unsigned i = 0; i < *count; i++) {
		if (!ends[i].closed && !ends[i].holds)
			read_end(tp, &ends[i]);
	}
}

void hand_turn(struct hand *hand)
{
	for (unsigned i = 0; i < hand->server_count; i++) {
		if (!hand->servers[i])
			continue;
		server_turn(hand->servers[i], 0);
		server_check(hand->servers[i]);
	}
	if (hand->upstream_tp)
		poll_ends(hand->upstream_tp, hand->upstreams, &hand->upstream_count);
	poll_ends(hand->client_tp, hand->clients, &hand->client_count);
}

void hand_wait(struct hand *hand, uint64_t time_ns)
{
	now_ns += time_ns;
	for (unsigned i = 0; i < 4; i++)
		hand_turn(hand);
}

struct hand_end *hand_connect(struct hand *hand, uint16_t port)
{
	struct hand_end *end = new_end(hand->clients, &hand->client_count);
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(memory_ops.connect(hand->client_tp, &(struct tp_addr){.port = port},
						 end, &end->conn, &error),
			      0);
	hand_turn(hand);
	return end;
}

static struct tp *tp_of(struct hand *hand, const struct hand_end *end)
{
	return end >= hand->clients && end < hand->clients + HAND_ENDS ? hand->client_tp
								       : hand->upstream_tp;
}

static void put_bytes(struct hand *hand, struct hand_end *end, const void *bytes, size_t count)
{
	struct tp *tp = tp_of(hand, end);
	struct room rooms[2];
	struct room_writer writer = room_writer_of(rooms, tp_reserve(tp, end->conn, count, rooms));

	CU_ASSERT_EQUAL_FATAL(writer.left, count);
	room_writer_put(&writer, bytes, count);
	tp_commit(tp, end->conn, count);
	tp_flush(tp, end->conn);
}

void hand_send_bytes(struct hand *hand, struct hand_end *end, const void *bytes, size_t count)
{
	put_bytes(hand, end, bytes, count);
	hand_turn(hand);
}

void hand_put(struct hand *hand, struct hand_end *end, const char *text)
{
	put_bytes(hand, end, text, strlen(text));
}

void hand_send(struct hand *hand, struct hand_end *end, const char *text)
{
	hand_send_bytes(hand, end, text, strlen(text));
}

void hand_finish(struct hand *hand, struct hand_end *end)
{
	tp_finish(tp_of(hand, end), end->conn);
	hand_turn(hand);
}

void hand_reset(struct hand *hand, struct hand_end *end)
{
	tp_abort(tp_of(hand, end), end->conn);
	hand_turn(hand);
}

void hand_vanish(struct hand *hand, struct hand_end *end)
{
	tp_finish(tp_of(hand, end), end->conn);
	tp_flush(tp_of(hand, end), end->conn);
	hand_reset(hand, end);
}

void hand_await(struct hand *hand, struct hand_end *end, size_t bytes)
{
	for (unsigned i = 0; i < TURNS_MAX && end->bytes < bytes && !end->finished && !end->closed;
	     i++)
		hand_turn(hand);
}

bool hand_await_text(struct hand *hand, struct hand_end *end, const char *text)
{
	for (unsigned i = 0; i < TURNS_MAX && !strstr(end->text, text) && !end->closed; i++)
		hand_turn(hand);
	return strstr(end->text, text) != NULL;
}

void hand_forget(struct hand_end *end)
{
	end->bytes = 0;
	end->text[0] = '\0';
}

unsigned hand_get(struct hand *hand, struct hand_end *end, const char *target, const char *fields)
{
	char request[8192];
	const char *length, *body;
	unsigned status = 0;

	snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: a\r\n%s\r\n", target, fields);
	hand_forget(end);
	hand_send(hand, end, request);
	if (!hand_await_text(hand, end, "\r\n\r\n"))
		return 0;
	sscanf(end->text, "HTTP/1.1 %u", &status);
	length = strstr(end->text, "Content-Length: ");
	body = hand_body(end);
	if (length && length < body && status != 304)
		hand_await(hand, end, (size_t)(body - end->text) + strtoul(length + 16, NULL, 10));
	return status;
}

bool hand_has(const struct hand_end *end, const char *text)
{
	const char *found = strstr(end->text, text);

	return found && found < hand_body(end);
}

const char *hand_body(const struct hand_end *end)
{
	const char *head_end = strstr(end->text, "\r\n\r\n");

	return head_end ? head_end + 4 : end->text + end->bytes;
}

const struct server_counters *hand_counters(const struct hand *hand, unsigned server)
{
	return server_counters(hand->servers[server]);
}
