#include "stacks/socket/holder.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STATE_TIME_WAIT = 0x06, /* as the tables number them; no process has it any more */
	STATE_LISTEN = 0x0A,
	LINE_BYTES = 512,
};

/* One line of a table: the local end of a socket. */
struct entry {
	bool any;    /* bound to every address */
	uint32_t ip; /* host order */
	uint16_t port;
	unsigned state;
	unsigned long inode; /* 0: no process has it */
};

/*
 * Reads the hexadecimal address of either family; an IPv6 one counts if it stands for IPv4
 * addresses.
 */
static bool parse_address(const char *hex, struct entry *entry)
{
	unsigned words[4];

	if (strlen(hex) == 8 && sscanf(hex, "%8x", &words[3]) == 1) {
		entry->ip = ntohl(words[3]);
		entry->any = entry->ip == 0;
		return true;
	}
	if (sscanf(hex, "%8x%8x%8x%8x", &words[0], &words[1], &words[2], &words[3]) != 4)
		return false;
	entry->ip = ntohl(words[3]);
	entry->any = !words[0] && !words[1] && !words[2] && !words[3];
	return entry->any || (!words[0] && !words[1] && ntohl(words[2]) == 0xFFFF);
}

static bool parse_line(const char *line, struct entry *entry)
{
	char hex[33];
	unsigned port;

	if (sscanf(line,
		   " %*u: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu",
		   hex, &port, &entry->state, &entry->inode) != 4)
		return false;
	entry->port = (uint16_t)port;
	return parse_address(hex, entry);
}

static bool conflicts(const struct entry *entry, const struct tp_addr *addr)
{
	return entry->port == addr->port && entry->inode != 0 && entry->state != STATE_TIME_WAIT &&
	       (entry->any || addr->ip == 0 || entry->ip == addr->ip);
}

/* The inode of the socket in the way, a listener before any other; 0 if the table has none. */
static unsigned long inode_in(const char *table, const struct tp_addr *addr)
{
	FILE *file = fopen(table, "re");
	unsigned long inode = 0;
	char line[LINE_BYTES];
	struct entry entry;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (!parse_line(line, &entry) || !conflicts(&entry, addr))
			continue;
		inode = entry.inode;
		if (entry.state == STATE_LISTEN)
			break;
	}
	fclose(file);
	return inode;
}

static bool has_open(const char *pid, const char *target)
{
	char path[300], seen[64];
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	folder = opendir(path);
	if (!folder)
		return false;
	while (!found && (entry = readdir(folder))) {
		ssize_t bytes = readlinkat(dirfd(folder), entry->d_name, seen, sizeof(seen) - 1);

		if (bytes <= 0)
			continue;
		seen[bytes] = '\0';
		found = strcmp(seen, target) == 0;
	}
	closedir(folder);
	return found;
}

/* The process that has the socket open; 0 if none can be seen. */
static pid_t pid_of(unsigned long inode)
{
	struct dirent *entry;
	char target[64];
	pid_t pid = 0;
	DIR *folder;

	snprintf(target, sizeof(target), "socket:[%lu]", inode);
	if (has_open("self", target))
		return getpid();
	folder = opendir("/proc");
	if (!folder)
		return 0;
	while (!pid && (entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    has_open(entry->d_name, target))
			pid = (pid_t)atoi(entry->d_name);
	closedir(folder);
	return pid;
}

int holder_find(const struct tp_addr *addr, struct holder *holder_out)
{
	unsigned long inode = inode_in("/proc/thread-self/net/tcp", addr);
	pid_t pid;

	if (!inode)
		inode = inode_in("/proc/thread-self/net/tcp6", addr);
	pid = inode ? pid_of(inode) : 0;
	if (!pid)
		return -ENOENT;
	holder_out->pid = pid;
	program_name(pid, holder_out->program);
	return 0;
}
