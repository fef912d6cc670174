#include "dataplane/transport/holder.h"

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
	UNIX_UNCONNECTED = 0x01, /* bound or listening */
	LINE_BYTES = 512,
};

/* One line of a table of TCP sockets: the local end of one. */
struct entry {
	uint8_t address[16]; /* in wire order; an IPv4 one is the last four bytes of a mapped one */
	bool any;	     /* bound to every address */
	bool mapped;	     /* it stands for an IPv4 address */
	uint16_t port;
	unsigned state;
	unsigned long inode; /* 0: no process has it */
};

static const uint8_t mapped_prefix[12] = {[10] = 0xFF, [11] = 0xFF};

/* Reads the hexadecimal address of either family: words as they stand in memory. */
static bool parse_address(const char *hex, struct entry *entry)
{
	static const uint8_t zeros[16];
	uint32_t words[4] = {0};

	if (strlen(hex) == 8 && sscanf(hex, "%8x", &words[3]) == 1)
		words[2] = htonl(0xFFFF);
	else if (sscanf(hex, "%8x%8x%8x%8x", &words[0], &words[1], &words[2], &words[3]) != 4)
		return false;
	memcpy(entry->address, words, sizeof(entry->address));
	entry->mapped = memcmp(entry->address, mapped_prefix, sizeof(mapped_prefix)) == 0;
	entry->any = memcmp(entry->address, zeros, 16) == 0 || (entry->mapped && words[3] == 0);
	return true;
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

/* A socket on every IPv6 address may take IPv4 too; the table does not tell, so it counts. */
static bool addresses_meet(const struct entry *entry, const struct tp_addr *addr)
{
	static const uint8_t zeros[16];
	uint32_t ip_be = htonl(addr->ip);

	if (addr->family == TP_IPV6)
		return !entry->mapped &&
		       (entry->any || memcmp(addr->ip6, zeros, sizeof(zeros)) == 0 ||
			memcmp(addr->ip6, entry->address, sizeof(zeros)) == 0);
	return entry->any ||
	       (entry->mapped && (ip_be == 0 || memcmp(entry->address + 12, &ip_be, 4) == 0));
}

static bool conflicts(const struct entry *entry, const struct tp_addr *addr)
{
	return entry->port == addr->port && entry->inode != 0 && entry->state != STATE_TIME_WAIT &&
	       addresses_meet(entry, addr);
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

/*
 * The inode of the socket bound to a path, listening or not; 0 if there is none. Those that it
 * accepted have the same path, but are connected.
 */
static unsigned long inode_of_path(const char *path)
{
	FILE *file = fopen("/proc/thread-self/net/unix", "re");
	unsigned long found = 0, inode;
	char line[LINE_BYTES];
	unsigned state;
	int path_at;

	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file)) {
		path_at = 0;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*x: %*x %*x %*x %*x %x %lu %n", &state, &inode, &path_at) == 2 &&
		    state == UNIX_UNCONNECTED && path_at > 0 && strcmp(line + path_at, path) == 0)
			found = inode;
	}
	fclose(file);
	return found;
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

static unsigned long inode_of(const struct tp_addr *addr)
{
	unsigned long inode;

	if (addr->family == TP_UNIX)
		return inode_of_path(addr->path);
	if (addr->family == TP_IPV6)
		return inode_in("/proc/thread-self/net/tcp6", addr);
	inode = inode_in("/proc/thread-self/net/tcp", addr);
	return inode ? inode : inode_in("/proc/thread-self/net/tcp6", addr);
}

int holder_find(const struct tp_addr *addr, struct holder *holder_out)
{
	unsigned long inode = inode_of(addr);
	pid_t pid = inode ? pid_of(inode) : 0;

	if (!pid)
		return -ENOENT;
	holder_out->pid = pid;
	program_name(pid, holder_out->program);
	return 0;
}
