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
#include <stdint.h>
#include <sys/types.h>

/*
 * {"user_us", "system_us", "voluntary_switches", "involuntary_switches", "migrations",
 * "runqueue_wait_us", "rss_kib", "rss_peak_kib", "rss_peak_since_start_kib"} of this process; the
 * switches and the wait are those of all threads but the calling one, which is the main one and
 * only waits for signals. Of threads that have ended, the switches and the times used are among
 * them; the moves and the waits are not.
 */
json_t *process_to_json(void);

/*
 * From now on rss_peak_kib is the peak since this call; null with the reason where the kernel does
 * not allow that. The main thread's.
 */
void process_begin_peak(void);

/*
 * Sets in `object` "cpu": {"tasks_us", "busy_us", "softirq_us", "steal_us", "net_rx_softirqs",
 * "net_tx_softirqs"}, the sums over these CPUs since boot, from /proc/stat and /proc/softirqs; and
 * "host": {"cpus", "tasks_us", "busy_us", "softirq_us", "steal_us"} of all CPUs. Tasks is user,
 * nice and system time; busy is all that is neither idle nor stolen, each tick counted once.
 */
void process_add_cpus(json_t *object, const struct cpus *cpus);

/*
 * The number behind "NAME:" in a file like /proc/self/status or /proc/meminfo, in the file's own
 * unit; -1 if it is not there.
 */
long process_read_number(const char *path, const char *name);

/* User and system time of a process, all its threads, in USER_HZ; false if it cannot be read. */
bool process_read_ticks(pid_t pid, uint64_t *ticks_out);

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
 * How long threads of this process other than the main one were ready to run and did not, because
 * something else had their CPU, ns; of those that live. -1 if the kernel does not say.
 */
int64_t process_runqueue_wait_ns(void);

/*
 * How many softirqs of a kind ("NET_RX") these CPUs have run, from a table like /proc/softirqs; -1
 * if it lacks one of them.
 */
long long process_softirqs(const char *path, const char *kind, const struct cpus *cpus);

#endif
