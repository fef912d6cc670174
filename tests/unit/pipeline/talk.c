#include "tests/unit/pipeline/talk.h"

#include "dataplane/core/limits.h"
#include "dataplane/proto/http1_date.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static const struct route routes[] = {
	{.path = "/", .prefix = true, .handler = "respond:5"},
	{.path = "/echo", .prefix = true, .handler = "echo"},
	{.path = "/get", .prefix = true, .methods = 1 << HTTP1_GET, .handler = "respond:3"},
	{.path = "/big", .handler = "respond:300000"},
	{.path = "/spin", .handler = "spin:1"},
};

struct server_config talk_config(const char *delivery)
{
	struct server_config config = bench_config(delivery, "respond", 5);

	config.codec = &codec_http1;
	config.routes = routes;
	config.route_count = sizeof(routes) / sizeof(routes[0]);
	return config;
}

void talk_open(struct talk *talk, const struct server_config *config)
{
	static const struct tp_limits limits = {.conn_max = BENCH_CONNS,
						.recv_bytes = LIMIT_RECV_BYTES,
						.send_bytes = LIMIT_SEND_BYTES};

	bench_open(&talk->bench, config, &limits);
	talk->end = bench_connect(&talk->bench, 0);
	talk->heard_bytes = 0;
}

void talk_close(struct talk *talk)
{
	bench_close(&talk->bench);
}

/* Takes the Date line out of what was heard from `from` on. */
static void drop_dates(struct talk *talk)
{
	static const char name[] = "\r\nDate: ";
	enum { LINE_BYTES = sizeof(name) - 1 + HTTP1_DATE_BYTES };
	char *at = talk->heard, *end = talk->heard + talk->heard_bytes;

	while ((at = memmem(at, (size_t)(end - at), name, sizeof(name) - 1)) &&
	       end - at >= LINE_BYTES + 2) {
		memmove(at, at + LINE_BYTES, (size_t)(end - at) - LINE_BYTES);
		end -= LINE_BYTES;
	}
	talk->heard_bytes = (size_t)(end - talk->heard);
	*end = '\0';
}

static size_t hear(struct talk *talk)
{
	size_t room = TALK_BYTES - talk->heard_bytes, bytes;

	if (talk->end->closed)
		return 0;
	bytes = bench_read(&talk->bench, talk->end, (uint8_t *)talk->heard + talk->heard_bytes,
			   room);
	talk->heard_bytes += bytes;
	return bytes;
}

void talk_listen(struct talk *talk)
{
	for (unsigned quiet = 0; quiet < 3; quiet++) {
		bench_turn(&talk->bench);
		if (hear(talk) > 0)
			quiet = 0;
	}
	drop_dates(talk);
}

void talk_send(struct talk *talk, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;
	unsigned idle = 0;

	while (count > 0 && idle < 10 && !talk->end->closed) {
		size_t step = count < 10000 ? count : 10000;
		struct room rooms[2];

		idle++;
		if (tp_reserve(talk->bench.client_tp, talk->end->conn, step, rooms) > 0) {
			bench_send(&talk->bench, talk->end, at, step);
			at += step;
			count -= step;
			idle = 0;
		}
		bench_turn(&talk->bench);
		hear(talk);
	}
	CU_ASSERT_EQUAL(count, 0);
	talk_listen(talk);
}

void talk_say(struct talk *talk, const char *text)
{
	talk_send(talk, text, strlen(text));
}

bool talk_heard(struct talk *talk, const char *text)
{
	bool same = talk->heard_bytes == strlen(text) &&
		    memcmp(talk->heard, text, talk->heard_bytes) == 0;

	if (!same)
		printf("# heard: '%.400s'\n# wanted: '%.400s'\n", talk->heard, text);
	talk->heard_bytes = 0;
	return same;
}

bool talk_answers(struct talk *talk, const char *request, const char *answer)
{
	struct server_config config = talk_config("coalesce");
	bool same;

	talk_open(talk, &config);
	talk_say(talk, request);
	same = talk_heard(talk, answer);
	talk_close(talk);
	return same;
}

const struct server_counters *talk_counters(const struct talk *talk)
{
	return server_counters(talk->bench.server);
}
