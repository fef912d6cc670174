/*
 * TLS over another rig's stack, which the build links in with its names changed (stack_open,
 * stack_close, stack_name); RIG_VERSION is the version of TLS.
 */
#include "dataplane/tls/tls.h"
#include "tests/conformance/rig.h"

#include <stdbool.h>

const char rig_name[] = RIG_NAME;
const bool rig_resets = true;
const bool rig_seals = true;

int stack_open(const struct tp_limits *server, const struct tp_limits *client,
	       struct rig_pair *pair_out, struct tp_error *error);
void stack_close(struct rig_pair *pair);

/* Puts TLS over one side; the side is closed with it, or by the stack's rig if it fails. */
static int wrap(struct tp **side, const struct tp_limits *limits, bool server,
		struct tp_error *error)
{
	const struct tls_config config = {
		.server = server,
		.insecure = !server, /* the server's certificate is made at its start */
		.version_min = RIG_VERSION,
		.version_max = RIG_VERSION,
		.resumption = true,
	};

	return tls_open(&config, limits, *side, side, error);
}

int rig_open(const struct tp_limits *server, const struct tp_limits *client,
	     struct rig_pair *pair_out, struct tp_error *error)
{
	struct rig_pair pair;
	int code = stack_open(server, client, &pair, error);

	if (code != 0)
		return code;
	code = wrap(&pair.server, server, true, error);
	if (code < 0) {
		stack_close(&pair);
		return code;
	}
	code = wrap(&pair.client, client, false, error);
	if (code == 0) {
		*pair_out = pair;
		return 0;
	}
	pair.server->ops->close(pair.server);
	pair.server = NULL;
	stack_close(&pair);
	return code;
}

void rig_close(struct rig_pair *pair)
{
	if (pair->client)
		pair->client->ops->close(pair->client);
	if (pair->server)
		pair->server->ops->close(pair->server);
	pair->client = pair->server = NULL;
	stack_close(pair);
}
