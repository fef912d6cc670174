"""Responses in one transport write against pipeline depth, or what number else varies."""

from __future__ import annotations

from typing import Iterator

from analysis.cells.aggregate import Cell
from analysis.figures.axes import level_axis, log_y
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import Series, axis_label, note, series_of, spread_aside, x_factor
from analysis.figures.style import Width
from analysis.judgement.study import Study

COLUMN = "responses_per_write"


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """Every sample a dot, the median a line."""
    found, factor = study.found, x_factor(study.found)
    known = [cell for cell in found.cells if cell.values[COLUMN].number]
    if factor is None or not known:
        return
    canvas = new_canvas(
        f"Responses per write against {factor.replace('_', ' ')}",
        axis_label(factor),
        "responses in one write",
        width,
    )
    for series in series_of(found, factor):
        _plot(canvas, series, factor)
    level_axis(canvas, found.factors[factor])
    log_y(canvas, at_least=(0.8, 2.5))
    unknown = sum(bool(cell.valid) for cell in found.cells) - len(known)
    caption = (
        "Every sample is a dot; the line joins the medians. One write is one send call on sockets,"
        " one run of segments on a user-space TCP."
    )
    caption += f" Not known in {unknown} cells." if unknown else ""
    yield finish(canvas, "responses-per-write", caption, note(study.result, known))


def _plot(canvas: Canvas, series: Series, factor: str) -> None:
    """Earlier stacks are drawn larger, so that they show beneath a later one with the same
    counts."""
    size = 1 + 0.6 * max(0, 1 - series.colour)
    cells = [cell for cell in series.cells if cell.values[COLUMN].number]
    if not cells:
        return
    thick = {"linewidth": 1.2 * size, "zorder": 2 + 0.1 * series.colour}
    look = series.look | thick | {"markersize": 3.4 * size}
    xs = [cell.settings[factor] for cell in cells]
    canvas.axes.plot(xs, [cell.known(COLUMN) for cell in cells], **(series.line | thick))
    canvas.axes.plot([], [], label=series.label, **look)
    dots = [dot for cell in cells for dot in _dots(cell, cell.settings[factor])]
    canvas.dots(*zip(*dots), **look)


def _dots(cell: Cell, x: float) -> list[tuple[float, float, str]]:
    """The samples side by side around x."""
    dots = []
    for aside, sample in zip(spread_aside(len(cell.valid)), cell.valid):
        responses, _ = sample.find("server", COLUMN)
        assert responses is not None, f"{sample.sample_id} has none, though its cell has"
        tip = f"{cell.variant}\n{sample.sample_id}: {responses:.2f} responses a write"
        dots.append((x * aside, responses, tip))
    return dots
