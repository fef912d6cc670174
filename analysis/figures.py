"""The figures of a report: one style, colours that differ for colour-blind eyes too, the number of samples on each.

Stacks differ by colour and marker, delivery policies by line. The same input gives the same bytes.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from analysis.aggregate import Aggregate, Cell
from analysis.findings import relative_rates
from analysis.load import Result

# Okabe and Ito (2008), in an order that keeps neighbours apart; `inline` gives each a second shade for dark pages.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
INK, FAINT, PAPER = "#1f2328", "#d8dee4", "#ffffff"
MARKERS, LINES = ("o", "s", "^", "D", "v", "P"), ("-", "--", ":", "-.")
SIZE_INCHES = (5.6, 3.7)

STYLE = {
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": INK, "axes.labelcolor": INK,
    "axes.titlecolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK, "axes.grid": True, "grid.color": FAINT,
    "grid.linewidth": 0.6, "axes.axisbelow": True, "lines.linewidth": 1.6, "lines.markersize": 4.5, "legend.frameon": False,
    "legend.fontsize": 8, "figure.facecolor": PAPER, "axes.facecolor": "none", "savefig.facecolor": PAPER, "svg.fonttype": "none",
    "svg.hashsalt": "weir", "path.simplify": True,
}


@dataclass(frozen=True)
class Drawing:
    """A figure as two files and in words. `tips`: element id in the SVG to the text shown on hover."""

    name: str
    caption: str
    svg: bytes
    png: bytes
    tips: dict[str, str]


@dataclass
class Canvas:
    """A figure in the making."""

    figure: Figure
    axes: Axes
    tips: dict[str, str] = field(default_factory=dict)

    def dot(self, x: float, y: float, tip: str, **look: Any) -> None:
        """A marker that says `tip` on hover."""
        name = f"tip{len(self.tips)}"
        self.tips[name] = tip
        self.axes.plot([x], [y], gid=name, **(look | {"linestyle": "none"}))


def draw_all(result: Result, found: Aggregate) -> list[Drawing]:
    """Every figure for which there are valid samples."""
    if not result.valid:
        return []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a user's matplotlibrc must not show in a result
        matplotlib.rcParams.update(STYLE)
        return [drawing for draw in FIGURES for drawing in draw(result, found)]


def _canvas(title: str, xlabel: str, ylabel: str) -> Canvas:
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, pad=8)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return Canvas(figure, axes)


def _finish(canvas: Canvas, name: str, caption: str, note: str) -> Drawing:
    """Adds the note on n beneath, and renders both files."""
    canvas.figure.supxlabel(note, fontsize=7.5, x=0.99, ha="right", color=INK)
    svg, png = io.BytesIO(), io.BytesIO()
    canvas.figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    canvas.figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return Drawing(name, caption, svg.getvalue(), png.getvalue(), canvas.tips)


def _legend(canvas: Canvas, columns: int = 2) -> None:
    """Above the axes, below the title, so that it never covers data."""
    handles, _ = canvas.axes.get_legend_handles_labels()
    if handles:
        canvas.axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncol=columns, borderaxespad=0.2, handlelength=2.6, columnspacing=1.4)
        rows = math.ceil(len(handles) / columns)
        canvas.axes.set_title(canvas.axes.get_title("left"), pad=8 + 13 * rows)


# Series: the cells that a line joins


@dataclass(frozen=True)
class Series:
    """Cells that differ in the x factor only, with their look."""

    label: str
    stack: int  # place of its stack among the run's
    cells: list[Cell]
    look: dict[str, Any]


def _series(found: Aggregate, x_factor: str | None) -> list[Series]:
    """Cells with valid samples by all varied factors but `x_factor`."""
    names = [name for name in found.factors if name != x_factor]
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in found.cells:
        if cell.valid:
            groups.setdefault(tuple(cell.settings[name] for name in names), []).append(cell)
    rest = list(dict.fromkeys(_without(names, "stack", levels) for levels in groups))
    stacks = list(dict.fromkeys(_first(names, "stack", levels) for levels in groups))
    series = []
    for levels, cells in groups.items():
        stack = stacks.index(_first(names, "stack", levels))
        look = _look(stack, rest.index(_without(names, "stack", levels)))
        series.append(Series(", ".join(map(str, levels)) or "all", stack, cells, look))
    return series


def _first(names: list[str], wanted: str, levels: tuple[Any, ...]) -> Any:
    return levels[names.index(wanted)] if wanted in names else None


def _without(names: list[str], unwanted: str, levels: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(level for name, level in zip(names, levels) if name != unwanted)


def _look(stack: int, rest: int) -> dict[str, Any]:
    color = PALETTE[stack % len(PALETTE)]
    return {"color": color, "marker": MARKERS[stack % len(MARKERS)], "linestyle": LINES[rest % len(LINES)],
            "markerfacecolor": color if rest % 2 == 0 else PAPER, "zorder": 3 - 0.1 * stack}


def _x_factor(found: Aggregate) -> str | None:
    """Depth where it varies; else the first varied factor that is a number."""
    numeric = [name for name, levels in found.factors.items() if len(levels) > 1
               and all(isinstance(level, (int, float)) and not isinstance(level, bool) and level > 0 for level in levels)]
    return "depth" if "depth" in numeric else numeric[0] if numeric else None


def _x_axis(canvas: Canvas, levels: list[Any]) -> None:
    canvas.axes.set_xscale("log", base=2)
    canvas.axes.xaxis.set_major_locator(FixedLocator(levels))
    canvas.axes.xaxis.set_minor_locator(NullLocator())
    canvas.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _log_y(canvas: Canvas, show: Callable[[float], str] | None = None) -> None:
    canvas.axes.set_yscale("log")
    canvas.axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
    canvas.axes.yaxis.set_minor_locator(NullLocator())
    canvas.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: (show or _tick)(value)))


def _tick(value: float) -> str:
    for step, suffix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= step:
            return f"{value / step:g}{suffix}"
    return f"{value:g}"


def _tick_us(value_us: float) -> str:
    for step, unit in ((1e6, "s"), (1e3, "ms")):
        if value_us >= step:
            return f"{value_us / step:g} {unit}"
    return f"{value_us:g} µs"


def _note(result: Result, cells: list[Cell]) -> str:
    sizes = sorted({len(cell.valid) for cell in cells if cell.valid})
    each = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return f"n = {each} samples a cell; {len(result.valid)} of {len(result.samples)} samples valid"


# The figures


def _draw_rates(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Requests/s against depth: every sample a dot, the median a line."""
    factor = _x_factor(found)
    if factor is None:
        return
    canvas = _canvas(f"Requests per second against {factor.replace('_', ' ')}", factor.replace("_", " "), "requests/s")
    for series in _series(found, factor):
        xs = [cell.settings[factor] for cell in series.cells]
        line = {name: series.look[name] for name in ("color", "linestyle")}
        canvas.axes.plot(xs, [cell.values["rps_median"].number for cell in series.cells], **line)
        canvas.axes.plot([], [], label=series.label, **series.look)
        for cell in series.cells:
            for place, sample in enumerate(cell.valid):
                aside = 2 ** (0.07 * (place - (len(cell.valid) - 1) / 2))
                tip = f"{cell.variant}\n{sample.sample_id}: {sample.rps:,.0f} requests/s"
                canvas.dot(cell.settings[factor] * aside, sample.rps, tip, **series.look)
    _x_axis(canvas, found.factors[factor])
    _log_y(canvas)
    _legend(canvas)
    yield _finish(canvas, f"rps-by-{factor.replace('_', '-')}", 
                  "Every sample is a dot, those of one cell side by side; the line joins the medians. Both axes are logarithmic.", _note(result, found.cells))


