"""The columns of the aggregate: what each is, and where in a sample it comes from."""

from __future__ import annotations

import itertools
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One column of the aggregate: its name carries the unit; `digits` are decimals shown to
    people."""

    name: str
    title: str
    about: str
    digits: int = 0
    scale: float = 1  # shown = value * scale, e.g. 100 for a share shown as %
    in_text: bool = True  # whether the readable table of cells shows it too
    of_kernel: bool = False  # whether the table of what the kernel was asked for shows it


# How each column of the aggregate is made: of the cell's rates, its merged histograms, or a median
# over samples.
COLUMNS = [
    Column(
        "rps_median",
        "requests/s",
        "median over samples of requests per second in the measured window",
    ),
    Column("rps_min", "min", "slowest sample, requests/s"),
    Column("rps_max", "max", "fastest sample, requests/s"),
    Column("rps_cv", "CV %", "sample standard deviation over mean of requests/s", 1, 100),
    Column(
        "service_p50_us",
        "merged p50 µs",
        "service time from actual send, of the merged histograms",
        1,
    ),
    Column(
        "service_p99_us",
        "merged p99 µs",
        "service time from actual send, of the merged histograms",
        1,
    ),
    Column(
        "service_p999_us",
        "merged p99.9 µs",
        "service time from actual send, of the merged histograms",
        1,
    ),
    Column(
        "service_max_us",
        "merged max µs",
        "service time from actual send, of the merged histograms",
        1,
        in_text=False,
    ),
    Column("service_n", "values", "service times in the merged histogram", in_text=False),
    Column(
        "intended_p50_us",
        "merged intended p50 µs",
        "response time from intended send, of the merged histograms",
        1,
        in_text=False,
    ),
    Column(
        "intended_p99_us",
        "merged intended p99 µs",
        "response time from intended send, of the merged histograms",
        1,
        in_text=False,
    ),
    Column(
        "responses_per_write",
        "responses per write",
        "responses in one transport write, median over samples",
        2,
    ),
    Column("bytes_per_write", "B per write", "bytes in one transport write, median over samples"),
    Column(
        "os_cpu_us_per_request",
        "OS CPU µs per request",
        "user + system + softirq on the server's CPUs, median over samples",
        3,
    ),
    Column(
        "busy_us_per_request",
        "busy µs per request",
        "server turns that moved something, median over samples",
        3,
    ),
    Column(
        "core_us_per_request",
        "core µs per request",
        "server cores held x wall, median over samples",
        3,
    ),
    Column(
        "copied_bytes_per_request",
        "copied B per request",
        "bytes copied in the server, median over samples",
        0,
        in_text=False,
    ),
    Column(
        "syscalls_per_request",
        "syscalls per request",
        "the server's system calls, median over samples",
        3,
        in_text=False,
        of_kernel=True,
    ),
    Column(
        "waits_per_request",
        "sleeps per request",
        "polls in which a worker slept, median over samples",
        4,
        in_text=False,
        of_kernel=True,
    ),
    Column(
        "wakeups_per_request",
        "wake-ups per request",
        "sleeps that something ended before their time was up, median over samples",
        4,
        in_text=False,
        of_kernel=True,
    ),
    Column(
        "voluntary_switches_per_request",
        "voluntary switches per request",
        "context switches of the server's threads that gave their CPU up, median over samples",
        4,
        in_text=False,
        of_kernel=True,
    ),
    Column(
        "involuntary_switches_per_request",
        "involuntary switches per request",
        "context switches of the server's threads that lost their CPU, median over samples",
        4,
        in_text=False,
        of_kernel=True,
    ),
    Column(
        "softirq_us_per_request",
        "softirq µs per request",
        "softirq time on the server's CPUs, whoever caused it, in ticks, median over samples",
        3,
        in_text=False,
        of_kernel=True,
    ),
    Column(
        "net_rx_softirqs_per_request",
        "NET_RX per request",
        "NET_RX softirqs on the server's CPUs, median over samples",
        4,
        in_text=False,
        of_kernel=True,
    ),
    Column(
        "net_tx_softirqs_per_request",
        "NET_TX per request",
        "NET_TX softirqs on the server's CPUs, median over samples",
        4,
        in_text=False,
        of_kernel=True,
    ),
    Column(
        "segments_out_per_request",
        "segments per request",
        "TCP segments the server sent, where its stack counts them, median over samples",
        3,
        in_text=False,
    ),
    Column(
        "empty_poll_share",
        "empty polls %",
        "polls in which nothing moved, median over samples",
        1,
        100,
        in_text=False,
    ),
    Column(
        "rss_peak_kib",
        "RSS peak KiB",
        "the server's resident set, median over samples",
        in_text=False,
    ),
    Column(
        "client_busy_share",
        "client busy %",
        "share of the client's time in turns that moved something, median over samples",
        0,
        100,
    ),
    Column(
        "other_busy_cpus_max",
        "other CPUs",
        "CPUs' worth of time that other processes took on the host, most in any sample",
        2,
    ),
    # What only programs read: aggregate.csv has it, the tables for people do not.
    *(
        Column(name, name.replace("_", " "), about, in_text=False)
        for name, about in {
            "rps_spread": "fastest less slowest sample, over the median",
            **{
                f"sample_{key}_us_{of}": f"{key} of each sample's own service times, {of} of them"
                for key, of in itertools.product(("p50", "p99", "p999"), ("median", "min", "max"))
            },
            **{
                f"{kind}_us_per_request_{of}": f"{kind} time per request, {of} over samples"
                for kind, of in itertools.product(("os_cpu", "busy", "core"), ("min", "max"))
            },
            "rss_start_kib": "the server's resident set as the window begins, median over samples",
            "rss_end_kib": "the same when it ends, median over samples",
            "rss_peak_kib_min": "least of the samples' peaks",
            "rss_peak_kib_max": "greatest of the samples' peaks",
            "rss_peak_since_start_kib": "peak since the server's start, median over samples",
            "rss_peak_since_start_kib_min": "least of those",
            "rss_peak_since_start_kib_max": "greatest of those",
            "server_other_busy_cpus_max": "others' time on the server's CPUs, most in any sample",
            "client_other_busy_cpus_max": "others' time on the client's CPUs, most in any sample",
            "runqueue_wait_us_max": "the server's threads ready without a CPU, most in any sample",
            "migrations_max": "moves of the server's threads from CPU to CPU, most in any sample",
            "steal_us_max": "time stolen from the server's CPUs, most in any sample",
            "runner_cpu_share_max": "of one CPU, that the runner itself used, most in any sample",
            "client_saturated": "valid samples in which the client was at its limit",
            "requests_failed": "requests without a right answer, of all samples, valid or not",
            "answers_not_ok": "answers that were error frames, of all samples, valid or not",
            "attempts_failed": "earlier attempts that were not valid and were measured anew",
        }.items()
    ),
]

# Columns that are medians over samples, and where in result.json a sample has the number.
MEDIANS = {
    "responses_per_write": ("server", "responses_per_write"),
    "bytes_per_write": ("server", "bytes_per_write"),
    "os_cpu_us_per_request": ("server", "os_cpu_us_per_request"),
    "busy_us_per_request": ("server", "busy_us_per_request"),
    "core_us_per_request": ("server", "core_us_per_request"),
    "copied_bytes_per_request": ("server", "copied_bytes_per_request"),
    "syscalls_per_request": ("server", "syscalls_per_request"),
    "waits_per_request": ("server", "waits_per_request"),
    "wakeups_per_request": ("server", "wakeups_per_request"),
    "voluntary_switches_per_request": ("server", "voluntary_switches_per_request"),
    "involuntary_switches_per_request": ("server", "involuntary_switches_per_request"),
    "softirq_us_per_request": ("server", "softirq_us_per_request"),
    "net_rx_softirqs_per_request": ("server", "net_rx_softirqs_per_request"),
    "net_tx_softirqs_per_request": ("server", "net_tx_softirqs_per_request"),
    "segments_out_per_request": ("server", "segments_out_per_request"),
    "empty_poll_share": ("server", "empty_poll_share"),
    "rss_start_kib": ("server", "rss_start_kib"),
    "rss_end_kib": ("server", "rss_end_kib"),
    "rss_peak_kib": ("server", "rss_peak_kib"),
    "rss_peak_since_start_kib": ("server", "rss_peak_since_start_kib"),
    "client_busy_share": ("client", "busy_share"),
}
# The same for columns that are the greatest and the least over samples.
_CPU_KINDS = ("os_cpu_us_per_request", "busy_us_per_request", "core_us_per_request")
GREATEST = {
    "other_busy_cpus_max": (None, "other_busy_cpus"),
    "rss_peak_kib_max": ("server", "rss_peak_kib"),
    "rss_peak_since_start_kib_max": ("server", "rss_peak_since_start_kib"),
    "server_other_busy_cpus_max": ("server", "other_busy_cpus"),
    "client_other_busy_cpus_max": ("client", "other_busy_cpus"),
    "runqueue_wait_us_max": ("server", "runqueue_wait_us"),
    "migrations_max": ("server", "migrations"),
    "steal_us_max": ("server", "steal_us"),
    "runner_cpu_share_max": (None, "runner_cpu_share"),
    **{f"{kind}_max": ("server", kind) for kind in _CPU_KINDS},
}
LEAST = {
    "rss_peak_kib_min": ("server", "rss_peak_kib"),
    "rss_peak_since_start_kib_min": ("server", "rss_peak_since_start_kib"),
    **{f"{kind}_min": ("server", kind) for kind in _CPU_KINDS},
}
SOURCES: dict[str, tuple[str | None, str]] = {**MEDIANS, **GREATEST, **LEAST}
PERCENTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999, "max": 1.0}
