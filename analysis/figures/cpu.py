"""CPU per request, stacked by what it went to.

Of a kernel stack that sleeps: user, system and softirq, whose sum is `os_cpu_us_per_request`. Of
one that polls: turns that moved something and turns that did not, whose sum is
`core_us_per_request`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

import numpy as np

from analysis.cells.aggregate import Cell
from analysis.cells.labels import short
from analysis.cells.pairing import KERNEL_STACKS
from analysis.figures.axes import row_names
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import note
from analysis.figures.style import INK, NOTE_POINTS, PALETTE, PAPER, Width
from analysis.inputs.load import Sample
from analysis.judgement.study import Study

ROWS_MAX = 60
# What CPU time goes to, with its colour and its hatching, which tells them apart in grey.
PARTS = {
    "user": (PALETTE[0], ""),
    "system": (PALETTE[1], "////"),
    "softirq": (PALETTE[4], "...."),
    "busy poll": (PALETTE[2], ""),
    "empty poll": (PALETTE[5], "\\\\\\\\"),
}


@dataclass(frozen=True)
class Split:
    """One sample's CPU time per request in µs, by what it went to."""

    sample: Sample
    parts: dict[str, float]

    @property
    def total(self) -> float:
        return sum(self.parts.values())


def split(sample: Sample) -> Split | None:
    """Of a valid sample; None where it does not know all that is needed."""
    polls = not _sleeps(sample)
    parts = _of_polling(sample) if polls else _of_kernel(sample)
    return None if parts is None else Split(sample, parts)


def _sleeps(sample: Sample) -> bool:
    """Whether it is a kernel stack's that waits in the kernel."""
    stack = str(sample.cell.get("stack")).split(",")[0].split("@")[0]
    return stack in KERNEL_STACKS and sample.cell.get("wait") != "spin"


def _of_kernel(sample: Sample) -> dict[str, float] | None:
    """Where softirq time was charged to the process as well, its system time is what is left of
    the whole."""
    names = ("user_us", "system_us", "softirq_us", "requests", "os_cpu_us_per_request")
    user, system, softirq, requests, whole = (sample.find("server", name)[0] for name in names)
    if None in (user, system, softirq, whole) or not requests:
        return None
    soft = min(softirq / requests, whole)
    of_user = min(user / requests, whole - soft)
    return {"user": of_user, "system": whole - soft - of_user, "softirq": soft}


def _of_polling(sample: Sample) -> dict[str, float] | None:
    busy, core = (
        sample.find("server", f"{name}_us_per_request")[0] for name in ("busy", "core")
    )
    if busy is None or core is None:
        return None
    return {"busy poll": busy, "empty poll": max(0.0, core - busy)}


def draw(study: Study, width: Width) -> Iterator[Drawing]:
    """One row a cell: bars of means over samples, which add up, and each sample's sum a dot."""
    found = study.found
    rows = [(cell, [one for one in map(split, cell.valid) if one]) for cell in found.cells]
    unknown = sum(bool(cell.valid) and not splits for cell, splits in rows)
    rows = [(cell, splits) for cell, splits in rows if splits][::-1]
    if not 0 < len(rows) <= ROWS_MAX:
        return
    canvas = new_canvas("CPU time per request", "server CPU per request (µs)", "", width)
    _bars(canvas, rows)
    for y, (cell, splits) in enumerate(rows):
        _dots(canvas, y, cell, splits)
    names = [
        " ".join(short(name, cell.settings[name], levels) for name, levels in found.factors.items())
        for cell, _ in rows
    ]
    row_names(canvas, [name or "all" for name in names])
    most = max(one.total for _, splits in rows for one in splits)
    canvas.axes.set_xlim(0, 1.2 * most)
    caption = (
        "Bars and numbers: means over samples; dots: each sample's sum. Sleeping kernel stacks:"
        " user, system and softirq time (OS CPU); polling stacks: turns that moved"
        " something and turns that did not (cores held x wall). The two sums are different meanings"
        " of CPU: compare parts, not sums, across them. System time is without softirq time that the kernel charged to it, too."
    )
    caption += f" Not known in {unknown} cells." if unknown else ""
    yield finish(canvas, "cpu-per-request", caption, note(study.result, [cell for cell, _ in rows]))


def _bars(canvas: Canvas, rows: list[tuple[Cell, list[Split]]]) -> None:
    lefts = np.zeros(len(rows))
    for part, (color, hatch) in PARTS.items():
        widths = np.array(
            [np.mean([one.parts.get(part, 0.0) for one in splits]) for _, splits in rows]
        )
        if not widths.any():
            continue
        canvas.axes.barh(
            range(len(rows)),
            widths,
            height=0.62,
            left=lefts,
            label=part,
            color=color,
            hatch=hatch,
            edgecolor=PAPER,
            linewidth=0.4,
        )
        lefts += widths


def _dots(canvas: Canvas, y: int, cell: Cell, splits: list[Split]) -> None:
    """The samples' sums, on top of the bar, one above the other, and their mean in digits."""
    tips = [
        f"{cell.variant}\n{one.sample.sample_id}: {one.total:,.3f} µs\n"
        + ", ".join(f"{part} {value:,.3f}" for part, value in one.parts.items())
        for one in splits
    ]
    ys = y + np.linspace(-0.2, 0.2, len(splits)) if len(splits) > 1 else [y]
    look = {"color": INK, "marker": "o", "markersize": 2.2, "markerfacecolor": PAPER}
    totals = [one.total for one in splits]
    canvas.dots(totals, ys, tips, **(look | {"markeredgewidth": 0.6}))
    canvas.axes.annotate(
        f"{np.mean(totals):.3g}",
        (max(totals), y),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=NOTE_POINTS,
    )