def _draw_latency(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Latency by percentile, from merged histograms: one figure for each level of the x factor."""
    factor = _x_factor(found)
    for level in found.factors[factor] if factor else [None]:
        cells = [cell for cell in found.cells if factor is None or cell.settings[factor] == level]
        if not any(cell.valid for cell in cells):
            continue
        where = f", {factor.replace('_', ' ')} {level}" if factor else ""
        canvas = _canvas(f"Service time by percentile{where}", "percentile", "service time")
        ends = [_plot_percentiles(canvas, series, factor, level) for series in _series(found, factor)]
        _percentile_axis(canvas, max(ends))
        _log_y(canvas, _tick_us)
        _legend(canvas)
        name = f"latency-{factor.replace('_', '-')}-{level}" if factor else "latency"
        yield _finish(canvas, name, "From the merged histograms of each cell's valid samples; a curve ends where fewer than 10 values lie beyond it.",
                      _note(result, cells))


def _plot_percentiles(canvas: Canvas, series: Series, factor: str | None, level: Any) -> float:
    """Draws a series' curve at `level`; returns how far it reaches as 1 / (1 - quantile)."""
    reach = 1.0
    for cell in series.cells:
        if factor is not None and cell.settings[factor] != level:
            continue
        quantiles, values_ns = cell.service.curve()
        if not len(quantiles):
            continue
        line = {name: series.look[name] for name in ("color", "linestyle")}
        xs, ys = 1 / (1 - quantiles), values_ns / 1000
        canvas.axes.plot(np.concatenate([[1], xs]), np.concatenate([ys[:1], ys]), label=series.label, drawstyle="steps-pre", **line)
        for quantile in (0.5, 0.9, 0.99, 0.999):
            value_us = cell.service.percentile_ns(quantile) / 1000
            if quantile <= quantiles[-1]:
                canvas.dot(1 / (1 - quantile), value_us, f"{series.label}\np{100 * quantile:g}: {value_us:,.1f} µs", color=line["color"], marker="o", markersize=3)
        reach = max(reach, float(xs[-1]))
    return reach


def _percentile_axis(canvas: Canvas, reach: float) -> None:
    """1 / (1 - quantile) on a log axis: each nine takes the same room."""
    canvas.axes.set_xscale("log")
    canvas.axes.set_xlim(1, max(10.0, reach * 1.1))
    ticks = {1: "0", 2: "50", 10: "90", 100: "99", 1000: "99.9", 1e4: "99.99", 1e5: "99.999", 1e6: "99.9999"}
    shown = [tick for tick in ticks if tick <= max(10.0, reach * 1.1)]
    canvas.axes.xaxis.set_major_locator(FixedLocator(shown))
    canvas.axes.xaxis.set_minor_locator(NullLocator())
    canvas.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: ticks.get(round(value), "")))


