#include "apps/run/autogroup.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char group_path[] = "/proc/self/autogroup";
static const char enabled_path[] = "/proc/sys/kernel/sched_autogroup_enabled";

enum { GROUP_BYTES = 64 };

/* The group's name and nice value. 0 or negative errno. */
static int look(char group[GROUP_BYTES], int *nice_out)
{
	char line[128];
	int code = fact_read_line(group_path, line, sizeof(line));

	if (code < 0)
		return code;
	return sscanf(line, "%63s nice %d", group, nice_out) == 2 ? 0 : -ENODATA;
}

static int set_nice(int nice)
{
	int fd = open(group_path, O_WRONLY | O_CLOEXEC);
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", nice);
	int code = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)length) != length)
		code = -errno;
	close(fd);
	return code;
}

/* Why the group could not be raised, and what to do. */
static const char *explain(int code)
{
	switch (-code) {
	case ENOENT:
		return "this kernel has no autogroups (CONFIG_SCHED_AUTOGROUP)";
	case ENODATA:
		return "this process is in no autogroup";
	case EPERM:
	case EACCES:
		return "the kernel lets only root, or CAP_SYS_NICE, raise a group";
	case EAGAIN:
		return "the kernel allows one change in a tenth of a second; start again";
	default:
		return strerror(-code);
	}
}

/* Whether a cgroup of version 2, or one above it, has a CPU weight; the path is cut. */
static bool has_weight(char *path)
{
	char file[4200], *slash;

	for (;;) {
		snprintf(file, sizeof(file), "/sys/fs/cgroup%s/cpu.weight", path);
		if (access(file, F_OK) == 0)
			return true;
		slash = strrchr(path, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
}

/* Whether the cgroup that a line of /proc/self/cgroup names shares CPUs by itself. */
static bool shares_cpus(char *line)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return false;
	if (path > controllers + 1)
		return strncmp(controllers, ":cpu", 4) == 0 && strchr(":,", controllers[4]) &&
		       strcmp(path, ":/") != 0;
	return has_weight(path + 1);
}

/* Whether a cgroup decides on this process's CPU time, which overrides autogroups. */
static bool is_in_cpu_cgroup(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	bool found = false;
	char line[4096];

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = shares_cpus(line);
	}
	if (file)
		fclose(file);
	return found;
}

static void add_effect(json_t *facts)
{
	bool enabled = json_integer_value(json_object_get(facts, "enabled")) == 1;
	bool overridden = is_in_cpu_cgroup();

	fact_set(facts, "in_effect", json_boolean(enabled && !overridden));
	if (!enabled)
		fact_set(facts, "in_effect_reason", json_string("autogroups are off"));
	else if (overridden)
		fact_set(facts, "in_effect_reason",
			 json_string("a cgroup with a CPU weight comes before autogroups"));
}

int autogroup_raise(json_t *facts_out)
{
	char group[GROUP_BYTES];
	int before = 0, now = 0, code = look(group, &before);

	fact_number_from_file(facts_out, "enabled", enabled_path);
	if (code < 0) {
		fact_unknown(facts_out, "group", "%s", explain(code));
		fact_unknown(facts_out, "nice_before", "%s", explain(code));
		fact_unknown(facts_out, "nice", "%s", explain(code));
	} else {
		code = set_nice(AUTOGROUP_NICE);
		now = before;
		look(group, &now);
		fact_set(facts_out, "group", json_text(group));
		fact_set(facts_out, "nice_before", json_integer(before));
		fact_set(facts_out, "nice", json_integer(now));
	}
	fact_set(facts_out, "raised", json_boolean(code == 0));
	if (code < 0)
		fact_set(facts_out, "raised_reason", json_text(explain(code)));
	add_effect(facts_out);
	return code;
}

int autogroup_restore(const json_t *facts)
{
	if (!json_is_true(json_object_get(facts, "raised")))
		return 0;
	return set_nice((int)json_integer_value(json_object_get(facts, "nice_before")));
}
