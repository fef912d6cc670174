"""Latency by percentile with its confidence bounds."""

from __future__ import annotations

import math

from analysis.cells.aggregate import Cell
from analysis.cells.spectra import Kind, spectrum_of
from analysis.inputs import metrics
from analysis.judgement.study import Study
from analysis.pages.blocks import Block, Table
from analysis.statistics.interval import CONFIDENCE
from analysis.statistics.spectrum import BEYOND_MIN, BOOTS_FEW, Spectrum, holds

LEVEL = f"{100 * CONFIDENCE:.0f} %"
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
KINDS: dict[Kind, tuple[str, str]] = {
    "service": ("Service time", "from the actual send of a request"),
    "intended": ("Response time", "from the intended send, so with the wait for a late client"),
}


def blocks(study: Study) -> list[Block]:
    """How the bounds were made, then a table of service times and one of response times."""
    cells = [cell for cell in study.found.cells if cell.valid]
    if not cells:
        return []
    found = [Block("How latencies were put together", [*_method(cells), *_over_time(study, cells)])]
    for kind, (name, since) in KINDS.items():
        rows = [_row(cell, spectrum_of(cell, kind, list(QUANTILES.values()))) for cell in cells]
        table = Table(["cell", "boots", "requests", *QUANTILES, "max"], rows)
        found.append(Block(f"{name} in µs, {since}", [], table))
    return found


def _method(cells: list[Cell]) -> list[str]:
    """What the numbers are, and how far their bounds can be trusted."""
    fewest = min(len(cell.valid) for cell in cells)
    lines = [
        "Percentiles are of the merged histograms of a cell's boots; none is an average of"
        f" percentiles. In brackets: {LEVEL} bounds by a bootstrap of whole boots, as the"
        " requests of one boot share its luck. Of the greatest value, the range over the boots.",
        f"A percentile beyond which fewer than {BEYOND_MIN} requests lie is not told.",
    ]
    if fewest == 1:
        lines.append("A cell with one boot has no bounds.")
    few = sorted({len(cell.valid) for cell in cells if 1 < len(cell.valid) < BOOTS_FEW})
    lines += [
        f"Bounds of {boots} boots are hardly more than the range of the boots: they hold the true"
        f" value in about {100 * holds(boots):.0f} % of runs at most, not in {LEVEL}."
        for boots in few
    ]
    return lines


def _over_time(study: Study, cells: list[Cell]) -> list[str]:
    """Why there is no map of latency over time; nothing where the clients wrote what it needs."""
    intervals = metrics.read(study.result.path, cells[0].valid[0])
    _, measured = metrics.window(intervals)
    if any(one.service is not None for one in intervals):
        if len(measured) >= metrics.INTERVALS_MIN:
            return []
        return ["Latency and requests/s over time: n/a (a window is one interval of the client)."]
    reason = "did not write the distribution of each half second" if intervals else "left no course"
    return [f"Latency over time: n/a (the clients {reason})."]


def _row(cell: Cell, found: Spectrum | None) -> list[str]:
    if found is None:
        missing = ["n/a (not recorded in every sample)"] + [""] * len(QUANTILES)
        return [cell.variant, str(len(cell.valid)), "n/a", *missing]
    ends = zip(found.values_ns, found.low_ns, found.high_ns)
    return [
        cell.variant,
        str(found.boots),
        f"{found.n:,}",
        *(_bounded(*numbers) for numbers in ends),
        _bounded(found.max_ns, *found.max_range_ns),
    ]


def _bounded(value_ns: float, low_ns: float, high_ns: float) -> str:
    """E.g. "512 (498 to 530)"."""
    if math.isnan(value_ns):
        return "n/a (too few beyond)"
    if math.isnan(low_ns) or low_ns == high_ns == value_ns:
        return _us(value_ns)
    return f"{_us(value_ns)} ({_us(low_ns)} to {_us(high_ns)})"


def _us(value_ns: float) -> str:
    """Three or more significant digits, as the histograms have."""
    value = value_ns / 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
