"""Requests/s against pipeline depth, or against whatever number else varies."""

from __future__ import annotations

from typing import Iterator

from analysis.figures.axes import level_axis, log_y
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import Series, axis_label, note, series_of, spread_aside, x_factor
from analysis.figures.style import Width
from analysis.judgement.study import Study


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """Every sample a dot, the median a line."""
    factor = x_factor(study.found)
    if factor is None:
        return
    words = factor.replace("_", " ")
    canvas = new_canvas(
        f"Requests per second against {words}", axis_label(factor), "requests/s", width
    )
    for series in series_of(study.found, factor):
        _plot(canvas, series, factor)
    level_axis(canvas, study.found.factors[factor])
    log_y(canvas)
    caption = (
        "Every sample is a dot, those of one cell side by side; the line joins the medians."
        " Both axes are logarithmic."
    )
    name = f"rps-by-{factor.replace('_', '-')}"
    yield finish(canvas, name, caption, note(study.result, study.found.cells))


def _plot(canvas: Canvas, series: Series, factor: str) -> None:
    xs = [cell.settings[factor] for cell in series.cells]
    canvas.axes.plot(xs, [cell.known("rps_median") for cell in series.cells], **series.line)
    canvas.axes.plot([], [], label=series.label, **series.look)
    dots = [
        (
            cell.settings[factor] * aside,
            sample.rps,
            f"{cell.variant}\n{sample.sample_id}: {sample.rps:,.0f} requests/s",
        )
        for cell in series.cells
        for aside, sample in zip(spread_aside(len(cell.valid)), cell.valid)
    ]
    canvas.dots(*zip(*dots), **series.look)
