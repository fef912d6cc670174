#include "tests/faults/ground.h"

#include "stacks/registry.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT_FIRST = 10000, PORT_COUNT = 20000, PID_BITS = 22, DETAILS_MAX = 32 };

int ground_open(const char *spec, const struct tp_limits *limits, struct tp **tp_out,
		struct tp_error *error)
{
	struct stack_choice choice;
	struct tp_config config = {.limits = *limits, .device = "", .cpu = -1, .workers = 1};
	int code = stack_find(spec, &choice, error);

	if (code == -ENOTSUP)
		return 1;
	if (code < 0)
		return code;
	config.options = choice.options;
	return choice.stack->ops->open(&config, tp_out, error);
}

uint32_t ground_ip(void)
{
	return 0x7F400000 | ((uint32_t)getpid() & ((1u << PID_BITS) - 1));
}

static bool is_free(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(ground_ip()),
		.sin_port = htons(port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool free = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

	close(fd);
	return free;
}

uint16_t ground_port(void)
{
	static uint32_t calls;

	for (unsigned i = 0; i < PORT_COUNT; i++) {
		uint16_t port = (uint16_t)(PORT_FIRST + calls++ % PORT_COUNT);

		if (is_free(port))
			return port;
	}
	return 0;
}

unsigned ground_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

uint64_t ground_resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t ground_detail(const struct tp *tp, const char *name)
{
	struct tp_detail details[DETAILS_MAX];
	unsigned count = tp->ops->details ? tp->ops->details(tp, details, DETAILS_MAX) : 0;

	for (unsigned i = 0; i < count; i++)
		if (strcmp(details[i].name, name) == 0)
			return details[i].value;
	return 0;
}
