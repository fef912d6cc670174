#include "apps/common/json.h"
#include "apps/run/result/growth.h"
#include "apps/run/result/result.h"
#include "dataplane/pipeline/server.h"

#include <math.h>
#include <string.h>

/* What grew during the window, by name in the result. */
static const struct {
	const char *name;
	struct growth_source source;
} growths[] = {
	{"requests", {"server", "requests"}},
	{"responses", {"server", "responses"}},
	{"errors", {"server", "errors"}},
	{"yields", {"server", "yields"}},
	{"stalls", {"server", "stalls"}},
	{"writes", {"transport", "writes"}},
	{"written_bytes", {"transport", "written_bytes"}},
	{"received_bytes", {"transport", "received_bytes"}},
	{"segments_out", {"transport", "segments_out"}},
	{"segments_in", {"transport", "segments_in"}},
	{"segments_resent", {"transport", "segments_resent"}},
	{"syscalls", {"transport", "syscalls"}},
	{"bursts_out", {"transport", "bursts_out"}},
	{"bursts_in", {"transport", "bursts_in"}},
	{"drops_in", {"transport", "drops_in"}},
	{"drops_out", {"transport", "drops_out"}},
	{"reserves_refused", {"transport", "reserves_refused"}},
	{"polls", {"transport", "polls"}},
	{"waits", {"transport", "waits"}},
	{"wakeups", {"transport", "wakeups"}},
	{"busy_turns", {"busy", "busy_turns"}},
	{"turns", {"busy", "turns"}},
	{"voluntary_switches", {"process", "voluntary_switches"}},
	{"involuntary_switches", {"process", "involuntary_switches"}},
	{"migrations", {"process", "migrations"}},
	{"runqueue_wait_us", {"process", "runqueue_wait_us"}},
	{"user_us", {"process", "user_us"}},
	{"system_us", {"process", "system_us"}},
	{"softirq_us", {"cpu", "softirq_us"}},
	{"net_rx_softirqs", {"cpu", "net_rx_softirqs"}},
	{"net_tx_softirqs", {"cpu", "net_tx_softirqs"}},
	{"steal_us", {"cpu", "steal_us"}},
};

/* One growth over another. */
static const struct {
	const char *name;
	struct growth_source over;
	struct growth_source under;
	double scale;
} ratios[] = {
	{"bytes_per_write", {"transport", "written_bytes"}, {"transport", "writes"}, 1},
	{"responses_per_write", {"server", "responses"}, {"transport", "writes"}, 1},
	{"busy_us_per_request", {"busy", "busy_ns"}, {"server", "requests"}, 1e-3},
	{"empty_poll_share", {"transport", "empty_polls"}, {"transport", "polls"}, 1},
	{"copied_bytes_per_request", {"transport", "copied_bytes"}, {"server", "requests"}, 1},
	{"segments_out_per_request", {"transport", "segments_out"}, {"server", "requests"}, 1},
	{"syscalls_per_request", {"transport", "syscalls"}, {"server", "requests"}, 1},
	{"waits_per_request", {"transport", "waits"}, {"server", "requests"}, 1},
	{"wakeups_per_request", {"transport", "wakeups"}, {"server", "requests"}, 1},
	{"voluntary_switches_per_request",
	 {"process", "voluntary_switches"},
	 {"server", "requests"},
	 1},
	{"involuntary_switches_per_request",
	 {"process", "involuntary_switches"},
	 {"server", "requests"},
	 1},
	{"softirq_us_per_request", {"cpu", "softirq_us"}, {"server", "requests"}, 1},
	{"net_rx_softirqs_per_request", {"cpu", "net_rx_softirqs"}, {"server", "requests"}, 1},
	{"net_tx_softirqs_per_request", {"cpu", "net_tx_softirqs"}, {"server", "requests"}, 1},
	{"segments_per_burst_out", {"transport", "segments_out"}, {"transport", "bursts_out"}, 1},
	{"segments_per_burst_in", {"transport", "segments_in"}, {"transport", "bursts_in"}, 1},
};

