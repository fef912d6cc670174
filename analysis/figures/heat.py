"""Latency over time: how the requests of each interval spread over service times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from analysis.cells.aggregate import Cell
from analysis.figures.axes import tick_us
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.panels import ACROSS, panels
from analysis.figures.series import label_of
from analysis.figures.style import INK, PAPER, Width
from analysis.inputs import metrics
from analysis.inputs.load import Sample
from analysis.inputs.metrics import Interval
from analysis.judgement.study import Study

# Cells that have a panel, and boots side by side in one.
CELLS_MAX: dict[Width, int] = {"single": 3, "double": 6}
BOOTS_MAX = 9
# The client cuts an octave of service times into so many buckets.
PER_OCTAVE = 8
# Colours end at this share of an interval's requests; fewer are drawn as this.
SHARE_MIN = 1e-5
COLOURS = "cividis"  # even to colour-blind eyes and in grey (Nuñez and others, 2018)


@dataclass(frozen=True)
class Course:
    """The measured intervals of one boot."""

    sample: Sample
    begin_s: float
    intervals: list[Interval]

    @property
    def times(self) -> np.ndarray:
        """Bounds of the intervals in s since the first began."""
        return np.array([0.0, *(one.t_s - self.begin_s for one in self.intervals)])


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """A panel for each of the few cells with the longest tails; nothing for results whose
    clients did not write the distribution of each interval."""
    known = [cell for cell in study.found.cells if cell.valid]
    worst = sorted(range(len(known)), key=lambda at: -_tail(known[at]))[: CELLS_MAX[width]]
    courses = [(known[at], _courses(study, known[at])) for at in sorted(worst)]
    courses = [(cell, course) for cell, course in courses if course]
    if not courses:
        return
    canvas = new_canvas("Service time over time", "", "service time", width)
    axes = panels(canvas, len(courses))
    edges = _edges([one for _, course in courses for one in course])
    for one, (cell, course) in zip(axes, courses):
        mesh = _panel(canvas, one, edges, course)
        one.set_title(label_of(study.found, cell), fontsize="medium", loc="left", pad=2)
    for one in axes[-ACROSS[width] :]:
        one.set_xlabel("s, one boot after another")
    share = FuncFormatter(lambda value, _: f"{100 * value:g} %")
    bar = canvas.figure.colorbar(mesh, ax=axes, aspect=40, pad=0.02, format=share)
    bar.set_label("share of the interval's requests")
    bar.minorticks_off()
    bar.outline.set_visible(False)
    yield finish(canvas, "latency-over-time", _caption(len(known), courses), _note(courses))


def _tail(cell: Cell) -> float:
    """How far p99.9 lies above the median."""
    merged = cell.percentiles()
    return merged.percentile_ns(0.999) / max(merged.percentile_ns(0.5), 1)


def _courses(study: Study, cell: Cell) -> list[Course]:
    """The first boots of a cell; none if one of them lacks the distribution of an interval, or
    has fewer than two."""
    found = []
    for sample in cell.valid[:BOOTS_MAX]:
        begin_s, measured = metrics.window(metrics.read(study.result.path, sample))
        if len(measured) < metrics.INTERVALS_MIN or any(one.service is None for one in measured):
            return []
        found.append(Course(sample, begin_s, measured))
    return found


def _edges(courses: list[Course]) -> np.ndarray:
    """Bounds in ns of the client's buckets from the shortest to the longest time seen."""
    ends = [
        one.service.values_ns[[0, -1]]
        for course in courses
        for one in course.intervals
        if one.service is not None and one.service.n
    ]
    low, high = np.min(ends, initial=2**40), np.max(ends, initial=1)
    octaves = 2.0 ** np.arange(int(np.log2(max(min(low, high), 1))), int(np.log2(high)) + 2)
    steps = 1 + np.arange(PER_OCTAVE) / PER_OCTAVE
    return np.outer(octaves, steps).ravel()


def _panel(canvas: Canvas, axes: Axes, edges: np.ndarray, courses: list[Course]) -> Any:
    """The boots one after another, with a gap between them, and the p99 of each interval."""
    begin, mesh = 0.0, None
    xs, ys, tips = [], [], []
    for course in courses:
        times = course.times
        shares = np.array([_shares(one, edges) for one in course.intervals]).T
        mesh = axes.pcolormesh(
            begin + times,
            edges / 1000,
            np.ma.masked_equal(shares, 0),
            cmap=COLOURS,
            norm=LogNorm(SHARE_MIN, 1),
            rasterized=True,
        )
        for at, one in enumerate(course.intervals):
            if one.p99_us is not None:
                xs.append(begin + (times[at] + times[at + 1]) / 2)
                ys.append(one.p99_us)
                when = f"{course.sample.sample_id}, {times[at]:.1f} to {times[at + 1]:.1f} s"
                tips.append(f"{when}\np99 {one.p99_us:,.1f} µs of {one.completed:,} requests")
        begin += float(times[-1]) + 0.5
    look = {"marker": "o", "markersize": 2.2, "color": PAPER, "markeredgecolor": INK}
    canvas.dots(xs, ys, tips, axes=axes, markeredgewidth=0.4, label="p99", **look)
    _log_time(axes)
    return mesh


def _shares(interval: Interval, edges: np.ndarray) -> np.ndarray:
    """Of the interval's requests in each bucket."""
    shares = np.zeros(len(edges) - 1)
    if interval.service is not None and interval.service.n:
        places = np.searchsorted(edges, interval.service.values_ns, side="right") - 1
        np.add.at(shares, places.clip(0, len(shares) - 1), interval.service.counts)
        shares /= interval.service.n
    return shares


def _log_time(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(base=10))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_us(value)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(False)


def _caption(cells: int, courses: list[tuple[Cell, list[Course]]]) -> str:
    text = (
        f"Each column is an interval of a boot's measured window, {_lengths(courses)} s long; boots"
        " stand side by side, with a gap between them. Colour: share of the column's requests;"
        " dots: their p99."
    )
    if cells > len(courses):
        text += (
            f" Shown are {len(courses)} of {cells} cells, those whose p99.9 lies farthest above"
            " their median."
        )
    if any(len(cell.valid) > len(course) for cell, course in courses):
        text += f" The first {BOOTS_MAX} boots of each."
    return text


def _lengths(courses: list[tuple[Cell, list[Course]]]) -> str:
    """From the shortest to the longest, e.g. "0.5" or "0.3 to 0.5"."""
    lengths = np.concatenate([np.diff(one.times) for _, boots in courses for one in boots])
    return " to ".join(dict.fromkeys(f"{end:.1f}" for end in (lengths.min(), lengths.max())))


def _note(courses: list[tuple[Cell, list[Course]]]) -> str:
    boots = sorted({len(course) for _, course in courses})
    each = f"{boots[0]}" if len(boots) == 1 else f"{boots[0]} to {boots[-1]}"
    return f"n = {each} {'boot' if boots == [1] else 'boots'} a panel"
