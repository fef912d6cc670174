"""Ratio forests: each level of a factor against the first, place by place, with its interval."""

from __future__ import annotations

from typing import Any, Iterator

from analysis.cells.aggregate import Comparison
from analysis.cells.labels import short
from analysis.cells.words import describe, sentence
from analysis.figures.axes import RATIO_END, clipped, ratio_axis, row_names
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import capital, name_of, note
from analysis.figures.style import INK, PALETTE, Width
from analysis.judgement.study import Study

ROWS_MAX = 40


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """Each ratio with its interval: one figure a factor."""
    found = study.found
    for factor, levels in found.factors.items():
        rows = [comparison for comparison in found.comparisons if comparison.factor == factor]
        if 0 < len(rows) <= ROWS_MAX:
            yield _forest(study, width, factor, rows)


def _forest(study: Study, width: Width, factor: str, rows: list[Comparison]) -> Drawing:
    levels = study.found.factors[factor]
    own = f" of {name_of(factor, levels[1], levels)}" if len(levels) == 2 else ""
    canvas = new_canvas(
        _title(factor),
        f"requests/s{own} as a multiple of {name_of(factor, levels[0], levels)}",
        "",
        width,
    )
    for place, comparison in enumerate(reversed(rows)):
        color = PALETTE[(levels.index(comparison.level) + 1) % len(PALETTE)]
        _plot(canvas, comparison, place, color)
    canvas.axes.axvline(1, color=INK, linewidth=0.6)
    row_names(canvas, [_label(row, study.found.factors) for row in reversed(rows)])
    ratio_axis(canvas, _ends(rows))
    caption = (
        f"{capital(factor)} against {describe(factor, levels[0])}. Dot: ratio of geometric"
        " means over samples; bar: its 95 % interval. A bar that crosses 1 shows no difference."
    )
    if any(clipped(end) != end for end in _ends(rows)):
        caption += f" An arrow goes on beyond {RATIO_END:,.0f} x or 1/{RATIO_END:,.0f} x."
    name = f"ratios-{factor.replace('_', '-')}"
    return finish(canvas, name, caption, note(study.result, study.found.cells))


def _plot(canvas: Canvas, comparison: Comparison, y: int, color: str) -> None:
    ratio = comparison.ratio
    if ratio.low is not None and ratio.high is not None:
        ends = [clipped(ratio.low), clipped(ratio.high)]
        canvas.axes.plot(ends, [y, y], color=color, linewidth=2, solid_capstyle="butt")
        for end, place, arrow in ((ratio.low, ends[0], "<"), (ratio.high, ends[1], ">")):
            if end != place:
                canvas.axes.plot([place], [y], color=color, marker=arrow, markersize=6)
    look = {"color": color, "marker": "o"}
    canvas.dots([clipped(ratio.ratio)], [y], [sentence(comparison)], **look)


def _title(factor: str) -> str:
    if factor == "bare":
        return "What the pipeline reaches of the bare echo"
    if factor == "variant":
        return "Variants against the first"
    return f"What {factor.replace('_', ' ')} is worth"


def _label(comparison: Comparison, factors: dict[str, list[Any]]) -> str:
    """The level compared, if there is a choice, and where: "depth 8: epoll coalesce"."""
    own = name_of(comparison.factor, comparison.level, factors[comparison.factor])
    where = " ".join(
        short(name, level, factors[name])
        for name, level in comparison.context.items()
        if len(factors[name]) > 1
    )
    if not where:
        return own
    return f"{own}: {where}" if len(factors[comparison.factor]) > 2 else where


def _ends(rows: list[Comparison]) -> list[float]:
    ratios = [row.ratio for row in rows]
    ends = [end for ratio in ratios for end in (ratio.low, ratio.ratio, ratio.high)]
    return [1.0, *(end for end in ends if end is not None)]
