"""Axes: of levels, of logarithms, of percentiles, of ratios, of named rows."""

from __future__ import annotations

import math
import textwrap
from typing import Any, Callable

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from analysis.figures.canvas import Canvas
from analysis.figures.style import LETTER, TEXT_POINTS, WIDTH_INCHES, letters

# Of a figure's width, what its axes have beside their labels.
AXIS_SHARE = 0.8
# Of a figure's width, what names of rows may take.
NAME_SHARE = 0.5
ROW_INCHES, ROW_LINE_INCHES = 0.19, 0.1


def row_names(canvas: Canvas, names: list[str]) -> None:
    """Names the rows from below upwards, long ones in several lines, and gives the axes the height
    for them."""
    room = letters(NAME_SHARE * WIDTH_INCHES[canvas.width])
    wrapped = [textwrap.wrap(name, room, break_on_hyphens=False) for name in names]
    canvas.axes.set_yticks(range(len(names)), ["\n".join(lines) for lines in wrapped])
    canvas.axes.set_ylim(-0.6, len(names) - 0.4)
    canvas.axes.grid(False, axis="y")
    lines = max(map(len, wrapped))
    canvas.height_inches = 0.45 + len(names) * (ROW_INCHES + ROW_LINE_INCHES * (lines - 1))


def level_axis(canvas: Canvas, levels: list[Any]) -> None:
    """Log axis with a tick at each level, named where the names leave room for each other."""
    points = 72 * AXIS_SHARE * WIDTH_INCHES[canvas.width]
    span = math.log(max(levels) / min(levels)) or 1.0
    named: set[float] = set()
    end = -math.inf
    for level in sorted(levels):
        half = LETTER * TEXT_POINTS * (len(f"{level:g}") + 1) / 2
        place = points * math.log(level / min(levels)) / span
        if place - half >= end:
            named.add(level)
            end = place + half
    canvas.axes.set_xscale("log", base=2)
    canvas.axes.xaxis.set_major_locator(FixedLocator(levels))
    canvas.axes.xaxis.set_minor_locator(NullLocator())
    canvas.axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if value in named else "")
    )


def log_y(
    canvas: Canvas,
    show: Callable[[float], str] | None = None,
    at_least: tuple[float, float] = (math.inf, -math.inf),
) -> None:
    """Log axis that reaches `at_least` from one number to the other, with marks at 1, 2 and 5, or
    at decades where there are many of them."""
    canvas.axes.set_yscale("log")
    low, high = canvas.axes.get_ylim()
    low, high = min(low, at_least[0]), max(high, at_least[1])
    canvas.axes.set_ylim(low, high)
    subs = (1, 2, 5) if math.log10(high / low) <= 4 else (1,)
    canvas.axes.yaxis.set_major_locator(LogLocator(base=10, subs=subs, numticks=12))
    canvas.axes.yaxis.set_minor_locator(NullLocator())
    canvas.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: (show or tick)(value)))


def tick(value: float) -> str:
    """E.g. "200 k"."""
    for step, suffix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= step:
            return f"{value / step:g}{suffix}"
    return f"{value:g}"


def tick_us(value_us: float) -> str:
    """E.g. "2 ms"."""
    for step, unit in ((1e6, "s"), (1e3, "ms")):
        if value_us >= step:
            return f"{value_us / step:g} {unit}"
    return f"{value_us:g} µs"


def percentile_axis(canvas: Canvas, reach: float) -> None:
    """1 / (1 - quantile) on a log axis: each nine takes the same room."""
    canvas.axes.set_xscale("log")
    canvas.axes.set_xlim(1, max(10.0, reach * 1.1))
    ticks = {
        1: "0",
        2: "50",
        10: "90",
        100: "99",
        1000: "99.9",
        1e4: "99.99",
        1e5: "99.999",
        1e6: "99.9999",
    }
    shown = [tick for tick in ticks if tick <= max(10.0, reach * 1.1)]
    canvas.axes.xaxis.set_major_locator(FixedLocator(shown))
    canvas.axes.xaxis.set_minor_locator(NullLocator())
    canvas.axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: ticks.get(round(value), ""))
    )


# Ratios that may be marked in each decade, the densest first.
RATIO_STEPS = (
    (1, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 9.5),
    (1, 1.25, 1.5, 2, 3, 5, 7, 8, 9),
    (1, 1.5, 2, 3, 5, 7),
    (1, 2, 5),
    (1, 3),
    (1,),
)
# Marks nearer to each other than this share of the axis would run into each other.
RATIO_GAP = 0.16
# Ratios beyond this, and below its inverse, are off the axis.
RATIO_END = 1000.0


def clipped(ratio: float) -> float:
    """The ratio, or the end of the axis that it is beyond."""
    return min(max(ratio, 1 / RATIO_END), RATIO_END)


def ratio_ticks(low: float, high: float) -> list[float]:
    """The densest marks between two ratios that leave room for their labels."""
    room = RATIO_GAP * math.log(high / low)
    ticks: list[float] = []
    for steps in RATIO_STEPS:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        marks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [mark for mark in marks if low <= mark <= high]
        if all(math.log(after / before) >= room for before, after in zip(ticks, ticks[1:])):
            break
    return ticks


def ratio_axis(canvas: Canvas, ends: list[float]) -> None:
    """Log axis of ratios that shows all of `ends` within reason."""
    low, high = clipped(min(ends)), clipped(max(ends))
    margin = max(1.002, (high / low) ** 0.06)
    low, high = low / margin, high * margin
    canvas.axes.set_xscale("log")
    canvas.axes.set_xlim(low, high)
    canvas.axes.xaxis.set_major_locator(FixedLocator(ratio_ticks(low, high)))
    canvas.axes.xaxis.set_minor_locator(NullLocator())
    canvas.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} x"))
