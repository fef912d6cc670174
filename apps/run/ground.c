#include "apps/run/ground.h"

#include "apps/common/veth.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Below the range from which kernels give out ports by themselves. */
enum { PORT_FIRST = 20000, PORT_COUNT = 10000 };

static const char parent[] = "/tmp";
static const char prefix[] = "weir-run-";

/*
 * Removes a folder of plain files and sockets. Anyone may make a name in /tmp: a link would lead to
 * somebody's own files, and is left alone.
 */
static void remove_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd >= 0 && !folder)
		close(fd);

	while (folder && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

/* Whether the name is that of a run's folder whose runner is no more. */
static bool is_stale(const char *name)
{
	long pid = 0;

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	pid = strtol(name + strlen(prefix), NULL, 10);
	return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void remove_stale(void)
{
	DIR *folder = opendir(parent);
	struct dirent *entry;
	char path[sizeof(parent) + 1 + sizeof(entry->d_name)];

	while (folder && (entry = readdir(folder))) {
		if (!is_stale(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name);
		remove_folder(path);
	}
	if (folder)
		closedir(folder);
}

static bool is_port_free(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_free = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

	if (fd >= 0)
		close(fd);
	return is_free;
}

/* A free port; different runners begin at different ones. 0 if there is none. */
static uint16_t choose_port(void)
{
	unsigned start = (unsigned)getpid() * 7;

	for (unsigned i = 0; i < PORT_COUNT; i++) {
		uint16_t port = (uint16_t)(PORT_FIRST + (start + i) % PORT_COUNT);

		if (is_port_free(port))
			return port;
	}
	return 0;
}

int ground_take(struct ground *ground, struct tp_error *error)
{
	remove_stale();
	veth_sweep();
	ground->port = choose_port();
	if (!ground->port)
		return tp_fail(error, -EADDRINUSE, "no port from %d to %d is free on 127.0.0.1",
			       PORT_FIRST, PORT_FIRST + PORT_COUNT - 1);
	snprintf(ground->run_id, sizeof(ground->run_id), "%d", (int)getpid());
	snprintf(ground->folder, sizeof(ground->folder), "%s/%s%s-XXXXXX", parent, prefix,
		 ground->run_id);
	if (!mkdtemp(ground->folder))
		return tp_fail(error, -errno, "cannot make a folder in %s: %s", parent,
			       strerror(errno));
	return 0;
}

void ground_pretend(struct ground *ground)
{
	snprintf(ground->run_id, sizeof(ground->run_id), "PID");
	snprintf(ground->folder, sizeof(ground->folder), "%s/%s%s-XXXXXX", parent, prefix,
		 ground->run_id);
	ground->port = choose_port();
}

void ground_give_back(const struct ground *ground)
{
	remove_folder(ground->folder);
}