/*
 * User, system and softirq time of the server's CPUs, a request. Kernels that do not account
 * interrupts apart charge softirq time to the interrupted task as well, and nothing tells how much.
 * So the sum is too much, and what the CPUs were busy at all, each tick once, bounds it; it is
 * never less than what the process itself was charged with.
 */
static void set_os_cpu(json_t *to, const json_t *before, const json_t *after, unsigned cpus)
{
	static const struct growth_source parts[] = {
		{"process", "user_us"}, {"process", "system_us"}, {"cpu", "softirq_us"}};
	const char *reason, *ignored;
	double requests = 0, window_ns = 0, busy = 0, part[3] = {0}, own, sum, used;
	bool known =
		growth_of(before, after, (struct growth_source){"server", "requests"}, &requests,
			  &reason) &&
		growth_of(before, after, (struct growth_source){"", "now_ns"}, &window_ns, &reason);

	for (unsigned i = 0; known && i < sizeof(parts) / sizeof(parts[0]); i++)
		known = growth_of(before, after, parts[i], &part[i], &reason);
	own = part[0] + part[1];
	sum = own + part[2];
	used = sum;
	if (growth_of(before, after, (struct growth_source){"cpu", "busy_us"}, &busy, &ignored))
		used = fmax(own, fmin(sum, busy));
	growth_set_ratio(to, "os_cpu_us_per_request", known, fmin(used, window_ns * 1e-3 * cpus),
			 requests, 1, reason);
}

/* Cores held, busy or not, times the window. */
static void set_core(json_t *to, const json_t *before, const json_t *after, unsigned workers,
		     unsigned cpus)
{
	const char *reason;
	double window_ns = 0, requests = 0, busy_ns = 0;
	bool known = growth_of(before, after, (struct growth_source){"", "now_ns"}, &window_ns,
			       &reason) &&
		     growth_of(before, after, (struct growth_source){"server", "requests"},
			       &requests, &reason);

	growth_set_ratio(to, "window_s", known, window_ns, 1, 1e-9, reason);
	growth_set_ratio(to, "core_us_per_request", known, window_ns * cpus, requests, 1e-3,
			 reason);
	known = known && growth_of(before, after, (struct growth_source){"busy", "busy_ns"},
				   &busy_ns, &reason);
	growth_set_ratio(to, "busy_share", known, busy_ns, window_ns * workers, 1, reason);
}

/*
 * Memory at its highest. A server whose snapshots begin the peak anew says the one since its start
 * apart; from one that does not, only that is known.
 */
static void set_peaks(json_t *to, const json_t *after)
{
	static const struct growth_source since_start = {"process", "rss_peak_since_start_kib"},
					  peak = {"process", "rss_peak_kib"};

	if (!after || growth_find(after, since_start)) {
		growth_set_level(to, "rss_peak_kib", after, peak);
		growth_set_level(to, "rss_peak_since_start_kib", after, since_start);
		return;
	}
	json_set_unknown(to, "rss_peak_kib", "this server knows the peak since its start alone");
	growth_set_level(to, "rss_peak_since_start_kib", after, peak);
}

/*
 * The kernel counts segments by connection, and forgets the counts of one that has ended: the sums
 * of two snapshots compare only if they are of the same connections.
 */
static void forget_segments(json_t *to, const json_t *before, const json_t *after)
{
	static const char *const names[] = {"segments_out", "segments_in", "segments_resent",
					    "segments_out_per_request"};
	static const struct growth_source open = {"transport", "segments_connections"},
					  accepted = {"transport", "accepted"};
	double first = json_number_value(growth_find(before, open));
	double last = json_number_value(growth_find(after, open)), new = 0;
	const char *ignored;

	if (!growth_find(after, open) ||
	    (growth_of(before, after, accepted, &new, &ignored) && new == 0 && first == last))
		return;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (json_is_number(json_object_get(to, names[i])))
			json_set_unknown(to, names[i],
					 "connections came or ended in the window, and the kernel "
					 "counts by connection");
}

