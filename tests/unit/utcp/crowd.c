#include "tests/unit/utcp/crowd.h"

#include "dataplane/core/check.h"

#include <stdlib.h>

enum { MEMORY_BYTES = 256 };

static void put(struct crowd *crowd, uint32_t index, struct peer_segment segment)
{
	static uint8_t frame[FRAME_ROOM];

	segment.window = 60000;
	segment.port = crowd_peer_port(index);
	segment.own_port = crowd_own_port(index);
	utcp_input(crowd->utcp, frame, peer_build(&segment, frame), crowd->now_ns);
}

void crowd_send(struct crowd *crowd, uint32_t index, uint8_t flags, bool with_byte)
{
	put(crowd, index,
	    (struct peer_segment){.seq = (uint32_t)PEER_ISN + 1,
				  .ack = (uint32_t)OWN_ISN + 1,
				  .flags = flags,
				  .data = (const uint8_t *)"x",
				  .bytes = with_byte});
}

unsigned crowd_drain(struct crowd *crowd)
{
	static uint8_t frame[FRAME_ROOM];
	unsigned count = 0;

	while (utcp_output(crowd->utcp, frame, crowd->now_ns) > 0)
		count++;
	return count;
}

static bool call(struct crowd *crowd, uint32_t index)
{
	struct utcp_event event;

	put(crowd, index, (struct peer_segment){.seq = (uint32_t)PEER_ISN, .flags = SYN});
	if (crowd_drain(crowd) != 1)
		return false;
	crowd_send(crowd, index, ACK, false);
	if (utcp_events(crowd->utcp, &event, 1) != 1 || event.bits != UTCP_ACCEPTED)
		return false;
	crowd->conns[index] = event.conn;
	return true;
}

bool crowd_open(struct crowd *crowd, uint32_t count)
{
	struct utcp_config config = peer_config();

	config.conn_max = count;
	config.recv_bytes = config.send_bytes = MEMORY_BYTES;
	*crowd = (struct crowd){.now_ns = 1000 * SECOND, .count = count};
	crowd->conns = calloc(count, sizeof(struct utcp_conn *));
	CHECK(crowd->conns && utcp_create(&config, crowd->now_ns, &crowd->utcp) == 0);
	for (uint32_t i = 0; i < count; i += CROWD_PORTS)
		CHECK(utcp_listen(crowd->utcp, crowd_own_port(i)) == 0);
	for (uint32_t i = 0; i < count; i++)
		if (!call(crowd, i))
			return false;
	return true;
}

void crowd_close(struct crowd *crowd)
{
	utcp_destroy(crowd->utcp);
	free(crowd->conns);
}
