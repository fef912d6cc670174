"""Samples to cells, cells to comparisons. Only valid samples enter a number."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any, Iterator

import pandas as pd

from analysis import histogram
from analysis.histogram import Histogram
from analysis.load import Attempt, Result, Sample
from analysis.statistics import Ratio, coefficient_of_variation, ratio_of_means


@dataclass(frozen=True)
class Value:
    """A number, or None with its reason."""

    number: float | None
    reason: str | None = None


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
        "service_p50_us", "p50 µs", "service time from actual send, of the merged histograms", 1
    ),
    Column(
        "service_p99_us", "p99 µs", "service time from actual send, of the merged histograms", 1
    ),
    Column(
        "service_p999_us", "p99.9 µs", "service time from actual send, of the merged histograms", 1
    ),
    Column(
        "service_max_us",
        "max µs",
        "service time from actual send, of the merged histograms",
        1,
        in_text=False,
    ),
    Column("service_n", "values", "service times in the merged histogram", in_text=False),
    Column(
        "intended_p50_us",
        "intended p50 µs",
        "response time from intended send, of the merged histograms",
        1,
        in_text=False,
    ),
    Column(
        "intended_p99_us",
        "intended p99 µs",
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
        "core_us_per_request", "core µs per request", "server cores held x wall, median over samples", 3
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
_MEDIANS = {
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
_GREATEST = {
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
_LEAST = {
    "rss_peak_kib_min": ("server", "rss_peak_kib"),
    "rss_peak_since_start_kib_min": ("server", "rss_peak_since_start_kib"),
    **{f"{kind}_min": ("server", kind) for kind in _CPU_KINDS},
}
_SOURCES: dict[str, tuple[str | None, str]] = {**_MEDIANS, **_GREATEST, **_LEAST}
_PERCENTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999, "max": 1.0}


@dataclass
class Cell:
    """All samples of one combination of settings."""

    variant: str
    settings: dict[str, Any]  # result.json's `cell`, without the reasons of unknown values
    levels: tuple[Any, ...] = ()  # the varied factors' values, in the order of Aggregate.factors
    samples: list[Sample] = field(default_factory=list)  # in execution order
    attempts: list[Attempt] = field(default_factory=list)  # earlier ones; in no number
    values: dict[str, Value] = field(default_factory=dict)
    service: Histogram | None = None
    intended: Histogram | None = None

    @property
    def valid(self) -> list[Sample]:
        return [sample for sample in self.samples if sample.valid]

    def known(self, name: str) -> float:
        """The number in a column that every cell with valid samples has."""
        number = self.values[name].number
        assert number is not None, f"{name} is not known in {self.variant}"
        return number

    def percentiles(self) -> Histogram:
        """The merged service times of a cell with valid samples."""
        assert self.service is not None, f"{self.variant} has no valid sample"
        return self.service

    @property
    def peak_since(self) -> str | None:
        """What rss_peak_kib is since; None where it is not known. A result that has both peaks says
        the one since the server's start apart; earlier ones have that alone."""
        if self.values["rss_peak_kib"].number is None:
            return None
        apart = self.values["rss_peak_since_start_kib"].number is not None
        return "measurement start" if apart else "server start"

    @property
    def n(self) -> str:
        """Valid samples of all, e.g. "3/3"."""
        return f"{len(self.valid)}/{len(self.samples)}"


@dataclass(frozen=True)
class Comparison:
    """Requests/s at `level` of `factor` against `base`, all other factors (`context`) equal."""

    factor: str
    level: Any
    base: Any
    context: dict[str, Any]  # of the factors that vary
    ratio: Ratio


@dataclass(frozen=True)
class Aggregate:
    """The run as cells, in the experiment's own order of levels."""

    factors: dict[str, list[Any]]  # varied factor to its levels, the first being the base
    cells: list[Cell]
    comparisons: list[Comparison]


