"""A figure in the making: the one style of all figures, their axes, and rendering to SVG and PNG.

Colours differ for colour-blind eyes too. The same drawing gives the same bytes.
"""

from __future__ import annotations

import io
import math
import textwrap
from dataclasses import dataclass, field
from typing import Any, Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

# Okabe and Ito (2008), in an order that keeps neighbours apart; `inline` gives each a second shade
# for dark pages.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
INK, FAINT, PAPER = "#1f2328", "#d8dee4", "#ffffff"
MARKERS, LINES = ("o", "s", "^", "D", "v", "P"), ("-", "--", ":", "-.")
SIZE_INCHES = (4.8, 3.5)

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "weir",
    "path.simplify": True,
}


@dataclass(frozen=True)
class Drawing:
    """A figure as two files and in words. `tips`: element id in the SVG to the text shown on
    hover."""

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


# Letters of the usual size that fit beside each other in a figure of the usual width, of a legend's
# in the same, and that row names may take before the figure grows with them.
LINE_LETTERS, LEGEND_LETTERS, ROW_LETTERS = 62, 76, 24
LETTER_INCHES, LEGEND_ROW_POINTS = 0.075, 13


def new_canvas(
    title: str, xlabel: str, ylabel: str, height_inches: float = SIZE_INCHES[1]
) -> Canvas:
    figure = Figure(figsize=(SIZE_INCHES[0], height_inches), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, pad=8)
    lines = textwrap.wrap(xlabel, LINE_LETTERS, break_on_hyphens=False)
    axes.set_xlabel("\n".join(lines), loc="right" if len(xlabel) > LINE_LETTERS / 2 else "center")
    grow(figure, 0, 0.15 * (len(lines) - 1))
    axes.set_ylabel(ylabel)
    return Canvas(figure, axes)


def grow(figure: Figure, width_inches: float, height_inches: float) -> None:
    """Makes room for more names than usual, which would else leave the axes none."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width + width_inches, height + height_inches)


def row_names(canvas: Canvas, names: list[str]) -> None:
    """Names the rows from below upwards."""
    canvas.axes.set_yticks(range(len(names)), names)
    canvas.axes.set_ylim(-0.6, len(names) - 0.4)
    letters = max(map(len, names)) - ROW_LETTERS
    grow(canvas.figure, LETTER_INCHES * max(0, letters), 0)


def finish(canvas: Canvas, name: str, caption: str, note: str) -> Drawing:
    """Adds the note on n beneath, and renders both files."""
    canvas.figure.supxlabel(note, fontsize=7.5, x=0.99, ha="right", color=INK)
    svg, png = io.BytesIO(), io.BytesIO()
    canvas.figure.savefig(
        svg, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    canvas.figure.set_layout_engine("none")  # laid out already; again would cost as much as drawing
    canvas.figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return Drawing(name, caption, svg.getvalue(), png.getvalue(), canvas.tips)


def legend(canvas: Canvas, columns: int = 2) -> None:
    """Above the axes, below the title, so that it never covers data."""
    handles, labels = canvas.axes.get_legend_handles_labels()
    if handles:
        letters = max(map(len, labels)) + 8  # the line before it and a gap
        columns = max(1, min(columns, LEGEND_LETTERS // letters))
        grow(canvas.figure, LETTER_INCHES * max(0, letters - LEGEND_LETTERS), 0)
        canvas.axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.02, 1.0),
            ncol=columns,
            borderaxespad=0.2,
            handlelength=2.6,
            columnspacing=1.4,
        )
        rows = math.ceil(len(handles) / columns)
        canvas.axes.set_title(canvas.axes.get_title("left"), pad=8 + LEGEND_ROW_POINTS * rows)
        grow(canvas.figure, 0, LEGEND_ROW_POINTS * max(0, rows - 2) / 72)


def level_axis(canvas: Canvas, levels: list[Any]) -> None:
    canvas.axes.set_xscale("log", base=2)
    canvas.axes.xaxis.set_major_locator(FixedLocator(levels))
    canvas.axes.xaxis.set_minor_locator(NullLocator())
    canvas.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def log_y(canvas: Canvas, show: Callable[[float], str] | None = None) -> None:
    canvas.axes.set_yscale("log")
    canvas.axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
    canvas.axes.yaxis.set_minor_locator(NullLocator())
    canvas.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: (show or tick)(value)))


def tick(value: float) -> str:
    for step, suffix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= step:
            return f"{value / step:g}{suffix}"
    return f"{value:g}"


def tick_us(value_us: float) -> str:
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
    low, high = clipped(min(ends)) / 1.15, clipped(max(ends)) * 1.15
    canvas.axes.set_xscale("log")
    canvas.axes.set_xlim(low, high)
    canvas.axes.xaxis.set_major_locator(FixedLocator(ratio_ticks(low, high)))
    canvas.axes.xaxis.set_minor_locator(NullLocator())
    canvas.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} x"))
    canvas.axes.grid(False, axis="y")
