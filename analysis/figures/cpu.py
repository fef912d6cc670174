"""CPU per request, stacked by what it went to.

Of a kernel stack that sleeps: user, system and softirq, whose sum is `os_cpu_us_per_request`. Of
one that polls: turns that moved something and turns that did not, whose sum is
`core_us_per_request`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Iterator

import numpy as np
from matplotlib.patches import Rectangle

from analysis.cells.aggregate import Aggregate, Cell
from analysis.cells.labels import short
from analysis.cells.pairing import KERNEL_STACKS
from analysis.figures.axes import row_names
from analysis.figures.canvas import Canvas, Drawing, finish, new_canvas
from analysis.figures.series import note
from analysis.figures.style import INK, NOTE_POINTS, PALETTE, PAPER, Width
from analysis.inputs.load import Sample
from analysis.judgement.study import Study

ROWS_MAX = 60
OF_KERNEL = "server CPU per request (µs): user, system, softirq"
OF_POLLING = "server CPU per request (µs): turns of polling"
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


Row = tuple[Cell, list[Split]]


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
    """A panel for each meaning of CPU, in which a row is a cell: its bar the sample in the middle,
    part by part, and each sample's sum a dot."""
    rows = [(cell, [one for one in map(split, cell.valid) if one]) for cell in study.found.cells]
    unknown = sum(bool(cell.valid) and not splits for cell, splits in rows)
    rows = [(cell, splits) for cell, splits in rows if splits][::-1]
    if not 0 < len(rows) <= ROWS_MAX:
        return
    meanings = {
        OF_KERNEL: [row for row in rows if _sleeps(row[1][0].sample)],
        OF_POLLING: [row for row in rows if not _sleeps(row[1][0].sample)],
    }
    meanings = {label: own for label, own in meanings.items() if own}
    canvas = new_canvas("CPU time per request", "", "", width)
    panels = _panels(canvas, [len(own) for own in meanings.values()])
    for panel, (label, own) in zip(panels, meanings.items()):
        _panel(panel, label, own, study.found)
    _legend(canvas, rows)
    canvas.height_inches = sum(panel.height_inches for panel in panels)
    yield finish(canvas, "cpu-per-request", _caption(unknown), note(study.result, _cells(rows)))


def _cells(rows: list[Row]) -> list[Cell]:
    return [cell for cell, _ in rows]


def _caption(unknown: int) -> str:
    caption = (
        "Bars and numbers: the median over samples, as the tables have it, by the parts of the"
        " sample in the middle, or half way between the two there; dots: each sample's sum."
        " Sleeping kernel stacks: user, system and softirq time (OS CPU), system time without"
        " softirq time that the kernel charged to it, too. Polling stacks: turns that moved"
        " something and turns that did not (cores held x wall). These are different meanings of"
        " CPU, each in a panel and on an axis of its own: compare parts, not sums, across them."
    )
    return caption + (f" Not known in {unknown} cells." if unknown else "")


def _panels(canvas: Canvas, rows: list[int]) -> list[Canvas]:
    """One above the other, as high as their rows need; the first is the canvas' own."""
    canvas.axes.remove()
    ratios = {"height_ratios": [2 + count for count in rows]}
    grid = canvas.figure.subplots(len(rows), 1, squeeze=False, gridspec_kw=ratios)
    canvas.axes = grid[0][0]
    return [replace(canvas, axes=axes) for axes in grid[:, 0]]


def _panel(canvas: Canvas, label: str, rows: list[Row], found: Aggregate) -> None:
    _bars(canvas, rows)
    for y, (cell, splits) in enumerate(rows):
        _dots(canvas, y, cell, splits)
    row_names(canvas, [_name(cell, found) for cell, _ in rows])
    most = max(one.total for _, splits in rows for one in splits)
    canvas.axes.set_xlim(0, 1.2 * most or 1.0)
    canvas.axes.set_xlabel(label, loc="right")


def _name(cell: Cell, found: Aggregate) -> str:
    levels = found.factors.items()
    return " ".join(short(name, cell.settings[name], all_of) for name, all_of in levels) or "all"


def _legend(canvas: Canvas, rows: list[Row]) -> None:
    """Of the parts that any panel has, in the first."""
    for part, look in PARTS.items():
        if any(one.parts.get(part) for _, splits in rows for one in splits):
            canvas.axes.add_patch(Rectangle((0, 0), 0, 0, label=part, **_look(look)))


def _look(look: tuple[str, str]) -> dict[str, Any]:
    color, hatch = look
    return {"facecolor": color, "hatch": hatch, "edgecolor": PAPER, "linewidth": 0.4}


def middle(splits: list[Split]) -> dict[str, float]:
    """Parts in µs whose sum is the median of the samples' sums: those of the sample in the middle,
    or half way between the two there."""
    ordered = sorted(splits, key=lambda one: one.total)
    low, high = ordered[(len(ordered) - 1) // 2].parts, ordered[len(ordered) // 2].parts
    return {part: (low[part] + high[part]) / 2 for part in low}


def _bars(canvas: Canvas, rows: list[Row]) -> None:
    lefts = np.zeros(len(rows))
    parts = [middle(splits) for _, splits in rows]
    for part, look in PARTS.items():
        widths = np.array([one.get(part, 0.0) for one in parts])
        if widths.any():
            canvas.axes.barh(range(len(rows)), widths, height=0.62, left=lefts, **_look(look))
        lefts += widths


def _dots(canvas: Canvas, y: int, cell: Cell, splits: list[Split]) -> None:
    """The samples' sums, on top of the bar, one above the other, and their median in digits."""
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
        f"{np.median(totals):.3g}",
        (max(totals), y),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=NOTE_POINTS,
    )
