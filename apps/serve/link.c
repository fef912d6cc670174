#include "apps/common/json.h"
#include "apps/common/netif.h"
#include "apps/serve/serve.h"

#include <string.h>

static json_t *veth_to_json(const char *id)
{
	char name[VETH_NAMESPACE_BYTES];
	json_t *link = json_object();

	json_object_set_new(link, "kind", json_text("veth"));
	json_object_set_new(link, "id", json_text(id));
	json_object_set_new(link, "server_netns", json_text(veth_server_namespace(id, name)));
	json_object_set_new(link, "interface", json_text(veth_interface));
	netif_add_facts(link, veth_interface);
	return link;
}

/* The loopback or a Unix socket; NULL where routes may choose any interface. */
static json_t *host_to_json(const struct tp_addr *listen)
{
	static const uint8_t loopback_ip6[16] = {[15] = 1};
	bool is_loopback = listen->family == TP_IPV6
				   ? memcmp(listen->ip6, loopback_ip6, sizeof(loopback_ip6)) == 0
				   : listen->family == TP_IPV4 && listen->ip >> 24 == 127;
	json_t *link;

	if (listen->family == TP_UNIX)
		return json_pack("{ss}", "kind", "unix");
	if (!is_loopback)
		return NULL;
	link = json_pack("{ss}", "kind", "loopback");
	netif_add_facts(link, "lo");
	return link;
}

/* Of a stack with a TCP of its own: the kind of device, which stands before ':'. */
static json_t *device_to_json(const struct stack_options *stack)
{
	const char *kind = stack->device[0] ? stack->device : stack->stack->name;

	return json_pack("{ss%}", "kind", kind, strcspn(kind, ":"));
}

void serve_add_link(json_t *object, const struct serve_options *options)
{
	const struct stack_options *stack = &options->stack;
	json_t *link = stack->veth_id[0]		? veth_to_json(stack->veth_id)
		       : stack->stack->uses_descriptors ? host_to_json(&options->listen)
							: device_to_json(stack);

	if (link)
		json_object_set_new(object, "link", link);
	else
		json_set_unknown(object, "link", "the kernel's routes choose the interface");
}
