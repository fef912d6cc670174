#include "stacks/epoll/epoll.h"

#include "stacks/epoll/instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_power_of_two(uint32_t value)
{
	return value > 0 && (value & (value - 1)) == 0;
}

static int check_limits(const struct tp_limits *limits, struct tp_error *error)
{
	if (limits->conn_max == 0 || limits->conn_max > LIMIT_CONN_MAX)
		return tp_fail(error, -EINVAL,
			       "epoll: %u connections asked for; 1 to %d are possible",
			       limits->conn_max, LIMIT_CONN_MAX);
	if (!is_power_of_two(limits->recv_bytes) || !is_power_of_two(limits->send_bytes))
		return tp_fail(error, -EINVAL,
			       "epoll: receive and send memory (%u and %u bytes asked for) must be "
			       "powers of two",
			       limits->recv_bytes, limits->send_bytes);
	return 0;
}

static int take_memory(struct ep *ep, struct tp_error *error)
{
	const struct tp_limits *limits = &ep->limits;
	int code = slab_create(&ep->conns, limits->conn_max, sizeof(struct ep_conn));

	if (code == 0)
		code = slab_create(&ep->recv_blocks, limits->conn_max, limits->recv_bytes);
	if (code == 0)
		code = slab_create(&ep->send_blocks, limits->conn_max, limits->send_bytes);
	if (code < 0)
		return tp_fail(error, code,
			       "epoll: no memory for %u connections of %u and %u bytes; allow "
			       "fewer",
			       limits->conn_max, limits->recv_bytes, limits->send_bytes);
	return 0;
}

static void give_back(struct ep *ep)
{
	if (ep->epoll_fd >= 0)
		close(ep->epoll_fd);
	slab_destroy(&ep->send_blocks);
	slab_destroy(&ep->recv_blocks);
	slab_destroy(&ep->conns);
	free(ep);
}

static struct ep *make_instance(const struct tp_config *config)
{
	struct ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->ops = epoll_ops;
	if (!tp_option_of(&epoll_ops, config, EP_SENDFILE)) {
		ep->ops.send_file = NULL;
		ep->ops.capabilities &= ~(uint32_t)TP_SENDS_FILES;
	}
	ep->base.ops = &ep->ops;
	ep->epoll_fd = -1;
	ep->settings = socket_settings_of(&epoll_ops, config);
	ep->by_level = tp_option_of(&epoll_ops, config, EP_TRIGGER);
	ep->accept_batch = (unsigned)tp_option_of(&epoll_ops, config, EP_ACCEPT_BATCH);
	ep->limits = config->limits;
	list_init(&ep->ready);
	list_init(&ep->marked);
	list_init(&ep->pending);
	list_init(&ep->released);
	list_init(&ep->live);
	return ep;
}

static int ep_open(const struct tp_config *config, struct tp **tp_out, struct tp_error *error)
{
	int code = socket_check(&epoll_ops, config, error);
	struct ep *ep;

	if (code == 0)
		code = check_limits(&config->limits, error);
	if (code < 0)
		return code;
	ep = make_instance(config);
	if (!ep)
		return tp_fail(error, -ENOMEM, "epoll: no memory for an instance");
	code = take_memory(ep, error);
	if (code == 0) {
		ep->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		ep->counters.syscalls++;
		if (ep->epoll_fd < 0)
			code = tp_fail(error, -errno, "epoll: cannot make an epoll descriptor: %s",
				       strerror(errno));
	}
	if (code < 0) {
		give_back(ep);
		return code;
	}
	*tp_out = &ep->base;
	return 0;
}

/*
 * Listeners are watched by edge whatever connections are: by level, one that rests for want of
 * descriptors would end every wait. Workers that share a Unix socket's queue are woken one at a
 * time.
 */
