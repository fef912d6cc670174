#include "apps/provenance/host_parts.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <stdio.h>
#include <string.h>

/* Those that change what a stack of sockets can do. */
static const char *const names[] = {
	"net.core.busy_poll",
	"net.core.busy_read",
	"net.core.default_qdisc",
	"net.core.dev_weight",
	"net.core.gro_normal_batch",
	"net.core.netdev_budget",
	"net.core.netdev_budget_usecs",
	"net.core.netdev_max_backlog",
	"net.core.optmem_max",
	"net.core.rmem_default",
	"net.core.rmem_max",
	"net.core.rps_sock_flow_entries",
	"net.core.somaxconn",
	"net.core.wmem_default",
	"net.core.wmem_max",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_adv_win_scale",
	"net.ipv4.tcp_autocorking",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_ecn",
	"net.ipv4.tcp_fastopen",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_limit_output_bytes",
	"net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_min_tso_segs",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_notsent_lowat",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_tso_win_divisor",
	"net.ipv4.tcp_tw_reuse",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
};

static void add_sysctl(json_t *sysctls, const char *name)
{
	char path[128], line[128];
	int code;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (char *at = path; *at; at++)
		if (*at == '.')
			*at = '/';
	code = fact_read_line(path, line, sizeof(line));
	for (char *at = line; code == 0 && *at; at++)
		if (*at == '\t')
			*at = ' ';
	if (code == 0)
		fact_set(sysctls, name, json_text(line));
	else
		fact_unknown(sysctls, name, "%s: %s", path, strerror(-code));
}

void host_add_network(json_t *facts)
{
	json_t *sysctls = json_object();

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_sysctl(sysctls, names[i]);
	fact_set(facts, "sysctls", sysctls);
	fact_from_file(facts, "tcp_congestion_control",
		       "/proc/sys/net/ipv4/tcp_congestion_control");
	fact_from_file(facts, "tcp_rmem", "/proc/sys/net/ipv4/tcp_rmem");
	fact_from_file(facts, "tcp_wmem", "/proc/sys/net/ipv4/tcp_wmem");
	fact_number_from_file(facts, "somaxconn", "/proc/sys/net/core/somaxconn");
}
