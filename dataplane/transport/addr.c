#include "dataplane/transport/addr.h"

#include <arpa/inet.h>
#include <stdio.h>

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