/* What all CPUs of the server's host did. */
static json_t *host_of(const json_t *before, const json_t *after)
{
	static const char *const names[] = {"tasks_us", "busy_us", "softirq_us", "steal_us"};
	json_t *host = json_object();

	growth_set_level(host, "cpus", after, (struct growth_source){"host", "cpus"});
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		growth_set(host, names[i], before, after, (struct growth_source){"host", names[i]});
	return host;
}

/* CPUs' worth of others' work: what tasks used on the server's CPUs, less what it used itself. */
static void set_others(json_t *to, const json_t *before, const json_t *after)
{
	double tasks = 0, user = 0, system = 0, window_ns = 0, others;
	const char *reason;
	bool known =
		growth_of(before, after, (struct growth_source){"cpu", "tasks_us"}, &tasks,
			  &reason) &&
		growth_of(before, after, (struct growth_source){"process", "user_us"}, &user,
			  &reason) &&
		growth_of(before, after, (struct growth_source){"process", "system_us"}, &system,
			  &reason) &&
		growth_of(before, after, (struct growth_source){"", "now_ns"}, &window_ns, &reason);

	others = fmax(0, tasks - user - system);
	growth_set_ratio(to, "other_busy_cpus", known, others, window_ns, 1e3, reason);
}

/* The stack's own counters: what each grew by; of a device's, those that grew. */
static json_t *details_of(const json_t *before, const json_t *after)
{
	const json_t *last = json_object_get(after, "details");
	json_t *details = json_object();
	const char *name;
	json_t *ignored, *grown;

	json_object_foreach((json_t *)last, name, ignored)
	{
		growth_set(details, name, before, after, (struct growth_source){"details", name});
		grown = json_object_get(details, name);
		if (strncmp(name, "xstat_", 6) == 0 && json_is_number(grown) &&
		    json_number_value(grown) == 0)
			json_object_del(details, name);
	}
	return details;
}

/* What the handlers counted, of those counters that the server knows. */
static json_t *handlers_of(const json_t *before, const json_t *after)
{
	static const char *const names[] = {
#define X(name, meaning) #name,
		HANDLER_COUNTERS(X)
#undef X
	};
	json_t *handlers = json_object();

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct growth_source source = {"server", names[i]};

		if (growth_find(after, source))
			growth_set(handlers, names[i], before, after, source);
	}
	return handlers;
}

/* What is no count stands as the later snapshot has it. */
static json_t *levels_of(const json_t *after)
{
	json_t *levels = json_object();

	json_object_update(levels, json_object_get(after, "levels"));
	return levels;
}

json_t *result_server(const json_t *before, const json_t *after, unsigned workers, unsigned cpus)
{
	json_t *server = json_object();

	for (unsigned i = 0; i < sizeof(growths) / sizeof(growths[0]); i++)
		growth_set(server, growths[i].name, before, after, growths[i].source);
	for (unsigned i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		const char *over_reason, *under_reason;
		double over = 0, under = 0;
		bool over_known = growth_of(before, after, ratios[i].over, &over, &over_reason);
		bool under_known = growth_of(before, after, ratios[i].under, &under, &under_reason);

		growth_set_ratio(server, ratios[i].name, over_known && under_known, over, under,
				 ratios[i].scale, over_known ? under_reason : over_reason);
	}
	set_os_cpu(server, before, after, cpus);
	set_core(server, before, after, workers, cpus);
	growth_set_level(server, "rss_start_kib", before,
			 (struct growth_source){"process", "rss_kib"});
	growth_set_level(server, "rss_end_kib", after,
			 (struct growth_source){"process", "rss_kib"});
	set_peaks(server, after);
	set_others(server, before, after);
	forget_segments(server, before, after);
	growth_set_level(server, "largest_write_bytes", after,
			 (struct growth_source){"transport", "largest_write_bytes"});
	json_object_set_new(server, "handlers", handlers_of(before, after));
	json_object_set_new(server, "details", details_of(before, after));
	json_object_set_new(server, "levels", levels_of(after));
	json_object_set_new(server, "host", host_of(before, after));
	return server;
}
