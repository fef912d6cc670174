#include "stacks/socket/algorithm.h"

#include "dataplane/transport/transport.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIST_BYTES = 160 }; /* of names; a longer list is cut */

const char *const algorithm_names[] = {"host", "reno",	"cubic",    "bbr", "dctcp",
				       "htcp", "vegas", "westwood", NULL};

int algorithm_set(int fd, unsigned choice, uint64_t *calls)
{
	const char *name = algorithm_names[choice];

	if (choice == 0)
		return 0;
	++*calls;
	return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) < 0
		       ? -errno
		       : 0;
}

/* The kernel's list in a file of /proc/sys/net/ipv4; returns `list`. */
static const char *read_list(const char *path, char list[LIST_BYTES])
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(list, LIST_BYTES, file))
		snprintf(list, LIST_BYTES, "(%s cannot be read)", path);
	list[strcspn(list, "\n")] = '\0';
	if (file)
		fclose(file);
	return list;
}

static int fail_choice(const char *stack, unsigned choice, int code, struct tp_error *error)
{
	const char *name = algorithm_names[choice];
	char list[LIST_BYTES];

	if (code == -ENOENT)
		return tp_fail(
			error, code,
			"%s: this kernel has no congestion control '%s', but has: %s; choose "
			"one, or load the module tcp_%s",
			stack, name,
			read_list("/proc/sys/net/ipv4/tcp_available_congestion_control", list),
			name);
	if (code == -EPERM)
		return tp_fail(
			error, code,
			"%s: the congestion control '%s' needs CAP_NET_ADMIN; without, these "
			"are allowed: %s",
			stack, name,
			read_list("/proc/sys/net/ipv4/tcp_allowed_congestion_control", list));
	return tp_fail(error, code, "%s: cannot choose the congestion control '%s': %s", stack,
		       name, strerror(-code));
}

int algorithm_check(const char *stack, unsigned choice, struct tp_error *error)
{
	uint64_t calls = 0;
	int fd, code;

	if (choice == 0)
		return 0;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	code = fd < 0 ? -errno : algorithm_set(fd, choice, &calls);
	if (fd >= 0)
		close(fd);
	return code < 0 ? fail_choice(stack, choice, code, error) : 0;
}
