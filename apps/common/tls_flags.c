#include "apps/common/tls_flags.h"

#include "apps/common/json.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static int judge_together(const struct tls_options *options, bool server, struct tp_error *error)
{
	const struct tls_config *config = &options->config;

	if (options->version_min > options->version_max)
		return tp_fail(error, -EINVAL, "--tls-min %s is above --tls-max %s",
			       tls_version_names[options->version_min],
			       tls_version_names[options->version_max]);
	if (server && !config->certificate != !config->key)
		return tp_fail(error, -EINVAL,
			       "--tls-cert and --tls-key belong together; %s is missing (leave out "
			       "both for a self-signed certificate)",
			       config->key ? "--tls-cert" : "--tls-key");
	if (!server && config->insecure && config->authorities)
		return tp_fail(error, -EINVAL,
			       "--tls-insecure trusts everybody and --tls-ca says whom to trust; "
			       "leave out one");
	if (!server && !config->insecure && !config->server_name)
		return tp_fail(error, -EINVAL,
			       "a Unix socket has no name that a certificate could have; say whose "
			       "it must be with --tls-name, or take any with --tls-insecure");
	return 0;
}

/* The host alone: without brackets, and without a port behind it. */
static void take_host(char name_out[TLS_HOST_BYTES], const char *host)
{
	bool bracket = host[0] == '[';
	int bytes = (int)strcspn(host + bracket, bracket ? "]" : ":");

	snprintf(name_out, TLS_HOST_BYTES, "%.*s", bytes, host + bracket);
}

static void take_address(char name_out[TLS_HOST_BYTES], const struct tp_addr *server)
{
	struct in_addr ip = {htonl(server->ip)};

	if (server->family == TP_IPV6)
		inet_ntop(AF_INET6, server->ip6, name_out, TLS_HOST_BYTES);
	else
		inet_ntop(AF_INET, &ip, name_out, TLS_HOST_BYTES);
}

void tls_expect(struct tls_options *options, struct flags *flags, const char *host,
		const struct tp_addr *server)
{
	if (!options->on || options->config.server_name || (!host && server->family == TP_UNIX))
		return;
	if (host)
		take_host(options->name, host);
	else
		take_address(options->name, server);
	options->config.server_name = options->name;
	flags_resolve(flags, "tls-name", options->name);
}

int tls_resolve(struct tls_options *options, struct flags *flags, bool server, const char *alpn,
		struct tp_error *error)
{
	struct tls_config *config = &options->config;
	int rc;

	if (!options->on)
		return flags_drop(flags, "tls-", "--tls", error);
	rc = judge_together(options, server, error);
	if (rc < 0)
		return rc;
	if (server && config->alpn && alpn && strcmp(config->alpn, alpn) != 0)
		return tp_fail(error, -EINVAL,
			       "--tls-alpn %.64s promises what this server does not speak; leave "
			       "it out: %s is the default here",
			       config->alpn, alpn);
	if (!config->alpn && alpn) {
		config->alpn = alpn;
		flags_resolve(flags, "tls-alpn", alpn);
	}
	config->server = server;
	config->connects_plain = server; /* upstreams of a proxy speak HTTP as it is */
	config->version_min = options->version_min;
	config->version_max = options->version_max;
	config->resumption = !options->no_tickets;
	return tls_check(config, error);
}

json_t *tls_options_to_json(const struct tls_options *options)
{
	const struct tls_config *config = &options->config;
	json_t *object = json_object();

	json_object_set_new(object, "on", json_boolean(options->on));
	if (!options->on)
		return object;
	json_object_set_new(object, "provider", json_text(tls_provider()));
	json_object_set_new(object, "version_min",
			    json_text(tls_version_names[options->version_min]));
	json_object_set_new(object, "version_max",
			    json_text(tls_version_names[options->version_max]));
	json_object_set_new(object, "ciphers", json_text(config->ciphers));
	json_object_set_new(object, "ciphersuites", json_text(config->ciphersuites));
	json_object_set_new(object, "groups", json_text(config->groups));
	json_object_set_new(object, "alpn", json_text(config->alpn));
	json_object_set_new(object, "tickets", json_boolean(config->resumption));
	if (config->server)
		json_object_set_new(
			object, "certificate",
			json_text(config->certificate ? config->certificate : "self-signed"));
	else
		json_object_set_new(object, "insecure", json_boolean(config->insecure));
	return object;
}

json_t *tls_agreed_to_json(const struct tls_agreed *agreed)
{
	json_t *object = json_object();
	char text[TLS_AGREED_TEXT];

	for (unsigned i = 0; i < agreed->rows; i++)
		json_object_set_new(object, tls_agreed_print(&agreed->row[i], text),
				    json_count(agreed->row[i].conns));
	if (agreed->other_conns)
		json_object_set_new(object, "other", json_count(agreed->other_conns));
	return object;
}
