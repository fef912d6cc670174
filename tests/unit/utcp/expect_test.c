/*
 * expect_test: hints of frames to come, of which nothing may be seen but the time they save.
 */
#include "stacks/utcp/packet.h"
#include "tests/support/suite.h"
#include "tests/unit/utcp/crowd.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ENOUGH = 2000 };

static struct crowd crowd;

/* The next segment of an established peer. */
static size_t build(uint8_t frame[FRAME_ROOM])
{
	struct peer_segment segment = {.seq = (uint32_t)PEER_ISN + 1,
				       .ack = (uint32_t)OWN_ISN + 1,
				       .window = 60000,
				       .port = crowd_peer_port(0),
				       .own_port = crowd_own_port(0),
				       .flags = ACK,
				       .data = (const uint8_t *)"x",
				       .bytes = 1};

	return peer_build(&segment, frame);
}

static void changes_nothing(void)
{
	static uint8_t frame[FRAME_ROOM];
	struct span frames[UTCP_EXPECT_MAX + 1];
	struct utcp_counters before;

	CU_ASSERT_FATAL(crowd_open(&crowd, 1));
	before = *utcp_counters(crowd.utcp);
	for (unsigned i = 0; i <= UTCP_EXPECT_MAX; i++)
		frames[i] = (struct span){frame, build(frame)};
	for (unsigned count = 0; count <= UTCP_EXPECT_MAX + 1; count++)
		utcp_expect(crowd.utcp, frames, count);
	CU_ASSERT(memcmp(&before, utcp_counters(crowd.utcp), sizeof(before)) == 0);
	utcp_check(crowd.utcp);
	utcp_input(crowd.utcp, frame, frames[0].bytes, crowd.now_ns);
	CU_ASSERT(utcp_counters(crowd.utcp)->in_bytes == before.in_bytes + 1);
	crowd_close(&crowd);
}

/* Frames cut short anywhere, with headers that claim any length, end where nothing can be read. */
static void reads_nothing_beyond_the_frame(void)
{
	static uint8_t frame[FRAME_ROOM];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
	uint8_t *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
	CU_ASSERT_FATAL(crowd_open(&crowd, 1));
	bytes = build(frame);
	for (unsigned version = 0; version <= 0xff; version++) {
		frame[ETH_BYTES + IP_VERSION] = (uint8_t)version;
		for (size_t cut = 0; cut <= bytes; cut++) {
			memcpy(pages + page - cut, frame, cut);
			utcp_expect(crowd.utcp, &(struct span){pages + page - cut, cut}, 1);
		}
	}
	utcp_check(crowd.utcp);
	crowd_close(&crowd);
	munmap(pages, 2 * page);
}

static void pays_with_many(void)
{
	CU_ASSERT_FATAL(crowd_open(&crowd, ENOUGH - 1));
	CU_ASSERT(!utcp_expect_pays(crowd.utcp));
	crowd_close(&crowd);
	CU_ASSERT_FATAL(crowd_open(&crowd, ENOUGH));
	CU_ASSERT(utcp_expect_pays(crowd.utcp));
	crowd_close(&crowd);
}

static const struct suite_test tests[] = {
	{"frames told ahead change nothing, and are taken in as others", changes_nothing},
	{"of frames told ahead nothing is read beyond their end", reads_nothing_beyond_the_frame},
	{"telling ahead pays from 2,000 connections on", pays_with_many},
};

SUITE_MAIN("expect", tests)
