#include "stacks/socket/rota.h"

#include "stacks/socket/selector.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct group {
	struct tp_addr addr;
	unsigned workers;
	uint64_t joined; /* a bit for each worker that has; 0: this place is free */
	struct selector selector;
};

static struct {
	pthread_mutex_t lock;
	struct group groups[ROTA_GROUPS];
} rota = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t bit_of(const struct socket_settings *settings)
{
	return 1ull << settings->worker;
}

static bool is_same(const struct tp_addr *one, const struct tp_addr *other)
{
	if (one->family != other->family || one->port != other->port)
		return false;
	if (one->family == TP_IPV6)
		return memcmp(one->ip6, other->ip6, sizeof(one->ip6)) == 0 &&
		       one->interface == other->interface;
	return one->ip == other->ip;
}

static struct group *find(const struct tp_addr *addr, const struct socket_settings *settings)
{
	for (unsigned i = 0; i < ROTA_GROUPS; i++) {
		struct group *group = &rota.groups[i];

		if (group->joined && group->workers == settings->workers &&
		    is_same(&group->addr, addr))
			return group;
	}
	return NULL;
}

static void remove_member(struct group *group, uint64_t bit, uint64_t *calls)
{
	group->joined &= ~bit;
	if (!group->joined)
		selector_close(&group->selector, calls);
}

/* Attaching anew what is attached already changes nothing. */
static int add_first(struct group *group, int fd, uint64_t *calls)
{
	int code = selector_put(&group->selector, 0, fd, calls);

	return code < 0 ? code : selector_attach(&group->selector, fd, calls);
}

static int found_group(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		       uint64_t *calls)
{
	struct group group = {.addr = *addr, .workers = settings->workers, .joined = 1};
	unsigned place = 0;
	int code;

	while (place < ROTA_GROUPS && rota.groups[place].joined)
		place++;
	if (place == ROTA_GROUPS)
		return -ENOSPC;
	code = selector_open(&group.selector, settings->workers, calls);
	if (code < 0)
		return code;
	code = add_first(&group, fd, calls);
	if (code < 0)
		selector_close(&group.selector, calls);
	else
		rota.groups[place] = group;
	return code;
}

static int join(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		uint64_t *calls)
{
	struct group *group = find(addr, settings);
	int code;

	/* its listener was closed behind our back, so there is a new group of listeners */
	if (group && settings->worker == 0 && group->joined & 1) {
		remove_member(group, group->joined, calls);
		group = NULL;
	}
	if (!group)
		return settings->worker == 0 ? found_group(fd, addr, settings, calls) : -ENOTCONN;
	code = settings->worker == 0 ? add_first(group, fd, calls)
				     : selector_put(&group->selector, settings->worker, fd, calls);
	if (code == 0)
		group->joined |= bit_of(settings);
	return code;
}

int rota_join(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
	      uint64_t *calls)
{
	int code;

	if (settings->workers > ROTA_WORKERS)
		return -ENOSPC;
	pthread_mutex_lock(&rota.lock);
	code = join(fd, addr, settings, calls);
	pthread_mutex_unlock(&rota.lock);
	return code;
}

void rota_leave(const struct tp_addr *addr, const struct socket_settings *settings, uint64_t *calls)
{
	struct group *group;

	if (settings->workers > ROTA_WORKERS)
		return;
	pthread_mutex_lock(&rota.lock);
	group = find(addr, settings);
	if (group)
		remove_member(group, bit_of(settings), calls);
	pthread_mutex_unlock(&rota.lock);
}

bool rota_has(const struct tp_addr *addr, const struct socket_settings *settings)
{
	const struct group *group;
	bool has;

	if (settings->workers > ROTA_WORKERS)
		return false;
	pthread_mutex_lock(&rota.lock);
	group = find(addr, settings);
	has = group && group->joined & bit_of(settings);
	pthread_mutex_unlock(&rota.lock);
	return has;
}
