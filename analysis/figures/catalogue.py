"""The figures of a report, each with the number of samples on it.

Stacks differ by colour and marker, delivery policies by line; where there is one stack, variants
take the colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterator

import matplotlib
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.cells.aggregate import Aggregate, Cell, Comparison
from analysis.figures.canvas import Canvas, Drawing, INK, LINES, MARKERS, PALETTE, PAPER, RATIO_END, STYLE, clipped, finish, legend, level_axis, log_y, new_canvas, percentile_axis, ratio_axis, row_names, tick_us
from analysis.cells.aggregate import relative_rates
from analysis.cells.words import describe, sentence
from analysis.cells.labels import short
from analysis.inputs.load import Result

RATIO_ROWS_MAX = 40
# More scenarios than this are read in tables.
SCENARIOS_MAX = 12
COLOURED = ("stack", "variant", "scenario")


def draw_all(result: Result, found: Aggregate) -> list[Drawing]:
    """Every figure for which there are valid samples."""
    if not result.valid:
        return []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a user's matplotlibrc must not show in a result
        matplotlib.rcParams.update(STYLE)
        return [drawing for draw in FIGURES for drawing in draw(result, found)]


# Series: the cells that a line joins


@dataclass(frozen=True)
class Series:
    """Cells that differ in the x factor only, with their look."""

    label: str
    colour: int  # place of its stack, or whatever colours tell apart, among the run's
    cells: list[Cell]
    look: dict[str, Any]


def _series(found: Aggregate, x_factor: str | None) -> list[Series]:
    """Cells with valid samples by all varied factors but `x_factor`."""
    names = [name for name in found.factors if name != x_factor]
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in found.cells:
        if cell.valid:
            groups.setdefault(tuple(cell.settings[name] for name in names), []).append(cell)
    by = _colour_factor(found)
    rest = list(dict.fromkeys(_without(names, by, levels) for levels in groups))
    colours = list(dict.fromkeys(_first(names, by, levels) for levels in groups))
    series = []
    for levels, cells in groups.items():
        colour = colours.index(_first(names, by, levels))
        look = _look(colour, rest.index(_without(names, by, levels)))
        label = " ".join(short(name, level, found.factors[name]) for name, level in zip(names, levels))
        series.append(Series(label or "all", colour, cells, look))
    return series


def _colour_factor(found: Aggregate) -> str:
    """What colours tell apart: stacks; where they do not differ, variants, then scenarios."""
    several = [name for name in COLOURED if len(found.factors.get(name, [])) > 1]
    return several[0] if several else "stack"


def _first(names: list[str], wanted: str, levels: tuple[Any, ...]) -> Any:
    return levels[names.index(wanted)] if wanted in names else None


def _without(names: list[str], unwanted: str, levels: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(level for name, level in zip(names, levels) if name != unwanted)


def _look(colour: int, rest: int) -> dict[str, Any]:
    color = PALETTE[colour % len(PALETTE)]
    return {
        "color": color,
        "marker": MARKERS[colour % len(MARKERS)],
        "linestyle": LINES[rest % len(LINES)],
        "markerfacecolor": color if rest % 2 == 0 else PAPER,
        "zorder": 3 - 0.1 * colour,
    }


def _x_factor(found: Aggregate) -> str | None:
    """Depth where it varies; else the first varied factor that is a number."""
    numeric = [
        name
        for name, levels in found.factors.items()
        if len(levels) > 1
        and all(
            isinstance(level, (int, float)) and not isinstance(level, bool) and level > 0
            for level in levels
        )
    ]
    return "depth" if "depth" in numeric else numeric[0] if numeric else None


def _note(result: Result, cells: list[Cell]) -> str:
    sizes = sorted({len(cell.valid) for cell in cells if cell.valid})
    each = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    noun = "sample" if sizes == [1] else "samples"
    return f"n = {each} {noun} a cell; {len(result.valid)} of {len(result.samples)} valid"


# The figures


def _draw_rates(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Requests/s against depth: every sample a dot, the median a line."""
    factor = _x_factor(found)
    if factor is None:
        return
    canvas = new_canvas(
        f"Requests per second against {factor.replace('_', ' ')}",
        factor.replace("_", " "),
        "requests/s",
    )
    for series in _series(found, factor):
        xs = [cell.settings[factor] for cell in series.cells]
        line = {name: series.look[name] for name in ("color", "linestyle")}
        canvas.axes.plot(xs, [cell.known("rps_median") for cell in series.cells], **line)
        canvas.axes.plot([], [], label=series.label, **series.look)
        for cell in series.cells:
            for place, sample in enumerate(cell.valid):
                aside = 2 ** (0.07 * (place - (len(cell.valid) - 1) / 2))
                tip = f"{cell.variant}\n{sample.sample_id}: {sample.rps:,.0f} requests/s"
                canvas.dot(cell.settings[factor] * aside, sample.rps, tip, **series.look)
    level_axis(canvas, found.factors[factor])
    log_y(canvas)
    legend(canvas)
    yield finish(
        canvas,
        f"rps-by-{factor.replace('_', '-')}",
        (
            "Every sample is a dot, those of one cell side by side; the line joins the medians."
            " Both axes are logarithmic."
        ),
        _note(result, found.cells),
    )


