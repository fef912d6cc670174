"""The forest of two results: each place's ratio with its interval, requests/s and CPU."""

from __future__ import annotations

from typing import Iterator

from analysis.figures.axes import clipped, ratio_axis, row_names
from analysis.figures.canvas import Drawing, finish, new_canvas
from analysis.figures.style import INK, PALETTE, Width, styled
from analysis.judgement.across import Across
from analysis.judgement.judged import CPU, RPS, Judged

# More rows than this are a table's work.
ROWS_MAX = 60


def draw_all(of: Across, stamp: str) -> list[Drawing]:
    """One figure a measure; `stamp`, if any, stands in the title."""
    with styled():
        return list(_draw(of, stamp, "double"))


def _draw(of: Across, stamp: str, width: Width) -> Iterator[Drawing]:
    for name, measure in (("ratios-rps", RPS), ("ratios-cpu", CPU)):
        rows = [row for row in of.judged if row.measure == measure and row.ratio.ratio is not None]
        if rows:
            yield _forest(name, measure, rows, stamp, width)


def _forest(name: str, measure: str, rows: list[Judged], stamp: str, width: Width) -> Drawing:
    shown = rows[:ROWS_MAX]
    title = f"{measure}, new against base" + (f". {stamp}" if stamp else "")
    canvas = new_canvas(title, f"{measure} as a multiple of the base's", "", width)
    for place, row in enumerate(reversed(shown)):
        ratio = row.ratio
        if ratio.low is not None and ratio.high is not None:
            ends = [clipped(ratio.low), clipped(ratio.high)]
            canvas.axes.plot(ends, [place, place], color=PALETTE[0], linewidth=2)
        tip = f"{row.of.place}: {ratio.ratio:.3f} x, {row.verdict.word}"
        canvas.dots([clipped(ratio.ratio)], [place], [tip], color=PALETTE[0], marker="o")
    canvas.axes.axvline(1, color=INK, linewidth=0.6)
    row_names(canvas, [row.of.place for row in reversed(shown)])
    ends = [row.ratio for row in shown]
    ratio_axis(
        canvas,
        [1.0, *(end for one in ends for end in (one.low, one.ratio, one.high) if end is not None)],
    )
    sizes = sorted({(row.ratio.n_base, row.ratio.n_new) for row in shown})
    each = " or ".join(f"{base} + {new}" for base, new in sizes)
    caption = (
        f"{measure}, new against base. Dot: ratio of geometric means over boots; bar: its 95 %"
        " interval (Welch). A bar that crosses 1 does not tell which is greater; one that does not"
        " may be inconclusive once p is corrected."
    )
    if len(rows) > len(shown):
        caption += f" The first {len(shown)} of {len(rows)} places."
    return finish(canvas, name, caption, f"n = {each} boots a place (base + new)")