def aggregate(result: Result) -> Aggregate:
    """Groups, merges, compares."""
    cells = _grouped(result.samples)
    factors = varied_factors(result.axes, cells)
    for cell in cells:
        cell.levels = tuple(cell.settings[name] for name in factors)
    for attempt in result.attempts:
        cell = next((cell for cell in cells if cell.variant == attempt.variant), None)
        if cell is not None:
            cell.attempts.append(attempt)
    _fill(cells)
    cells.sort(key=lambda cell: _place(cell, factors))
    return Aggregate(factors, cells, list(_comparisons(factors, cells)))


def varied_factors(axes: dict[str, list[Any]], cells: list[Cell]) -> dict[str, list[Any]]:
    """The experiment's axes that all cells name, with the levels seen, in the experiment's
    order."""
    factors = {}
    for name, wanted in axes.items():
        if not all(name in cell.settings for cell in cells):
            continue
        seen = _distinct(cell.settings[name] for cell in cells)
        in_order = [level for level in wanted if level in seen]
        factors[name] = in_order + [level for level in seen if level not in wanted]
        if name == "bare":  # what the pipeline is measured against comes first
            factors[name].sort(key=lambda level: level is not True)
    return factors


def _distinct(values: Iterator[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _grouped(samples: list[Sample]) -> list[Cell]:
    """One cell for each (variant, settings): what ran with other settings is never merged.

    A sample that is not valid may not know its effective settings; it joins the first cell of its
    variant.
    """
    groups: dict[str, Cell] = {}
    for sample in sorted(samples, key=lambda sample: not sample.valid):
        settings = {
            name: value for name, value in sample.cell.items() if not name.endswith("_reason")
        }
        key = json.dumps([sample.variant, settings], sort_keys=True)
        cell = groups.get(key)
        if cell is None and not sample.valid:
            cell = next((one for one in groups.values() if one.variant == sample.variant), None)
        if cell is None:
            cell = groups[key] = Cell(sample.variant, settings)
        cell.samples.append(sample)
    for cell in groups.values():
        cell.samples.sort(key=lambda sample: sample.order_index)
    return list(groups.values())


def _place(cell: Cell, factors: dict[str, list[Any]]) -> tuple[Any, ...]:
    places = tuple(levels.index(level) for levels, level in zip(factors.values(), cell.levels))
    return (*places, cell.variant)


def _table(cells: list[Cell]) -> pd.DataFrame:
    """One row a valid sample: the place of its cell, and its numbers, NaN where it knows none."""
    rows = [
        (place, sample.rps, *(sample.find(*source)[0] for source in _SOURCES.values()))
        for place, cell in enumerate(cells)
        for sample in cell.valid
    ]
    return pd.DataFrame(rows, columns=["cell", "rps", *_SOURCES]).astype(float)


def _fill(cells: list[Cell]) -> None:
    """Computes all columns of all cells."""
    for cell in cells:
        cell.values = {column.name: Value(None, "no valid sample") for column in COLUMNS}
        cell.values |= _counts(cell)
    for place, samples in _table(cells).groupby("cell"):
        cell = cells[int(place)]
        cell.values |= _rates(samples["rps"]) | _latencies(cell) | _own_percentiles(cell)
        medians = samples[list(_MEDIANS)].median(skipna=False)
        greatest = samples[list(_GREATEST)].max(skipna=False)
        least = samples[list(_LEAST)].min(skipna=False)
        for name, number in (*medians.items(), *greatest.items(), *least.items()):
            cell.values[name] = Value(number) if pd.notna(number) else _unknown(cell, name)


def _rates(rps: pd.Series) -> dict[str, Value]:
    spread = coefficient_of_variation(rps)
    return {
        "rps_median": Value(rps.median()),
        "rps_min": Value(rps.min()),
        "rps_max": Value(rps.max()),
        "rps_cv": Value(spread, None if spread is not None else "one sample only"),
        "rps_spread": Value((rps.max() - rps.min()) / rps.median()),
    }


def _counts(cell: Cell) -> dict[str, Value]:
    """What is counted over all samples, those that are not valid included."""
    saturated = [(sample.raw.get("client") or {}).get("saturated") for sample in cell.valid]
    known = all(isinstance(one, bool) for one in saturated)
    return {
        "requests_failed": _sum(cell, None, "failed"),
        "answers_not_ok": _sum(cell, "server", "errors"),
        "attempts_failed": Value(sum(attempt.failed for attempt in cell.attempts)),
        "client_saturated": Value(sum(saturated)) if known else Value(None, "not recorded"),
    }


def _sum(cell: Cell, group: str | None, name: str) -> Value:
    """Over all samples; unknown where one does not say."""
    found = [sample.find(group, name) for sample in cell.samples]
    reasons = [str(reason) for number, reason in found if number is None]
    if reasons:
        return Value(None, f"{reasons[0]} in {len(reasons)} of {len(found)} samples")
    return Value(sum(number for number, _ in found if number is not None))


def percentile_us(sample: Sample, key: str) -> float:
    """"p50", "p99" or "p999" of one valid sample's own service times."""
    assert sample.service is not None, f"{sample.sample_id} is not valid"
    return sample.service.percentile_ns(_PERCENTILES[key]) / 1000


def _own_percentiles(cell: Cell) -> dict[str, Value]:
    """The samples' own percentiles, told by median, least and greatest; never averaged."""
    values = {}
    for key in ("p50", "p99", "p999"):
        own = pd.Series([percentile_us(sample, key) for sample in cell.valid])
        for of, number in (("median", own.median()), ("min", own.min()), ("max", own.max())):
            values[f"sample_{key}_us_{of}"] = Value(number)
    return values


def _latencies(cell: Cell) -> dict[str, Value]:
    """Merges the cell's histograms; the columns made of them."""
    cell.service = histogram.merge(sample.service for sample in cell.valid if sample.service)
    intended = [sample.intended for sample in cell.valid if sample.intended]
    if len(intended) == len(cell.valid):
        cell.intended = histogram.merge(intended)
    values = _percentiles("service", cell.service) | _percentiles("intended", cell.intended)
    return values | {"service_n": Value(cell.service.n)}


def _percentiles(name: str, merged: Histogram | None) -> dict[str, Value]:
    if merged is None:
        return {
            f"{name}_{key}_us": Value(None, "not recorded in every sample") for key in _PERCENTILES
        }
    return {
        f"{name}_{key}_us": Value(merged.percentile_ns(quantile) / 1000)
        for key, quantile in _PERCENTILES.items()
    }


def _unknown(cell: Cell, name: str) -> Value:
    """Unknown in one sample is unknown in the cell: a number of some would not compare."""
    found = [sample.find(*_SOURCES[name]) for sample in cell.valid]
    reasons = [str(reason) for number, reason in found if number is None]
    missing = f" in {len(reasons)} of {len(found)} samples" if len(reasons) < len(found) else ""
    return Value(None, reasons[0] + missing)


def _comparisons(factors: dict[str, list[Any]], cells: list[Cell]) -> Iterator[Comparison]:
    """Each level against its factor's first, where both cells exist once and have valid samples."""
    by_levels: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        by_levels.setdefault(cell.levels, []).append(cell)
    for place, (factor, levels) in enumerate(factors.items()):
        if factor == "scenario":  # other work: more requests/s of it is neither better nor worse
            continue
        others = [values for name, values in factors.items() if name != factor]
        for level, context in itertools.product(levels[1:], itertools.product(*others)):
            pair = [
                by_levels.get((*context[:place], one, *context[place:]), [])
                for one in (level, levels[0])
            ]
            if not all(len(found) == 1 and found[0].valid for found in pair):
                continue
            new, base = ([sample.rps for sample in found[0].valid] for found in pair)
            names = [name for name in factors if name != factor]
            where = {
                name: value for name, value in zip(names, context) if len(factors[name]) > 1
            }
            yield Comparison(factor, level, levels[0], where, ratio_of_means(new, base))
