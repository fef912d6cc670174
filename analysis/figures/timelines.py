"""Requests/s over time within each sample: what a mean over the window hides."""

from __future__ import annotations

import math
from typing import Any, Iterator

from matplotlib.axes import Axes

from analysis.cells.aggregate import Aggregate, Cell
from analysis.figures.axes import log_y
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import name_of, note, panel_factor, series_of
from analysis.figures.style import Width
from analysis.inputs import metrics
from analysis.inputs.load import Sample
from analysis.judgement.study import Study

# More lines than this would cover each other; more panels would be too small to read.
LINES_MAX, PANELS_MAX = 400, 12
COLUMNS: dict[Width, int] = {"single": 2, "double": 4}
ROW_INCHES = 1.25

Course = list[tuple[float, float]]


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """A line a sample, of some where there are many; a panel for each scenario, or each level of
    the x factor where there are none."""
    courses = {sample.sample_id: course(study, sample) for sample in _shown(study.found)}
    rates = [rate for one in courses.values() for _, rate in one if rate > 0]
    if not rates:
        return
    factor = _panel_factor(study.found)
    levels = study.found.factors[factor] if factor else [None]
    columns = min(COLUMNS[width], len(levels))
    rows = math.ceil(len(levels) / columns)
    canvas = new_canvas(
        "Requests per second over time", "", "", width, 0.3 + ROW_INCHES * max(rows, 1.6)
    )
    panels = _panels(canvas, rows, columns)
    floor = min(rates) / 1.5
    for series in series_of(study.found, factor):
        canvas.axes.plot([], [], label=series.label, **(series.look | {"markersize": 2.5}))
        for level, axes in zip(levels, panels):
            cells = [
                cell for cell in series.cells if factor is None or cell.settings[factor] == level
            ]
            _plot(canvas, axes, cells, courses, floor, series.look)
    log_y(canvas)
    for place, axes in enumerate(panels):
        level = levels[place] if place < len(levels) else None
        title = name_of(factor, level, levels) if factor and place < len(levels) else ""
        _label(axes, title, place, len(levels), columns)
    caption = _caption(courses, len(study.result.valid))
    yield finish(canvas, "timelines", caption, note(study.result, study.found.cells))


def _shown(found: Aggregate) -> list[Sample]:
    """Of each cell all samples, or evenly chosen ones, so that all cells have LINES_MAX at most."""
    known = [cell.valid for cell in found.cells if cell.valid]
    each = max(1, LINES_MAX // len(known))
    shown: list[Sample] = []
    for samples in known:
        shown += samples[:: -(-len(samples) // each)]
    return shown


def course(study: Study, sample: Sample) -> Course:
    """(middle of the interval in s since the measured window began, requests/s) of each interval;
    empty where the sample has fewer than two."""
    begin, measured = metrics.window(metrics.read(study.result.path, sample))
    measured = [one for one in measured if one.rps is not None]
    if len(measured) < metrics.INTERVALS_MIN:
        return []
    middles, before = [], begin
    for one in measured:
        middles.append(((before + one.t_s) / 2 - begin, one.rps))
        before = one.t_s
    return middles


def _panel_factor(found: Aggregate) -> str | None:
    factor = panel_factor(found)
    return factor if factor and len(found.factors[factor]) <= PANELS_MAX else None


def _panels(canvas: Canvas, rows: int, columns: int) -> list[Axes]:
    """Panels with common axes, row by row, in place of the canvas' one, which becomes the first."""
    canvas.axes.remove()
    grid = canvas.figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    canvas.axes = grid[0][0]
    return [axes for row in grid for axes in row]


def _label(axes: Axes, title: str, place: int, count: int, columns: int) -> None:
    """Names a panel, and its axes where no other panel is beside or below it."""
    axes.set_visible(place < count)
    axes.set_title(title, loc="left", pad=2, fontsize="medium")
    axes.set_xlim(left=0)
    if place % columns == 0:
        axes.set_ylabel("requests/s")
    if place + columns >= count:
        axes.set_xlabel("time in window (s)")
        axes.tick_params(labelbottom=True)


def _plot(
    canvas: Canvas,
    axes: Axes,
    cells: list[Cell],
    courses: dict[str, Course],
    floor: float,
    look: dict[str, Any],
) -> None:
    """All samples of these cells: their lines as one artist, and their dots."""
    xs: list[float] = []
    ys: list[float] = []
    dots = []
    for cell in cells:
        for sample in cell.valid:
            for x, rate in courses.get(sample.sample_id, []):
                xs.append(x)
                ys.append(max(rate, floor))
                tip = f"{cell.variant}\n{sample.sample_id} at {x:.2f} s: {rate:,.0f} requests/s"
                dots.append((x, max(rate, floor), tip))
            xs.append(math.nan)
            ys.append(math.nan)
    if dots:
        line = {name: look[name] for name in ("color", "linestyle", "zorder")}
        axes.plot(xs, ys, linewidth=0.6, **line)
        canvas.dots(*zip(*dots), axes=axes, **(look | {"markersize": 2, "markeredgewidth": 0.5}))


def _caption(courses: dict[str, Course], valid: int) -> str:
    missing = sum(not one for one in courses.values())
    stalled = sum(any(rate == 0 for _, rate in one) for one in courses.values())
    caption = "A line a sample; a dot in the middle of each interval that its client reported."
    if len(courses) < valid:
        caption += f" Shown are {len(courses):,} of {valid:,} samples, evenly chosen in each cell."
    if stalled:
        caption += f" {stalled} samples have intervals of 0 requests/s, drawn at the lower edge."
    return caption + (f" {missing} samples have no two intervals." if missing else "")
