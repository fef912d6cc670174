/* Rings as younger libraries make them: without the array that names requests in their order. */
#include "dataplane/core/clock.h"
#include "stacks/uring/queue.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WRITES = 50, WRITE_BYTES = 100 };

int __real_io_uring_queue_init_params(unsigned, struct io_uring *, struct io_uring_params *);
int __wrap_io_uring_queue_init_params(unsigned, struct io_uring *, struct io_uring_params *);

static bool is_granted;

/* As younger libraries do: asks for it, and does without where the kernel does not know it. */
int __wrap_io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
				      struct io_uring_params *params)
{
	struct io_uring_params attempt = *params;
	int fd, code;

	attempt.flags |= IORING_SETUP_NO_SQARRAY;
	fd = (int)syscall(SYS_io_uring_setup, entries, &attempt);
	is_granted = fd >= 0;
	if (fd < 0)
		return __real_io_uring_queue_init_params(entries, ring, params);
	/* by hand, for older libraries fill the array in */
	code = io_uring_queue_mmap(fd, &attempt, ring);
	if (code < 0) {
		close(fd);
		return code;
	}
	ring->features = attempt.features;
	ring->sq.array = NULL;
	return 0;
}

static void a_ring_without_the_array_carries_all(void)
{
	static uint8_t bytes[WRITES * WRITE_BYTES], back[sizeof(bytes)];
	struct bench_conn *conn;
	struct bench bench;
	int fd;

	if (!bench_open_with(&bench, 4, "entries=8"))
		return;
	if (!is_granted)
		suite_skip("this kernel has no rings without the array (since 6.6)");
	conn = bench_join(&bench, &fd);
	bench_fill(bytes, sizeof(bytes));
	for (size_t at = 0; at < sizeof(bytes); at += WRITE_BYTES) {
		CU_ASSERT_TRUE(bench_write(&bench, conn, bytes + at, WRITE_BYTES));
		if (at / WRITE_BYTES % 3 == 0)
			bench_turn(&bench, 0);
	}
	bench_idle(&bench);
	CU_ASSERT_EQUAL(recv(fd, back, sizeof(back), MSG_DONTWAIT), sizeof(back));
	CU_ASSERT_EQUAL(memcmp(bytes, back, sizeof(back)), 0);
	CU_ASSERT_EQUAL(send(fd, bytes, 1000, 0), 1000);
	while (bench_counters(&bench).received_bytes < 1000)
		bench_turn(&bench, CLOCK_MS_NS);
	CU_ASSERT_EQUAL(bench_read(&bench, conn, back, 1000), 1000);
	CU_ASSERT_EQUAL(memcmp(bytes, back, 1000), 0);
	close(fd);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_FINISHED));
	bench_close(&bench);
}

static const struct suite_test tests[] = {
	{"a ring without the array of requests carries all", a_ring_without_the_array_carries_all},
};

SUITE_MAIN("uring array", tests)
