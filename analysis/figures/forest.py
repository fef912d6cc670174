"""Ratio forests: each level of a factor against the first, place by place, with its interval."""

from __future__ import annotations

import math
from typing import Any, Iterator

from analysis.cells.aggregate import Comparison
from analysis.cells.labels import short
from analysis.cells.words import describe, sentence
from analysis.figures.axes import RATIO_END, clipped, ratio_axis, row_names
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import capital, name_of, note
from analysis.figures.style import INK, PALETTE, PAPER, Width
from analysis.judgement import judged
from analysis.judgement.judged import RPS, Judged
from analysis.judgement.study import Study
from analysis.judgement.verdicts import BETTER, EQUIVALENT, INCONCLUSIVE, WORSE
from analysis.statistics.effect import BLOCKS_MIN

ROWS_MAX = 40
# A verdict's colour and marker.
LOOKS: dict[str, dict[str, Any]] = {
    BETTER: {"color": PALETTE[0], "marker": "^"},
    WORSE: {"color": PALETTE[1], "marker": "v"},
    EQUIVALENT: {"color": PALETTE[2], "marker": "s"},
    INCONCLUSIVE: {"color": INK, "marker": "o", "markerfacecolor": PAPER},
}

def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """Each ratio of requests/s with its interval, its verdict and every run's own ratio: one figure
    a factor that is judged. What has no ratio has no place in it."""
    known = [row for row in study.judged if row.measure == RPS and row.ratio.ratio is not None]
    for factor in study.found.factors:
        rows = [row for row in known if row.comparison.factor == factor]
        if 0 < len(rows) <= ROWS_MAX:
            yield _forest(study, width, factor, rows[::-1])


def _forest(study: Study, width: Width, factor: str, rows: list[Judged]) -> Drawing:
    """`rows` from below upwards."""
    levels = study.found.factors[factor]
    own = f" of {name_of(factor, levels[1], levels)}" if len(levels) == 2 else ""
    base = name_of(factor, levels[0], levels)
    canvas = new_canvas(_title(factor), f"requests/s{own} as a multiple of {base}", "", width)
    ends = [1.0]
    for word, look in LOOKS.items():
        places = [place for place, row in enumerate(rows) if row.verdict.word == word]
        if places:
            canvas.axes.plot([], [], label=word, linewidth=2, **look)
        for place in places:
            ends += _plot(canvas, rows[place], place, look)
    canvas.axes.axvline(1, color=INK, linewidth=0.6)
    row_names(canvas, [_label(row.comparison, study.found.factors) for row in rows])
    ratio_axis(canvas, ends)
    family = judged.family(study.judged)
    caption = _caption(describe(factor, levels[0]), factor, family, ends)
    name = f"ratios-{factor.replace('_', '-')}"
    return finish(canvas, name, caption, note(study.result, study.found.cells))


def _caption(base: str, factor: str, family: str, ends: list[float]) -> str:
    caption = (
        f"{capital(factor)} against {base}. Large: ratio of geometric means; bar: its 95 %"
        " interval; small: the ratio of each run, or of each sample to the base's mean where the"
        f" sides share fewer than {BLOCKS_MIN} runs. Verdicts after Holm's correction for {family}."
        " A bar that crosses 1 does not tell which is greater; one that does not may be"
        " inconclusive once p is corrected."
    )
    if any(clipped(end) != end for end in ends):
        caption += f" An arrow goes on beyond {RATIO_END:,.0f} x or 1/{RATIO_END:,.0f} x."
    return caption


def _plot(canvas: Canvas, row: Judged, y: int, look: dict[str, Any]) -> list[float]:
    """Draws a row that has a ratio; returns how far it reaches."""
    ratio, color = row.ratio, look["color"]
    if ratio.low is not None and ratio.high is not None:
        ends = [clipped(ratio.low), clipped(ratio.high)]
        canvas.axes.plot(ends, [y, y], color=color, linewidth=1.6, solid_capstyle="butt")
        for end, place, arrow in ((ratio.low, ends[0], "<"), (ratio.high, ends[1], ">")):
            if end != place:
                canvas.axes.plot([place], [y], color=color, marker=arrow, markersize=5)
    own = _own_ratios(row)
    tips = [f"{name}: {value:.3f} x" for name, value in own]
    values = [value for _, value in own]
    small = {"color": color, "marker": "o", "markersize": 1.8, "markerfacecolor": PAPER}
    canvas.dots(
        [clipped(value) for value in values],
        [y - 0.24] * len(own),
        tips,
        **(small | {"markeredgewidth": 0.5}),
    )
    tip = f"{sentence(row.comparison)}\n{row.verdict.word}: {row.verdict.why}"
    canvas.dots([clipped(ratio.ratio)], [y], [tip], **(look | {"markersize": 5, "zorder": 4}))
    return [end for end in (ratio.low, ratio.ratio, ratio.high, *values) if end is not None]


def _own_ratios(row: Judged) -> list[tuple[str, float]]:
    """(name, ratio) of each shared run; of each sample to the base's mean where there are few."""
    new, base = row.sides
    if row.ratio.blocks:
        return [(f"run {block}", new[block] / base[block]) for block in new if block in base]
    mean = math.exp(sum(map(math.log, base.values())) / len(base))
    return [(f"run {block}, against the base's mean", rate / mean) for block, rate in new.items()]


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
