#include "tests/unit/handlers/cached.h"

#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

struct hand hand;
struct hand_end *client, *upstream;
const char cached_plain[] = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const char cached_ok[] = "HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: 5\r\n\r\nhello";

void cached_turn(unsigned times)
{
	while (times-- > 0)
		hand_turn(&hand);
}

void cached_open(const char *options, const char *upstream_handler)
{
	char spec[128];

	snprintf(spec, sizeof(spec), "cache:127.0.0.1:%u;ttl=60s%s", UPSTREAM_PORT, options);
	hand_open(&hand);
	hand_serve(&hand, PORT, spec);
	hand_serve(&hand, UPSTREAM_PORT, upstream_handler);
	client = hand_connect(&hand, PORT);
}

void cached_open_spec(const char *spec)
{
	hand_open(&hand);
	hand_listen(&hand);
	hand_serve(&hand, PORT, spec);
	client = hand_connect(&hand, PORT);
}

void cached_open_by_hand(const char *options)
{
	char spec[128];

	snprintf(spec, sizeof(spec), "cache:127.0.0.1:%u;ttl=60s%s", HAND_PORT, options);
	cached_open_spec(spec);
}

bool cached_asked(void)
{
	cached_turn(5);
	for (unsigned i = 0; i < hand.upstream_count; i++) {
		upstream = &hand.upstreams[i];
		if (strstr(upstream->text, "\r\n\r\n")) {
			hand_forget(upstream);
			return true;
		}
	}
	return false;
}

bool cached_asked_for(const char *request, const char *answer)
{
	bool was;

	hand_forget(client);
	hand_send(&hand, client, request);
	was = cached_asked();
	if (was)
		hand_send(&hand, upstream, answer);
	CU_ASSERT_TRUE(hand_await_text(&hand, client, "\r\n\r\n"));
	cached_turn(3);
	return was;
}

const struct server_counters *cached_counters(void)
{
	return hand_counters(&hand, 0);
}
