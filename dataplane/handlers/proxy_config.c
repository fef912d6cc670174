#include "dataplane/handlers/proxy_config.h"

#include "dataplane/core/limits.h"
#include "dataplane/core/nearest.h"
#include "dataplane/core/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PART_BYTES = 256, CONNECTIONS_MAX = 4096 };

#define CACHE_BYTES_MAX (64ull << 30)

static int read_connections(const char *text, struct proxy_config *config)
{
	uint64_t count;

	if (units_parse_count(text, CONNECTIONS_MAX, &count) < 0 || count == 0)
		return -EINVAL;
	config->connections = count;
	return 0;
}

/* A duration that lets something happen. */
static int read_time(const char *text, uint64_t *ns)
{
	return units_parse_duration(text, ns) < 0 || *ns == 0 ? -EINVAL : 0;
}

static int read_connect(const char *text, struct proxy_config *config)
{
	return read_time(text, &config->connect_ns);
}

static int read_response(const char *text, struct proxy_config *config)
{
	return read_time(text, &config->response_ns);
}

static int read_bytes(const char *text, struct proxy_config *config)
{
	return units_parse_bytes(text, CACHE_BYTES_MAX, &config->cache_bytes) < 0 ||
			       config->cache_bytes < LIMIT_CACHE_BYTES_MIN
		       ? -EINVAL
		       : 0;
}

static int read_ttl(const char *text, struct proxy_config *config)
{
	return units_parse_duration(text, &config->cache_ttl_ns);
}

static const struct proxy_option {
	const char *name, *usage;
	bool cache_alone;
	int (*read)(const char *text, struct proxy_config *config);
} options[] = {
	{"connect", "a time, e.g. 1s", false, read_connect},
	{"response", "a time, e.g. 30s", false, read_response},
	{"connections", "1 to 4096", false, read_connections},
	{"bytes", "1MiB to 64GiB", true, read_bytes},
	{"ttl", "a time, e.g. 60s", true, read_ttl},
};

static int fail_option(const char *part, bool caches, struct tp_error *error)
{
	const char *names[sizeof(options) / sizeof(options[0])];
	char name[32], ask[NEAREST_TEXT];
	unsigned count = 0;

	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (caches || !options[i].cache_alone)
			names[count++] = options[i].name;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(part, "="), part);
	return tp_fail(error, -EINVAL, "no option '%s': %sthere are connect=, response=%s", part,
		       nearest_ask(name, names, count, "", ask),
		       caches ? ", connections=, bytes= and ttl=" : " and connections=");
}

static int read_option(char *part, bool caches, struct proxy_config *config, struct tp_error *error)
{
	char *value = strchr(part, '=');

	for (unsigned i = 0; value && i < sizeof(options) / sizeof(options[0]); i++) {
		size_t bytes = strlen(options[i].name);

		if ((size_t)(value - part) != bytes || memcmp(part, options[i].name, bytes) != 0 ||
		    (options[i].cache_alone && !caches))
			continue;
		if (options[i].read(value + 1, config) == 0)
			return 0;
		return tp_fail(error, -EINVAL, "%s wants %s, not '%s'", options[i].name,
			       options[i].usage, value + 1);
	}
	return fail_option(part, caches, error);
}

static int read_upstream(const char *part, struct proxy_config *config, struct tp_error *error)
{
	if (config->upstream_count == UPSTREAMS_MAX)
		return tp_fail(error, -EINVAL, "more than %u upstreams", UPSTREAMS_MAX);
	if (tp_addr_parse(part, &config->upstreams[config->upstream_count]) < 0)
		return tp_fail(error, -EINVAL,
			       "'%s' is no upstream: an address and a port, as in 10.0.0.1:80, "
			       "[::1]:80 or unix:/run/a.sock",
			       part);
	config->upstream_count++;
	return 0;
}

int proxy_config_parse(const char *text, bool caches, struct proxy_config *config_out,
		       struct tp_error *error)
{
	struct proxy_config config = {.connections = LIMIT_UPSTREAM_CONNS,
				      .connect_ns = LIMIT_UPSTREAM_CONNECT_NS,
				      .response_ns = LIMIT_UPSTREAM_RESPONSE_NS,
				      .cache_bytes = LIMIT_CACHE_BYTES};
	bool in_options = false, more = true;
	int code = 0;

	while (code == 0 && more) {
		char part[PART_BYTES];
		size_t bytes = strcspn(text, in_options ? ";" : ",;");

		if (bytes >= sizeof(part))
			return tp_fail(error, -EINVAL, "'%.32s...' is too long", text);
		memcpy(part, text, bytes);
		part[bytes] = '\0';
		code = in_options ? read_option(part, caches, &config, error)
				  : read_upstream(part, &config, error);
		in_options |= text[bytes] == ';';
		more = text[bytes] != '\0';
		text += bytes + more;
	}
	if (code == 0)
		*config_out = config;
	return code;
}
