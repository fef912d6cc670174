/*
 * process: what the operating system charges this process and its CPUs with.
 *
 * Plane: report, main thread.
 */
#ifndef WEIR_APPS_PROCESS_H
#define WEIR_APPS_PROCESS_H

#include "apps/common/cpus.h"

#include <jansson.h>

/*
 * {"user_us", "system_us", "voluntary_switches", "involuntary_switches", "migrations", "rss_kib",
 * "rss_peak_kib"} of this process.
 */
json_t *process_to_json(void);

/* {"softirq_us", "steal_us"}: the sums over these CPUs since boot, from /proc/stat. */
json_t *process_cpus_to_json(const struct cpus *cpus);

/*
 * The number behind "NAME:" in a file like /proc/self/status or /proc/meminfo, in the file's own
 * unit; -1 if it is not there.
 */
long process_read_number(const char *path, const char *name);

/*
 * How often the threads of a process ("/proc/PID/task") went from one CPU to another; -1 if
 * the kernel does not say.
 */
long process_migrations(const char *task_folder);

#endif
