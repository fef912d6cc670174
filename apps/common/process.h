/*
 * process: what the operating system charges this process and its CPUs with.
 *
 * Plane: report, main thread.
 */
#ifndef WEIR_APPS_PROCESS_H
#define WEIR_APPS_PROCESS_H

#include "apps/common/cpus.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * {"user_us", "system_us", "voluntary_switches", "involuntary_switches", "migrations", "rss_kib",
 * "rss_peak_kib"} of this process; the switches are those of all threads but the calling one, which
 * is the main one and only waits for signals, and of those that have ended.
 */
json_t *process_to_json(void);

/*
 * {"busy_us", "softirq_us", "steal_us", "net_rx_softirqs", "net_tx_softirqs"}: the sums over these
 * CPUs since boot, from /proc/stat and /proc/softirqs. Busy is all that is neither idle nor stolen,
 * each tick counted once.
 */
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

/*
 * How often threads of this process other than the calling one gave their CPU up, or lost it, since
 * its start; threads that have ended are among them.
 */
long process_switches(bool voluntary);

/*
 * How many softirqs of a kind ("NET_RX") these CPUs have run, from a table like /proc/softirqs; -1
 * if it lacks one of them.
 */
long long process_softirqs(const char *path, const char *kind, const struct cpus *cpus);

#endif
