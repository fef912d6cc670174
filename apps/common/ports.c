#include "apps/common/ports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char ports_range_path[] = "/proc/sys/net/ipv4/ip_local_port_range";
const char ports_reserved_path[] = "/proc/sys/net/ipv4/ip_local_reserved_ports";

/* How many of a list like "40000,50000-50009" lie within the range. */
static uint32_t count_within(FILE *list, unsigned low, unsigned high)
{
	unsigned first, last;
	uint32_t count = 0;
	int separator = ',';

	while (separator == ',' && fscanf(list, "%u", &first) == 1) {
		last = first;
		separator = fgetc(list);
		if (separator == '-' && fscanf(list, "%u", &last) == 1)
			separator = fgetc(list);
		first = first < low ? low : first;
		last = last > high ? high : last;
		count += last >= first ? last - first + 1 : 0;
	}
	return count;
}

uint32_t ports_count(const char *range_path, const char *reserved_path)
{
	FILE *range = fopen(range_path, "re"), *reserved;
	unsigned low = 0, high = 0;
	bool known = range && fscanf(range, "%u %u", &low, &high) == 2 && low <= high;
	uint32_t count = known ? high - low + 1 : UINT32_MAX;

	if (range)
		fclose(range);
	reserved = known ? fopen(reserved_path, "re") : NULL;
	if (!reserved)
		return count;
	count -= count_within(reserved, low, high);
	fclose(reserved);
	return count;
}

int ports_judge(uint64_t connections, bool new_namespace, struct tp_error *error)
{
	uint32_t count = new_namespace ? (uint32_t)PORTS_OF_NAMESPACE
				       : ports_count(ports_range_path, ports_reserved_path);

	if (connections <= count)
		return 0;
	if (new_namespace)
		return tp_fail(error, -EADDRNOTAVAIL,
			       "%llu connections need %llu local ports, and a new network "
			       "namespace has %u: have fewer connections, or use the loopback",
			       (unsigned long long)connections, (unsigned long long)connections,
			       count);
	return tp_fail(error, -EADDRNOTAVAIL,
		       "%llu connections need %llu local ports, and net.ipv4.ip_local_port_range "
		       "leaves %u: widen it with `sysctl -w net.ipv4.ip_local_port_range=\"1024 "
		       "65535\"`, or have fewer connections",
		       (unsigned long long)connections, (unsigned long long)connections, count);
}