def _draw_latency(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Latency by percentile, from merged histograms: one figure for each scenario, or each level of
    the x factor where there are none."""
    scenarios = found.factors.get("scenario", [])
    factor = "scenario" if len(scenarios) > 1 else _x_factor(found)
    if len(scenarios) > SCENARIOS_MAX:
        return
    for level in found.factors[factor] if factor else [None]:
        cells = [cell for cell in found.cells if factor is None or cell.settings[factor] == level]
        if not any(cell.valid for cell in cells):
            continue
        where = f", {factor.replace('_', ' ')} {level}" if factor else ""
        canvas = new_canvas(f"Service time by percentile{where}", "percentile", "service time")
        ends = [
            _plot_percentiles(canvas, series, factor, level) for series in _series(found, factor)
        ]
        percentile_axis(canvas, max(ends))
        log_y(canvas, tick_us)
        legend(canvas)
        name = f"latency-{factor.replace('_', '-')}-{level}" if factor else "latency"
        yield finish(
            canvas,
            name,
            (
                (f"{_capital(factor)} {level}. " if factor else "")
                + "From the merged histograms of each cell's valid samples; a curve ends where"
                " fewer than 10 values lie beyond it."
            ),
            _note(result, cells),
        )


def _plot_percentiles(canvas: Canvas, series: Series, factor: str | None, level: Any) -> float:
    """Draws a series' curve at `level`; returns how far it reaches as 1 / (1 - quantile)."""
    reach = 1.0
    for cell in series.cells:
        if factor is not None and cell.settings[factor] != level:
            continue
        quantiles, values_ns = cell.percentiles().curve()
        if not len(quantiles):
            continue
        line = {name: series.look[name] for name in ("color", "linestyle")}
        xs, ys = 1 / (1 - quantiles), values_ns / 1000
        canvas.axes.plot(
            np.concatenate([[1], xs]),
            np.concatenate([ys[:1], ys]),
            label=series.label,
            drawstyle="steps-pre",
            **line,
        )
        for quantile in (0.5, 0.9, 0.99, 0.999):
            value_us = cell.percentiles().percentile_ns(quantile) / 1000
            if quantile <= quantiles[-1]:
                canvas.dot(
                    1 / (1 - quantile),
                    value_us,
                    f"{series.label}\np{100 * quantile:g}: {value_us:,.1f} µs",
                    color=line["color"],
                    marker="o",
                    markersize=3,
                )
        reach = max(reach, float(xs[-1]))
    return reach


def _draw_writes(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Responses in one write against depth."""
    factor = _x_factor(found)
    known = [cell for cell in found.cells if cell.values["responses_per_write"].number]
    if factor is None or not known:
        return
    words = factor.replace("_", " ")
    canvas = new_canvas(f"Responses per write against {words}", words, "responses in one write")
    for series in _series(found, factor):
        _plot_writes(canvas, series, factor)
    level_axis(canvas, found.factors[factor])
    log_y(canvas)
    low, high = canvas.axes.get_ylim()
    canvas.axes.set_ylim(min(low, 0.8), max(high, 2.5))
    legend(canvas)
    unknown = sum(bool(cell.valid) for cell in found.cells) - len(known)
    caption = (
        "Median over samples. One write is one send call on sockets, one run of segments on a"
        " user-space TCP."
    )
    yield finish(
        canvas,
        "responses-per-write",
        caption + (f" Not known in {unknown} cells." if unknown else ""),
        _note(result, known),
    )


def _plot_writes(canvas: Canvas, series: Series, factor: str) -> None:
    """Earlier stacks are drawn wider, so that they show beneath a later one with the same
    counts."""
    size = 1 + 0.8 * max(0, 1 - series.colour)
    look = series.look | {
        "linewidth": 1.4 * size,
        "markersize": 4 * size,
        "zorder": 2 + 0.1 * series.colour,
    }
    points = [
        (cell, cell.settings[factor], cell.known("responses_per_write"))
        for cell in series.cells
        if cell.values["responses_per_write"].number
    ]
    canvas.axes.plot(
        [x for _, x, _ in points], [y for _, _, y in points], label=series.label, **look
    )
    for cell, x, y in points:
        canvas.dot(x, y, f"{cell.variant}\n{y:.2f} responses a write", **look)


def _draw_order(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Samples in execution order, each over its cell's median, so that drift shows."""
    known = [cell for cell in found.cells if cell.valid]
    canvas = new_canvas(
        "Samples in execution order", "order of execution", "requests/s over its cell's median"
    )
    stacks = list(dict.fromkeys(str(cell.settings.get("stack", "all")) for cell in known))
    for place, stack in enumerate(stacks):
        look = {
            "color": PALETTE[place % len(PALETTE)],
            "marker": MARKERS[place % len(MARKERS)],
            "linestyle": "none",
        }
        canvas.axes.plot([], [], label=short("stack", stack, stacks), **look)
        for sample, cell, relative in relative_rates(known):
            if str(cell.settings.get("stack", "all")) == stack:
                rate = f"{sample.rps:,.0f} requests/s, {relative:.3f} of the median"
                tip = f"{sample.sample_id} {cell.variant}\n{rate}"
                canvas.dot(sample.order_index, relative, tip, **look)
    canvas.axes.axhline(1, color=INK, linewidth=0.8)
    _mark_invalid(canvas, result)
    canvas.axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    canvas.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2f}"))
    legend(canvas, columns=3)
    caption = (
        "A slope is drift, a step is a slow phase of the host; 1.00 is the median of the sample's "
        "own cell."
    )
    yield finish(canvas, "execution-order", caption, _note(result, known))


def _mark_invalid(canvas: Canvas, result: Result) -> None:
    """A cross on the lower edge for each invalid sample."""
    low, high = canvas.axes.get_ylim()
    low, high = min(low, 0.95), max(high, 1.05)
    canvas.axes.set_ylim(low, high)
    bad = [sample for sample in result.samples if not sample.valid]
    if bad:
        canvas.axes.plot([], [], label="invalid", color=INK, marker="x", linestyle="none")
    for sample in bad:
        canvas.dot(
            sample.order_index,
            low,
            f"{sample.sample_id} {sample.variant}\ninvalid: {'; '.join(sample.invalid_reasons)}",
            color=INK,
            marker="x",
            clip_on=False,
        )


def _draw_ratios(result: Result, found: Aggregate) -> Iterator[Drawing]:
    """Each ratio with its interval: one figure a factor."""
    for factor, levels in found.factors.items():
        rows = [comparison for comparison in found.comparisons if comparison.factor == factor]
        if not 0 < len(rows) <= RATIO_ROWS_MAX:
            continue
        height = 1.3 + 0.21 * len(rows)
        own = f" of {_name(factor, levels[1], levels)}" if len(levels) == 2 else ""
        canvas = new_canvas(
            _ratio_title(factor),
            f"requests/s{own} as a multiple of {_name(factor, levels[0], levels)}",
            "",
            height,
        )
        for place, comparison in enumerate(reversed(rows)):
            _plot_ratio(
                canvas,
                comparison,
                place,
                PALETTE[(levels.index(comparison.level) + 1) % len(PALETTE)],
            )
        canvas.axes.axvline(1, color=INK, linewidth=0.8)
        row_names(canvas, [_ratio_label(row, found.factors) for row in reversed(rows)])
        ratio_axis(canvas, _ends(rows))
        caption = (
            f"{_capital(factor)} against {describe(factor, levels[0])}. Dot: ratio of geometric"
            " means over samples; bar: its 95 % interval (Welch, on logs). A bar that crosses 1"
            " shows no difference."
        )
        if any(clipped(end) != end for end in _ends(rows)):
            caption += f" An arrow goes on beyond {RATIO_END:,.0f} x or 1/{RATIO_END:,.0f} x."
        yield finish(
            canvas, f"ratios-{factor.replace('_', '-')}", caption, _note(result, found.cells)
        )


def _plot_ratio(canvas: Canvas, comparison: Comparison, y: int, color: str) -> None:
    ratio = comparison.ratio
    if ratio.low is not None and ratio.high is not None:
        ends = [clipped(ratio.low), clipped(ratio.high)]
        canvas.axes.plot(ends, [y, y], color=color, linewidth=2.4, solid_capstyle="butt")
        for end, place, arrow in ((ratio.low, ends[0], "<"), (ratio.high, ends[1], ">")):
            if end != place:
                canvas.axes.plot([place], [y], color=color, marker=arrow, markersize=7)
    canvas.dot(clipped(ratio.ratio), y, sentence(comparison), color=color, marker="o")


def _ratio_title(factor: str) -> str:
    if factor == "bare":
        return "What the pipeline reaches of the bare echo"
    if factor == "variant":
        return "Variants against the first"
    return f"What {factor.replace('_', ' ')} is worth"


def _name(factor: str, level: Any, levels: list[Any]) -> str:
    """A level in words, a stack as short as it is told from the others."""
    if factor in ("stack", "client_stack"):
        return short(factor, level, levels)
    return describe(factor, level)


def _ratio_label(comparison: Comparison, factors: dict[str, list[Any]]) -> str:
    """The level compared, if there is a choice, and where: "depth 8: epoll coalesce"."""
    own = _name(comparison.factor, comparison.level, factors[comparison.factor])
    where = " ".join(
        short(name, level, factors[name])
        for name, level in comparison.context.items()
        if len(factors[name]) > 1
    )
    if not where:
        return own
    return f"{own}: {where}" if len(factors[comparison.factor]) > 2 else where


def _capital(factor: str) -> str:
    """A factor's name at the head of a caption, e.g. "Response bytes"."""
    return factor.replace("_", " ").capitalize()


def _ends(rows: list[Comparison]) -> list[float]:
    ratios = [row.ratio for row in rows]
    ends = [end for ratio in ratios for end in (ratio.low, ratio.ratio, ratio.high)]
    return [1.0, *(end for end in ends if end is not None)]


FIGURES: list[Callable[[Result, Aggregate], Iterator[Drawing]]] = [
    _draw_rates,
    _draw_ratios,
    _draw_latency,
    _draw_writes,
    _draw_order,
]
