#include "stacks/uring/probe.h"

#include "dataplane/core/clock.h"
#include "stacks/socket/socket.h"
#include "stacks/uring/pool.h"
#include "stacks/uring/uring.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- looking --- */

/* A ring of buffers of one page, made and unmade. */
static bool has_buffer_rings(struct ur_queue *queue)
{
	struct ur_pool pool;
	int code = ur_pool_create(&pool, queue, 8, 4096);

	if (code < 0)
		return false;
	io_uring_unregister_buf_ring(&queue->ring, UR_POOL_GROUP);
	ur_pool_destroy(&pool);
	return true;
}

/*
 * Whether a zero-copy send may ask for a report: on a Unix socket, which knows no zero copy, the
 * kernel says EINVAL where it does not know the flag, and something else where it does.
 */
static bool has_zero_copy_reports(struct ur_queue *queue)
{
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	bool knows = false;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	sqe = io_uring_get_sqe(&queue->ring);
	io_uring_prep_send_zc(sqe, ends[0], "", 1, MSG_DONTWAIT, IORING_SEND_ZC_REPORT_USAGE);
	io_uring_sqe_set_data64(sqe, UR_NOBODY);
	ur_queue_enter(queue, CLOCK_SECOND_NS);
	while (io_uring_peek_cqe(&queue->ring, &cqe) == 0) {
		knows = cqe->flags & IORING_CQE_F_NOTIF ? knows : cqe->res != -EINVAL;
		io_uring_cqe_seen(&queue->ring, cqe);
	}
	close(ends[0]);
	close(ends[1]);
	return knows;
}

/* Whether a ring can be set up with these flags. */
static bool can_set_up(unsigned flags)
{
	struct io_uring_params params = {.flags = flags, .sq_thread_idle = 1};
	struct io_uring ring;

	if (io_uring_queue_init_params(2, &ring, &params) < 0)
		return false;
	io_uring_queue_exit(&ring);
	return true;
}

void ur_abilities_of(struct ur_queue *queue, struct ur_abilities *abilities_out)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(&queue->ring);
	struct ur_abilities abilities = {
		.ext_arg = (queue->ring.features & IORING_FEAT_EXT_ARG) != 0,
		.buffer_rings = has_buffer_rings(queue),
		.registered_ring = queue->registered,
	};

	/* Multishot receive and zero-copy send came with the same kernel, 6.0. */
	if (probe) {
		abilities.send_zc = io_uring_opcode_supported(probe, IORING_OP_SEND_ZC);
		abilities.multishot_recv = abilities.send_zc;
		io_uring_free_probe(probe);
	}
	abilities.send_zc_reports = abilities.send_zc && has_zero_copy_reports(queue);
	*abilities_out = abilities;
}

/* --- telling --- */

static int look(struct ur_abilities *abilities_out, struct tp_error *error)
{
	const struct tp_config config = {.cpu = -1, .workers = 1};
	struct ur_queue queue;
	int code = ur_queue_open(&queue, &uring_ops, &config, error);

	if (code < 0)
		return code;
	ur_abilities_of(&queue, abilities_out);
	ur_queue_close(&queue);
	abilities_out->defer_taskrun =
		can_set_up(IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER);
	abilities_out->coop_taskrun = can_set_up(IORING_SETUP_COOP_TASKRUN);
	abilities_out->sqpoll = can_set_up(IORING_SETUP_SQPOLL);
	return 0;
}

int ur_probe(struct tp_feature *features_out, unsigned room, struct tp_error *error)
{
	struct ur_abilities found = {0};
	int code = look(&found, error);
	const struct tp_feature features[] = {
		{"defer-taskrun", found.defer_taskrun,
		 "before 6.1: completions are worked out at any system call"},
		{"coop-taskrun", found.coop_taskrun,
		 "before 5.19: completions interrupt the worker"},
		{"ext-arg", found.ext_arg, "before 5.11: the stack refuses to open"},
		{"registered-ring", found.registered_ring,
		 "before 5.18: each call looks the ring's descriptor up"},
		{"multishot-accept", found.buffer_rings,
		 "before 5.19: one request for each connection"},
		{"buffer-rings", found.buffer_rings,
		 "before 5.19: bytes are received into each connection's own memory"},
		{"multishot-recv", found.multishot_recv && found.buffer_rings,
		 "before 6.0: one request for each receive, into the connection's own memory"},
		{"send-zc", found.send_zc, "before 6.0: zero-copy-bytes must be 0"},
		{"send-zc-report", found.send_zc_reports, "before 6.2: zc_copied does not count"},
		{"sqpoll", found.sqpoll, "not allowed here: sqpoll=on is refused"},
	};
	unsigned first, count = sizeof(features) / sizeof(features[0]);

	if (code < 0)
		return code;
	first = socket_probe(features_out, room);
	if (count > room - first)
		count = room - first;
	for (unsigned i = 0; i < count; i++) {
		features_out[first + i] = features[i];
		if (features[i].present)
			features_out[first + i].absent = NULL;
	}
	return (int)(first + count);
}
