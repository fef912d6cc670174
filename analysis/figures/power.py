"""How often a change is told from none, against its size in units of the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

import numpy as np

from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.style import LINES, MARKERS, PALETTE, Width, styled
from analysis.statistics.power import power

# The lines are of this noise; of another they would differ by less than their width.
LINE_CV = 0.01
LINE_END = 5.0
LINE_POINTS = 51


@dataclass(frozen=True)
class Seen:
    """A simulated share (0 to 1) of intervals that exclude 1."""

    blocks: int
    cv: float
    effect: float
    share: float


def draw(seen: Sequence[Seen], repetitions: int, width: Width = "double") -> Drawing:
    """A line for each number of blocks, by the noncentral t distribution, and every simulated share
    as a dot."""
    with styled():
        canvas = new_canvas(
            "How often the interval over blocks excludes 1",
            "planted effect / coefficient of variation of one boot",
            "share of intervals (%)",
            width,
        )
        for place, blocks in enumerate(dict.fromkeys(one.blocks for one in seen)):
            _plot(canvas, place, [one for one in seen if one.blocks == blocks])
        canvas.axes.set_xlim(-0.1, LINE_END + 0.1)
        canvas.axes.set_ylim(0, 102)
        caption = "Lines by the noncentral t distribution, dots by simulation."
        return finish(canvas, "power", caption, f"each dot: {repetitions:,} simulated comparisons")


def _plot(canvas: Canvas, place: int, seen: Sequence[Seen]) -> None:
    blocks = seen[0].blocks
    look = {"color": PALETTE[place % len(PALETTE)], "marker": MARKERS[place % len(MARKERS)]}
    sizes = np.linspace(0, LINE_END, LINE_POINTS)
    shares = [
        100 * power(LINE_CV * math.sqrt(2), blocks, math.expm1(size * LINE_CV)) for size in sizes
    ]
    line = {"color": look["color"], "linestyle": LINES[place % len(LINES)]}
    canvas.axes.plot(sizes, shares, **line)
    canvas.axes.plot([], [], label=f"{blocks} blocks", **(line | look))
    canvas.dots(
        [one.effect / one.cv for one in seen],
        [100 * one.share for one in seen],
        [
            f"{blocks} blocks, CV {one.cv:.1%}, effect {one.effect:.0%}\nseen in {one.share:.1%}"
            for one in seen
        ],
        **look,
    )
