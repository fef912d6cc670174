/*
 * inside: what a world consists of, for world.c, which moves its time and judges it, and flows.c,
 * which plays its applications.
 */
#ifndef WEIR_APPS_SIM_INSIDE_H
#define WEIR_APPS_SIM_INSIDE_H

#include "apps/sim/random.h"
#include "apps/sim/stream.h"
#include "apps/sim/wire.h"
#include "apps/sim/world.h"
#include "stacks/utcp/utcp.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	HOSTS = 2,
	PORT = 7878,
	CONNS_MAX = 16, /* of an instance */
	STREAMS_MAX = 128,
};

#define NEVER UINT64_MAX
#define MS 1000000ull

/* An application's side of a connection. */
struct flow {
	struct utcp_conn *conn; /* NULL: the place is free */
	int out;		/* stream that it sends */
	int in;			/* stream that it receives, -1 before its head is complete */
	uint8_t head[STREAM_HEAD_BYTES];
	uint32_t received;
	bool called; /* by connect */
	bool up;
	bool finished_out;
	bool finished_in;
	bool aborted;	  /* by its application */
	bool want_write;  /* reserve refused: waits for WRITABLE */
	uint64_t read_at; /* does not read before; NEVER: nothing to read */
};

struct host {
	struct utcp *utcp;
	struct flow flows[CONNS_MAX];
	unsigned to_open;
	uint64_t open_at;
	bool has_ip6; /* its link's MTU is large enough */
	uint64_t opened;
	uint64_t closed;
};

struct world {
	struct world_config config;
	struct random random;
	struct wire *wire;
	struct host hosts[HOSTS];
	struct stream streams[STREAMS_MAX];
	int stream_count;
	uint64_t now_ns;
	bool healed;
	bool abortive; /* this seed's applications abort now and then */
	uint64_t bytes;
	uint64_t aborts;
	char failure[256];
};

/* Notes what did not hold; the first of a world counts. */
void world_fail(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The address of a host, of either family. */
struct utcp_addr world_address(unsigned index, bool is_ip6);

#endif