def _draw_writes(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Responses in one write against depth."""
    factor = _x_factor(found)
    known = [cell for cell in found.cells if cell.values["responses_per_write"].number]
    if factor is None or not known:
        return
    words = factor.replace("_", " ")
    canvas = _canvas(f"Responses per write against {words}", words, "responses in one write")
    for series in _series(found, factor):
        _plot_writes(canvas, series, factor)
    _x_axis(canvas, found.factors[factor])
    _log_y(canvas)
    low, high = canvas.axes.get_ylim()
    canvas.axes.set_ylim(min(low, 0.8), max(high, 2.5))
    _legend(canvas)
    unknown = sum(bool(cell.valid) for cell in found.cells) - len(known)
    caption = "Median over samples. One write is one send call on sockets, one run of segments on a user-space TCP."
    yield _finish(canvas, "responses-per-write", caption + (f" Not known in {unknown} cells." if unknown else ""), _note(result, known))


def _plot_writes(canvas: Canvas, series: Series, factor: str) -> None:
    """Earlier stacks are drawn wider, so that they show beneath a later one with the same counts."""
    size = 1 + 0.8 * max(0, 1 - series.stack)
    look = series.look | {"linewidth": 1.4 * size, "markersize": 4 * size, "zorder": 2 + 0.1 * series.stack}
    points = [(cell, cell.settings[factor], cell.values["responses_per_write"].number) for cell in series.cells]
    points = [(cell, x, y) for cell, x, y in points if y]
    canvas.axes.plot([x for _, x, _ in points], [y for _, _, y in points], label=series.label, **look)
    for cell, x, y in points:
        canvas.dot(x, y, f"{cell.variant}\n{y:.2f} responses a write", **look)


def _draw_order(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Samples in execution order, each over its cell's median, so that drift shows."""
    known = [cell for cell in found.cells if cell.valid]
    canvas = _canvas("Samples in execution order", "order of execution", "requests/s over its cell's median")
    stacks = list(dict.fromkeys(str(cell.settings.get("stack", "all")) for cell in known))
    for place, stack in enumerate(stacks):
        look = {"color": PALETTE[place % len(PALETTE)], "marker": MARKERS[place % len(MARKERS)], "linestyle": "none"}
        canvas.axes.plot([], [], label=stack, **look)
        for sample, cell, relative in relative_rates(known):
            if str(cell.settings.get("stack", "all")) == stack:
                canvas.dot(sample.order_index, relative, f"{sample.sample_id} {cell.variant}\n{sample.rps:,.0f} requests/s, {relative:.3f} of the median", **look)
    canvas.axes.axhline(1, color=INK, linewidth=0.8)
    _mark_invalid(canvas, result)
    canvas.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2f}"))
    _legend(canvas, columns=3)
    yield _finish(canvas, "execution-order", "A slope is drift, a step is a slow phase of the host; 1.00 is the median of the sample's own cell.", _note(result, known))


def _mark_invalid(canvas: Canvas, result: Result) -> None:
    """A cross on the lower edge for each invalid sample."""
    low, high = canvas.axes.get_ylim()
    low, high = min(low, 0.95), max(high, 1.05)
    canvas.axes.set_ylim(low, high)
    bad = [sample for sample in result.samples if not sample.valid]
    if bad:
        canvas.axes.plot([], [], label="invalid", color=INK, marker="x", linestyle="none")
    for sample in bad:
        canvas.dot(sample.order_index, low, f"{sample.sample_id} {sample.variant}\ninvalid: {'; '.join(sample.invalid_reasons)}",
                   color=INK, marker="x", clip_on=False)


FIGURES: list[Callable[[Result, Aggregate], Iterator[Drawing]]] = [_draw_rates, _draw_latency, _draw_writes, _draw_order]
