#include "tests/unit/handlers/gateway.h"

#include <stdio.h>

struct hand hand;
struct hand_end *client, *upstream;
static unsigned proxy;

void open_proxy(const char *spec)
{
	hand_open(&hand);
	proxy = hand_serve(&hand, PORT, spec);
	client = hand_connect(&hand, PORT);
}

void open_by_hand(const char *options)
{
	char spec[128];

	snprintf(spec, sizeof(spec), "proxy:127.0.0.1:%u%s", HAND_PORT, options);
	hand_open(&hand);
	hand_listen(&hand);
	proxy = hand_serve(&hand, PORT, spec);
	client = hand_connect(&hand, PORT);
}

bool ask(const char *request)
{
	hand_forget(client);
	hand_send(&hand, client, request);
	for (unsigned i = 0; i < 5; i++)
		hand_turn(&hand);
	if (hand.upstream_count == 0)
		return false;
	upstream = &hand.upstreams[hand.upstream_count - 1];
	return hand_await_text(&hand, upstream, "\r\n\r\n");
}

unsigned status(void)
{
	unsigned code = 0;

	if (hand_await_text(&hand, client, "\r\n\r\n"))
		sscanf(client->text, "HTTP/1.1 %u", &code);
	return code;
}

void turn(unsigned times)
{
	while (times-- > 0)
		hand_turn(&hand);
}

bool was_broken(void)
{
	for (unsigned i = 0; i < 100 && !client->closed; i++)
		hand_turn(&hand);
	return client->closed && client->reason == TP_RESET;
}

const struct server_counters *counters(void)
{
	return hand_counters(&hand, proxy);
}