static uint32_t listener_events(const struct ep *ep, const struct tp_addr *addr)
{
	bool shared = addr->family == TP_UNIX && ep->settings.workers > 1;

	return EPOLLIN | EPOLLET | (shared ? EPOLLEXCLUSIVE : 0u);
}

static int ep_listen(struct tp *tp, const struct tp_addr *addr, struct tp_error *error)
{
	struct ep *ep = ep_of(tp);
	struct epoll_event event = {
		.events = listener_events(ep, addr),
		.data.u64 = EP_LISTENER_TAG | ep->listener_count,
	};
	int fd, code;

	if (ep->listener_count == SOCKET_LISTENERS)
		return tp_fail(error, -ENOSPC, "epoll: an instance listens on at most %d addresses",
			       SOCKET_LISTENERS);
	fd = socket_listen(addr, &ep->settings, &ep->counters.syscalls, error);
	if (fd < 0)
		return fd;
	ep->counters.syscalls++;
	if (epoll_ctl(ep->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		code = tp_fail(error, -errno, "epoll: cannot watch a listener: %s",
			       strerror(errno));
		socket_unlisten(fd, addr, &ep->settings, &ep->counters.syscalls);
		return code;
	}
	ep->listeners[ep->listener_count++] = (struct ep_listener){.fd = fd, .addr = *addr};
	ep->listeners_in_turn += socket_in_turn(addr, &ep->settings);
	return 0;
}

/*
 * Asks the kernel to report on a new attempt; what the network refused at once is told like what it
 * refuses later.
 */
static int begin_connecting(struct ep *ep, struct ep_conn *conn, int verdict,
			    struct tp_error *error)
{
	int code;

	if (verdict) {
		ep_conn_retire(ep, conn, socket_reason(verdict));
		return 0;
	}
	code = ep_conn_watch(ep, conn, true);
	if (code < 0) {
		socket_reset(conn->fd, &ep->counters.syscalls);
		ep_set_state(conn, EP_CLOSED);
		ep_conn_release(ep, conn);
		return tp_fail(error, code, "epoll: cannot watch a connection: %s",
			       strerror(-code));
	}
	return 0;
}

static int ep_connect(struct tp *tp, const struct tp_addr *addr, void *user,
		      struct tp_conn **conn_out, struct tp_error *error)
{
	struct ep *ep = ep_of(tp);
	struct ep_conn *conn;
	int verdict = 0;
	int fd, code;

	if (ep->conns.in_use == ep->limits.conn_max)
		return tp_fail(error, -ENOBUFS, "epoll: all %u connections are in use; allow more",
			       ep->limits.conn_max);
	fd = socket_connect(addr, &ep->settings, &verdict, &ep->counters.syscalls, error);
	if (fd < 0)
		return fd;
	conn = ep_conn_begin(ep, fd, EP_CONNECTING);
	conn->base.user = user;
	code = begin_connecting(ep, conn, verdict, error);
	if (code == 0)
		*conn_out = &conn->base;
	return code;
}

static void ep_close(struct tp *tp)
{
	struct ep *ep = ep_of(tp);
	struct list *link;

	while ((link = list_pop(&ep->live))) {
		struct ep_conn *conn = list_member(link, struct ep_conn, live);

		if (conn->state != EP_CLOSED)
			ep_conn_retire(ep, conn, TP_ABORTED);
		ep_conn_release(ep, conn);
	}
	for (unsigned i = 0; i < ep->listener_count; i++)
		socket_unlisten(ep->listeners[i].fd, &ep->listeners[i].addr, &ep->settings,
				&ep->counters.syscalls);
	give_back(ep);
}

static void ep_counters(const struct tp *tp, struct tp_counters *counters_out)
{
	const struct ep *ep = (const struct ep *)tp;
	uint64_t *out = (uint64_t *)counters_out;

	for (unsigned i = 0; i < TP_COUNTER_COUNT; i++)
		if (epoll_ops.counters_known & 1ull << i)
			out[i] = tp_counter_value(&ep->counters, i);
}

static unsigned ep_details(const struct tp *tp, struct tp_detail *details_out, unsigned room)
{
	const struct ep *ep = (const struct ep *)tp;
	const struct tp_detail details[] = {
#define X(name, meaning) {#name, ep->details.name, TP_DETAIL_COUNT},
		EP_DETAILS(X)
#undef X
			{"listeners_in_turn", ep->listeners_in_turn, TP_DETAIL_LEVEL},
	};

	return tp_details_copy(details, sizeof(details) / sizeof(details[0]), details_out, room);
}

/* EPERM: a filter of system calls that does not know it yet. */
static bool has_pwait2(void)
{
	struct epoll_event event;
	struct timespec at_once = {0};

	return epoll_pwait2(-1, &event, 1, &at_once, NULL) == 0 ||
	       (errno != ENOSYS && errno != EPERM);
}

static int ep_probe(struct tp_feature *features_out, unsigned room, struct tp_error *error)
{
	unsigned count = socket_probe(features_out, room);

	if (count == room)
		return (int)count;
	features_out[count] = (struct tp_feature){.name = "epoll-pwait2", .present = has_pwait2()};
	if (!features_out[count].present)
		features_out[count].absent = "the kernel lacks it; waits are rounded up to 1 ms";
	return (int)count + 1;
}

static const char *const triggers[] = {"edge", "level", NULL};

static const struct tp_option options[EP_OPTION_COUNT] = {
	SOCKET_OPTIONS,
	[EP_TRIGGER] = {.name = "trigger",
			.kind = TP_OPTION_CHOICE,
			.choices = triggers,
			.about = "whether epoll reports what is new or what is there"},
	[EP_ACCEPT_BATCH] = {.name = "accept-batch",
			     .kind = TP_OPTION_COUNT,
			     .initial = SOCKET_ACCEPT_BATCH,
			     .min = 1,
			     .max = 4096,
			     .about = "connections that a listener accepts in one turn"},
	[EP_SENDFILE] = {.name = "sendfile",
			 .kind = TP_OPTION_SWITCH,
			 .initial = true,
			 .about = "whether the kernel sends files itself"},
};

const struct tp_ops epoll_ops = {
	.name = "epoll",
	.capabilities = TP_CAN_BLOCK | TP_REFUSAL_IS_KNOWN | TP_SENDS_FILES,
	.families = 1 << TP_IPV4 | 1 << TP_IPV6 | 1 << TP_UNIX,
	.options = options,
	.option_count = EP_OPTION_COUNT,
	.probe = ep_probe,
	/*
	 * copied_bytes stays unknown. We copy nothing ourselves, but the kernel copies each byte
	 * within the call, where a stack of our own would count it: a 0 here would read as if
	 * sockets were the ones without copies. Segments are the kernel's and it does not tell them
	 * apart by connection for free.
	 */
	.counters_known = TP_KNOWS(polls) | TP_KNOWS(empty_polls) | TP_KNOWS(waits) |
			  TP_KNOWS(wait_ns) | TP_KNOWS(wakeups) | TP_KNOWS(accepted) |
			  TP_KNOWS(accepts_refused) | TP_KNOWS(connected) | TP_KNOWS(closed) |
			  TP_KNOWS(writes) | TP_KNOWS(written_bytes) |
			  TP_KNOWS(largest_write_bytes) | TP_KNOWS(received_bytes) |
			  TP_KNOWS(reserves_refused) | TP_KNOWS(syscalls),
	.open = ep_open,
	.listen = ep_listen,
	.connect = ep_connect,
	.close = ep_close,
	.poll = ep_poll,
	.peek = ep_peek,
	.consume = ep_consume,
	.reserve = ep_reserve,
	.commit = ep_commit,
	.flush = ep_flush,
	.send_file = ep_send_file,
	.finish = ep_finish,
	.abort = ep_abort,
	.counters = ep_counters,
	.details = ep_details,
};
