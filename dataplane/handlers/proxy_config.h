/*
 * proxy_config: what stands behind "proxy:" and "cache:".
 *
 *	ADDR[,ADDR]...[;connect=T][;response=T][;connections=N]   both
 *	[;bytes=SIZE][;ttl=T]                                     cache alone
 *
 * Plane: setup.
 */
#ifndef WEIR_HANDLERS_PROXY_CONFIG_H
#define WEIR_HANDLERS_PROXY_CONFIG_H

#include "dataplane/transport/addr.h"
#include "dataplane/transport/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { UPSTREAMS_MAX = 16 };

struct proxy_config {
	struct tp_addr upstreams[UPSTREAMS_MAX];
	unsigned upstream_count;
	uint64_t connections; /* at most, to each upstream */
	uint64_t connect_ns;  /* for a connection, or for one of ours to become free */
	uint64_t response_ns; /* in which an upstream has to send or take something */
	uint64_t cache_bytes;
	uint64_t cache_ttl_ns; /* of what names no lifetime of its own; 0: it is not kept */
};

/*
 * Reads the text. 0, or -EINVAL with `error` naming what is wrong and the output untouched.
 */
int proxy_config_parse(const char *text, bool caches, struct proxy_config *config_out,
		       struct tp_error *error);

/* Connections to all upstreams together, at most. */
static inline uint32_t proxy_config_conns(const struct proxy_config *config)
{
	return config->upstream_count * (uint32_t)config->connections;
}

#endif
