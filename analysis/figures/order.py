"""Samples in execution order, each over its cell's median, so that drift shows."""

from __future__ import annotations

from typing import Iterator

from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.cells.aggregate import Cell, relative_rates
from analysis.cells.labels import short
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import note
from analysis.figures.style import INK, MARKERS, PALETTE, Width
from analysis.inputs.load import Result
from analysis.judgement.study import Study


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """One dot a valid sample, one cross an invalid one."""
    known = [cell for cell in study.found.cells if cell.valid]
    canvas = new_canvas(
        "Samples in execution order",
        "order of execution (samples)",
        "requests/s over its cell's median",
        width,
    )
    _plot(canvas, known)
    canvas.axes.axhline(1, color=INK, linewidth=0.6)
    _mark_invalid(canvas, study.result)
    canvas.axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    canvas.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2f}"))
    caption = (
        "A slope is drift, a step is a slow phase of the host; 1.00 is the median of the sample's "
        "own cell."
    )
    yield finish(canvas, "execution-order", caption, note(study.result, known))


def _plot(canvas: Canvas, known: list[Cell]) -> None:
    stacks = list(dict.fromkeys(str(cell.settings.get("stack", "all")) for cell in known))
    dots: dict[str, list[tuple[float, float, str]]] = {stack: [] for stack in stacks}
    for sample, cell, relative in relative_rates(known):
        rate = f"{sample.rps:,.0f} requests/s, {relative:.3f} of the median"
        tip = f"{sample.sample_id} {cell.variant}\n{rate}"
        dots[str(cell.settings.get("stack", "all"))].append((sample.order_index, relative, tip))
    for place, stack in enumerate(stacks):
        look = {
            "color": PALETTE[place % len(PALETTE)],
            "marker": MARKERS[place % len(MARKERS)],
            "linestyle": "none",
        }
        canvas.axes.plot([], [], label=short("stack", stack, stacks), **look)
        canvas.dots(*zip(*dots[stack]), **look)


def _mark_invalid(canvas: Canvas, result: Result) -> None:
    """A cross on the lower edge for each invalid sample."""
    low, high = canvas.axes.get_ylim()
    low, high = min(low, 0.95), max(high, 1.05)
    canvas.axes.set_ylim(low, high)
    bad = [sample for sample in result.samples if not sample.valid]
    if not bad:
        return
    look = {"color": INK, "marker": "x", "linestyle": "none"}
    canvas.axes.plot([], [], label="invalid", **look)
    tips = [
        f"{sample.sample_id} {sample.variant}\ninvalid: {'; '.join(sample.invalid_reasons)}"
        for sample in bad
    ]
    places = [sample.order_index for sample in bad]
    canvas.dots(places, [low] * len(bad), tips, clip_on=False, **look)
