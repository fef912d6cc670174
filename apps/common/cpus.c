#include "apps/common/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CPUS_NUMBER_MAX < CPU_SETSIZE, "every CPU that can be named fits a cpu_set_t");

json_t *cpus_to_numbers(const struct cpus *cpus)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < cpus->count; i++)
		json_array_append_new(list, json_integer(cpus->cpu[i]));
	return list;
}

bool cpus_have(const struct cpus *cpus, unsigned cpu)
{
	for (unsigned i = 0; i < cpus->count; i++)
		if (cpus->cpu[i] == cpu)
			return true;
	return false;
}

/* Reads one number and passes over it; -1 if there is none. */
static int read_cpu(const char **at)
{
	char *end;
	unsigned long cpu;

	if (**at < '0' || **at > '9')
		return -1;
	cpu = strtoul(*at, &end, 10);
	*at = end;
	return cpu <= CPUS_NUMBER_MAX ? (int)cpu : -1;
}

/* Reads one number or range and adds it. */
static int read_range(const char **at, struct cpus *cpus)
{
	int first = read_cpu(at), last = first;

	if (**at == '-') {
		(*at)++;
		last = read_cpu(at);
	}
	if (first < 0 || last < first)
		return -EINVAL;
	for (int cpu = first; cpu <= last; cpu++) {
		if (cpus->count == CPUS_MAX || cpus_have(cpus, (unsigned)cpu))
			return -EINVAL;
		cpus->cpu[cpus->count++] = (uint16_t)cpu;
	}
	return 0;
}

int cpus_parse(const char *text, struct cpus *cpus_out)
{
	struct cpus cpus = {.count = 0};
	const char *at = text;

	while (read_range(&at, &cpus) == 0) {
		if (*at == '\0') {
			*cpus_out = cpus;
			return 0;
		}
		if (*at++ != ',')
			break;
	}
	return -EINVAL;
}

const char *cpus_print(const struct cpus *cpus, char text[CPUS_TEXT_BYTES])
{
	int length = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < cpus->count; i++)
		length += snprintf(text + length, CPUS_TEXT_BYTES - (size_t)length, "%s%u",
				   i ? "," : "", cpus->cpu[i]);
	return text;
}

static void list_set(const cpu_set_t *set, struct cpus *cpus_out)
{
	cpus_out->count = 0;
	for (unsigned cpu = 0; cpu <= CPUS_NUMBER_MAX; cpu++)
		if (CPU_ISSET(cpu, set))
			cpus_out->cpu[cpus_out->count++] = (uint16_t)cpu;
}

void cpus_isolated(struct cpus *cpus_out)
{
	FILE *file = fopen("/sys/devices/system/cpu/isolated", "re");
	char line[CPUS_TEXT_BYTES] = "";

	if (file && fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	if (cpus_parse(line, cpus_out) < 0)
		cpus_out->count = 0;
}

void cpus_add_isolated(struct cpus *mask, const struct cpus *possible, const struct cpus *isolated)
{
	for (unsigned i = 0; i < possible->count; i++)
		if (cpus_have(mask, possible->cpu[i]) == cpus_have(isolated, possible->cpu[i]))
			return;
	*mask = *possible;
}

/* The widest mask that the kernel lets this thread have; `mask` is the one that it keeps. */
static void find_possible(const cpu_set_t *mask, struct cpus *possible_out)
{
	cpu_set_t all, possible = *mask;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all) == 0)
		sched_getaffinity(0, sizeof(possible), &possible);
	sched_setaffinity(0, sizeof(*mask), mask);
	list_set(&possible, possible_out);
}

int cpus_allowed(struct cpus *cpus_out)
{
	struct cpus isolated, possible;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	list_set(&set, cpus_out);
	cpus_isolated(&isolated);
	if (isolated.count == 0)
		return 0;
	find_possible(&set, &possible);
	cpus_add_isolated(cpus_out, &possible, &isolated);
	return 0;
}

static int refuse_cpu(unsigned cpu, const struct cpus *allowed, struct tp_error *error)
{
	char text[CPUS_TEXT_BYTES];

	return tp_fail(error, -EINVAL, "CPU %u is not available to this process; available: %.300s",
		       cpu, cpus_print(allowed, text));
}

int cpus_choose(const struct cpus *wanted, unsigned workers, bool from_the_end,
		struct cpus *cpus_out, struct tp_error *error)
{
	const struct cpus *from = wanted;
	struct cpus allowed, chosen = {.count = 0};
	int rc = cpus_allowed(&allowed);
	unsigned skip = 0;

	if (rc < 0)
		return tp_fail(error, rc, "cannot read the CPU affinity: %s", strerror(-rc));
	if (wanted->count == 0)
		from = &allowed;
	if (from->count < workers)
		return tp_fail(error, -EINVAL,
			       "%u workers need %u CPUs, but %s %u: a worker holds its CPU alone",
			       workers, workers,
			       wanted->count ? "--cpus names" : "this process may use",
			       from->count);
	if (wanted->count == 0 && from_the_end)
		skip = allowed.count - workers;
	for (unsigned i = 0; i < workers; i++) {
		if (!cpus_have(&allowed, from->cpu[skip + i]))
			return refuse_cpu(from->cpu[skip + i], &allowed, error);
		chosen.cpu[chosen.count++] = from->cpu[skip + i];
	}
	*cpus_out = chosen;
	return 0;
}

int cpus_bind(const struct cpus *cpus, struct tp_error *error)
{
	char text[CPUS_TEXT_BYTES];
	cpu_set_t wanted, got;

	CPU_ZERO(&wanted);
	for (unsigned i = 0; i < cpus->count; i++)
		CPU_SET(cpus->cpu[i], &wanted);
	if (sched_setaffinity(0, sizeof(wanted), &wanted) < 0)
		return tp_fail(error, -errno, "cannot bind to CPU %.200s: %s",
			       cpus_print(cpus, text), strerror(errno));
	if (sched_getaffinity(0, sizeof(got), &got) < 0 || !CPU_EQUAL(&wanted, &got))
		return tp_fail(error, -EINVAL,
			       "bound to CPU %.200s, but the kernel keeps another mask",
			       cpus_print(cpus, text));
	return 0;
}
