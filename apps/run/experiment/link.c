#include "apps/run/experiment/link.h"

#include <stdio.h>
#include <string.h>

#define LOOPBACK_IP "127.0.0.1"
#define VETH_IP "10.78.0.1"

static const struct link links[] = {
	{"epoll@loopback", LINK_LOOPBACK, .alone = "epoll", .spec = "epoll@loopback",
	 .server_ip = LOOPBACK_IP},
	{"epoll@unix", LINK_UNIX, .spec = "epoll"},
	{"epoll@veth", LINK_VETH, .spec = "epoll@veth", LINK_SUFFIX_ID, .server_ip = VETH_IP},
	{"epoll@network", LINK_NETWORK, .spec = "epoll"},
	{"uring@loopback", LINK_LOOPBACK, .alone = "uring", .spec = "uring@loopback",
	 .server_ip = LOOPBACK_IP},
	{"uring@unix", LINK_UNIX, .spec = "uring"},
	{"uring@veth", LINK_VETH, .spec = "uring@veth", LINK_SUFFIX_ID, .server_ip = VETH_IP},
	{"uring@network", LINK_NETWORK, .spec = "uring"},
	{
		"dpdk@memif",
		LINK_MEMIF,
		.spec = "dpdk@memif",
		.suffix = LINK_SUFFIX_SOCKET,
		.server_ip = "10.77.0.1",
		.server_address = "10.77.0.1/24",
		.client_address = "10.77.0.2/24",
		.workers_max = 1,
	},
};

enum { LINK_COUNT = sizeof(links) / sizeof(links[0]) };

/* Whether `name` is the word, options left out; the word may be NULL. */
static bool begins_with_word(const char *name, const char *word)
{
	size_t bytes = strcspn(name, ",");

	return word && strlen(word) == bytes && strncmp(word, name, bytes) == 0;
}

const struct link *link_find(const char *name)
{
	for (unsigned i = 0; i < LINK_COUNT; i++)
		if (begins_with_word(name, links[i].name) || begins_with_word(name, links[i].alone))
			return &links[i];
	return NULL;
}

bool link_complete(const char *name, char text[LINK_SPEC_BYTES])
{
	const struct link *link = link_find(name);
	int bytes;

	if (!link || !begins_with_word(name, link->alone))
		return false;
	bytes = snprintf(text, LINK_SPEC_BYTES, "%s%s", link->name, name + strcspn(name, ","));
	return bytes < LINK_SPEC_BYTES;
}

const char *const *link_names(unsigned *count_out)
{
	static const char *names[LINK_COUNT];

	for (unsigned i = 0; i < LINK_COUNT; i++)
		names[i] = links[i].name;
	*count_out = LINK_COUNT;
	return names;
}

const char *link_usage(void)
{
	static char text[40 * LINK_COUNT];
	size_t used = 0;

	for (unsigned i = 0; i < LINK_COUNT; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i == 0		      ? ""
					 : i < LINK_COUNT - 1 ? ", "
							      : " or ",
					 links[i].name);
	return text;
}

const char *link_kind_name(enum link_kind kind)
{
	static const char *const names[] = {
		[LINK_LOOPBACK] = "loopback", [LINK_UNIX] = "unix",	  [LINK_VETH] = "veth",
		[LINK_MEMIF] = "memif",	      [LINK_NETWORK] = "network",
	};

	return names[kind];
}

bool link_has_socket(const struct link *link)
{
	return link->kind == LINK_UNIX || link->suffix == LINK_SUFFIX_SOCKET;
}

const char *link_print_spec(const char *name, const struct link_place *place,
			    char text[LINK_SPEC_BYTES])
{
	const struct link *link = link_find(name);
	const char *options = name + strcspn(name, ",");

	switch (link->suffix) {
	case LINK_SUFFIX_NONE:
		snprintf(text, LINK_SPEC_BYTES, "%s%s", link->spec, options);
		break;
	case LINK_SUFFIX_SOCKET:
		snprintf(text, LINK_SPEC_BYTES, "%s:%s/%s.sock%s", link->spec, place->socket_folder,
			 place->sample_id, options);
		break;
	case LINK_SUFFIX_ID:
		snprintf(text, LINK_SPEC_BYTES, "%s:%s-%s%s", link->spec, place->run_id,
			 place->sample_id, options);
		break;
	}
	return text;
}

const char *link_print_endpoint(const struct link *link, const struct link_place *place,
				char text[LINK_ENDPOINT_BYTES])
{
	const char *ip = link->kind == LINK_NETWORK ? place->network_ip : link->server_ip;

	if (ip)
		snprintf(text, LINK_ENDPOINT_BYTES, "%s:%u", ip, place->port);
	else
		snprintf(text, LINK_ENDPOINT_BYTES, "unix:%s/%s.sock", place->socket_folder,
			 place->sample_id);
	return text;
}
