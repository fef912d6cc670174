#include "apps/run/autogroup.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char group_path[] = "/proc/self/autogroup";
static const char boot_path[] = "/proc/sys/kernel/random/boot_id";
static const char enabled_path[] = "/proc/sys/kernel/sched_autogroup_enabled";

enum { GROUP_BYTES = 64, BOOT_BYTES = 48 };

/* The name and nice value of a process's group. 0 or negative errno. */
static int look(const char *path, char group[GROUP_BYTES], int *nice_out)
{
	char line[128];
	int code = fact_read_line(path, line, sizeof(line));

	if (code < 0)
		return code;
	return sscanf(line, "%63s nice %d", group, nice_out) == 2 ? 0 : -ENODATA;
}

static int set_nice(const char *path, int nice)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
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

/* What a group was before it was raised. */
struct note {
	char boot[BOOT_BYTES]; /* the kernel counts groups from its start */
	char group[GROUP_BYTES];
	int nice;
};

static const char *name_note(const char *folder, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/autogroup", folder);
	return path;
}

static int write_note(const char *folder, const char *group, int nice)
{
	char path[PATH_MAX], boot[BOOT_BYTES], text[256];
	int code = fact_read_line(boot_path, boot, sizeof(boot)), fd, length;

	if (code < 0)
		return code;
	fd = open(name_note(folder, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return -errno;
	length = snprintf(text, sizeof(text), "%s %s %d\n", boot, group, nice);
	if (write(fd, text, (size_t)length) != length)
		code = -EIO;
	close(fd);
	return code;
}

/* Whether there is a note of a group of this boot. */
static bool read_note(const char *folder, struct note *note)
{
	char path[PATH_MAX], line[256], boot[BOOT_BYTES];

	return fact_read_line(name_note(folder, path), line, sizeof(line)) >= 0 &&
	       fact_read_line(boot_path, boot, sizeof(boot)) >= 0 &&
	       sscanf(line, "%47s %63s %d", note->boot, note->group, &note->nice) == 3 &&
	       strcmp(note->boot, boot) == 0;
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

int autogroup_raise(const char *folder, json_t *facts_out)
{
	char group[GROUP_BYTES];
	int before = 0, now = 0, code = look(group_path, group, &before);
	bool noted = true;

	fact_number_from_file(facts_out, "enabled", enabled_path);
	if (code < 0) {
		fact_unknown(facts_out, "group", "%s", explain(code));
		fact_unknown(facts_out, "nice_before", "%s", explain(code));
		fact_unknown(facts_out, "nice", "%s", explain(code));
	} else {
		noted = write_note(folder, group, before) == 0;
		code = noted ? set_nice(group_path, AUTOGROUP_NICE) : -EIO;
		now = before;
		look(group_path, group, &now);
		fact_set(facts_out, "group", json_text(group));
		fact_set(facts_out, "nice_before", json_integer(before));
		fact_set(facts_out, "nice", json_integer(now));
	}
	fact_set(facts_out, "raised", json_boolean(code == 0));
	if (code < 0)
		fact_set(facts_out, "raised_reason",
			 json_text(noted ? explain(code)
					 : "what it was before cannot be written down for a run "
					   "that cleans up after a kill"));
	add_effect(facts_out);
	return code;
}

int autogroup_restore(const json_t *facts)
{
	if (!json_is_true(json_object_get(facts, "raised")))
		return 0;
	return set_nice(group_path, (int)json_integer_value(json_object_get(facts, "nice_before")));
}

int autogroup_settle(const char *folder)
{
	struct note note;
	char path[300], group[GROUP_BYTES];
	struct dirent *entry;
	bool found = false;
	int nice, code = 0;
	DIR *processes;

	if (!read_note(folder, &note))
		return 0;
	processes = opendir("/proc");
	/* Any process of the group will do: the value is the group's. */
	while (processes && !found && (entry = readdir(processes))) {
		snprintf(path, sizeof(path), "/proc/%s/autogroup", entry->d_name);
		found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			look(path, group, &nice) == 0 && strcmp(group, note.group) == 0;
	}
	if (processes)
		closedir(processes);
	if (found && nice == AUTOGROUP_NICE)
		code = set_nice(path, note.nice);
	return code;
}
