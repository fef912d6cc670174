#include "apps/load/request.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether all of it may stand in a request line or a field: no space, no control character. */
static bool is_visible(const char *text)
{
	for (; *text; text++)
		if (*text <= 0x20 || *text >= 0x7f)
			return false;
	return true;
}

static int judge(const struct request_config *config, struct tp_error *error)
{
	bool asterisk = config->method == HTTP1_OPTIONS && strcmp(config->path, "*") == 0;

	if (config->method == HTTP1_CONNECT)
		return tp_fail(error, -EINVAL,
			       "method CONNECT asks for a tunnel, and none is ever opened");
	if (config->method == HTTP1_TRACE && config->body_bytes > 0)
		return tp_fail(error, -EINVAL, "a TRACE has no body; use --request-bytes 0");
	if (!asterisk && config->path[0] != '/')
		return tp_fail(error, -EINVAL, "--path '%s' does not begin with '/'", config->path);
	if (!is_visible(config->path) || strchr(config->path, '#'))
		return tp_fail(error, -EINVAL,
			       "path '%s' has a character that a request line cannot have; "
			       "write it as %%XX",
			       config->path);
	if (config->host && (!config->host[0] || !is_visible(config->host)))
		return tp_fail(error, -EINVAL, "host '%s' is none", config->host);
	return 0;
}

/* What the field Host says of an address; a zone means something on this host alone (RFC 6874). */
static const char *host_of(const struct tp_addr *server, char text[TP_ADDR_TEXT])
{
	struct tp_addr bare = *server;

	if (server->family == TP_UNIX)
		return "localhost";
	if (server->family == TP_IPV6)
		bare.interface = 0;
	return tp_addr_print(&bare, text);
}

/* Whether a body, even an empty one, has a meaning there (RFC 9110 section 8.6). */
static bool has_body(const struct request_config *config)
{
	return config->body_bytes > 0 || config->method == HTTP1_POST ||
	       config->method == HTTP1_PUT || config->method == HTTP1_PATCH;
}

int request_head(const struct request_config *config, char **head_out, uint32_t *head_bytes_out,
		 struct tp_error *error)
{
	char address[TP_ADDR_TEXT], length[64] = "";
	const char *host = config->host;
	char *head;
	int bytes = judge(config, error);

	if (bytes < 0)
		return bytes;
	if (!host)
		host = host_of(config->server, address);
	if (has_body(config))
		snprintf(length, sizeof(length), "Content-Length: %u\r\n", config->body_bytes);
	bytes = asprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n",
			 http1_method_name(config->method), config->path, host, length);
	if (bytes < 0)
		return tp_fail(error, -ENOMEM, "no memory for a request");
	*head_out = head;
	*head_bytes_out = (uint32_t)bytes;
	return 0;
}
