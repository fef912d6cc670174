#include "dataplane/transport/addr.h"

#include "dataplane/core/units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static void print_ip6(const struct tp_addr *addr, char text[TP_ADDR_TEXT])
{
	char ip[INET6_ADDRSTRLEN], interface[16] = "";

	inet_ntop(AF_INET6, addr->ip6, ip, sizeof(ip));
	if (addr->interface)
		snprintf(interface, sizeof(interface), "%%%u", addr->interface);
	snprintf(text, TP_ADDR_TEXT, "[%s%s]:%u", ip, interface, addr->port);
}

const char *tp_addr_print(const struct tp_addr *addr, char text[TP_ADDR_TEXT])
{
	if (addr->family == TP_UNIX)
		snprintf(text, TP_ADDR_TEXT, "unix:%s", addr->path);
	else if (addr->family == TP_IPV6)
		print_ip6(addr, text);
	else
		snprintf(text, TP_ADDR_TEXT, "%u.%u.%u.%u:%u", addr->ip >> 24, addr->ip >> 16 & 255,
			 addr->ip >> 8 & 255, addr->ip & 255, addr->port);
	return text;
}

const char *tp_family_name(enum tp_family family)
{
	static const char *const names[TP_FAMILY_COUNT] = {
		[TP_IPV4] = "IPv4", [TP_IPV6] = "IPv6", [TP_UNIX] = "Unix"};

	return family < TP_FAMILY_COUNT ? names[family] : "unknown";
}

const char *tp_ip_parse(const char *text, char separator, uint32_t *ip_out)
{
	const char *at = strrchr(text, separator);
	char ip[INET_ADDRSTRLEN];
	struct in_addr parsed;

	if (!at || (size_t)(at - text) >= sizeof(ip))
		return NULL;
	memcpy(ip, text, (size_t)(at - text));
	ip[at - text] = '\0';
	if (inet_pton(AF_INET, ip, &parsed) != 1)
		return NULL;
	*ip_out = ntohl(parsed.s_addr);
	return at + 1;
}

bool tp_ip_is_many(uint32_t ip)
{
	return ip >> 28 == 14 || ip == UINT32_MAX;
}

static int parse_port(const char *text, uint16_t *port_out)
{
	uint64_t port;

	if (units_parse_count(text, UINT16_MAX, &port) < 0 || port == 0)
		return -EINVAL;
	*port_out = (uint16_t)port;
	return 0;
}

static int parse_ip4(const char *text, struct tp_addr *addr)
{
	const char *rest = tp_ip_parse(text, ':', &addr->ip);

	return !rest || tp_ip_is_many(addr->ip) ? -EINVAL : parse_port(rest, &addr->port);
}

/* "[IP6]:PORT" or "[IP6%INTERFACE]:PORT"; a link-local address means nothing without the latter. */
static int parse_ip6(const char *text, struct tp_addr *addr)
{
	size_t inside = strcspn(text + 1, "]"), ip_bytes = strcspn(text + 1, "%]");
	char ip[INET6_ADDRSTRLEN], interface[IF_NAMESIZE] = "";

	if (text[1 + inside] != ']' || text[2 + inside] != ':' || ip_bytes >= sizeof(ip) ||
	    inside - ip_bytes > sizeof(interface))
		return -EINVAL;
	snprintf(ip, sizeof(ip), "%.*s", (int)ip_bytes, text + 1);
	if (inet_pton(AF_INET6, ip, addr->ip6) != 1 || addr->ip6[0] == 0xFF)
		return -EINVAL;
	if (inside > ip_bytes) {
		snprintf(interface, sizeof(interface), "%.*s", (int)(inside - ip_bytes - 1),
			 text + 2 + ip_bytes);
		addr->interface = if_nametoindex(interface);
	}
	if ((inside > ip_bytes || IN6_IS_ADDR_LINKLOCAL((struct in6_addr *)addr->ip6)) &&
	    addr->interface == 0)
		return -EINVAL;
	return parse_port(text + 3 + inside, &addr->port);
}

static int parse_unix(const char *path, struct tp_addr *addr)
{
	if (path[0] != '/' || strlen(path) >= sizeof(addr->path))
		return -EINVAL;
	strcpy(addr->path, path);
	return 0;
}

int tp_addr_parse(const char *text, struct tp_addr *addr_out)
{
	static const char mark[] = "unix:";
	size_t mark_bytes = sizeof(mark) - 1;
	struct tp_addr addr = {.family = TP_IPV4};
	int code;

	if (strncmp(text, mark, mark_bytes) == 0) {
		addr.family = TP_UNIX;
		code = parse_unix(text + mark_bytes, &addr);
	} else if (text[0] == '[') {
		addr.family = TP_IPV6;
		code = parse_ip6(text, &addr);
	} else {
		code = parse_ip4(text, &addr);
	}
	if (code == 0)
		*addr_out = addr;
	return code;
}
