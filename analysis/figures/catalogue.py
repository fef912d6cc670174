"""Every figure of a report, each with the number of samples on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Sequence

from analysis.figures import cpu, forest, heat, latency, load, order, rates, residuals, timelines
from analysis.figures import writes
from analysis.figures.canvas import Drawing
from analysis.figures.style import Width, styled
from analysis.judgement.study import Study

Figure = Callable[[Study, Width], Iterator[Drawing]]
FIGURES: list[Figure] = [
    rates.draw,
    forest.draw,
    latency.draw,
    heat.draw,
    writes.draw,
    load.draw,
    cpu.draw,
    timelines.draw,
    order.draw,
    residuals.draw,
]


def draw_all(
    study: Study, widths: Sequence[Width] = ("single", "double"), figures: Sequence[Figure] = ()
) -> list[Drawing]:
    """Every figure for which there are valid samples, in each width; those of one width together,
    in the order of FIGURES; `figures` are drawn alone, if any are given. In one width no name
    stands twice."""
    if not study.result.valid:
        return []
    with styled():
        return [
            drawing
            for width in widths
            for drawing in _apart(
                [one for draw in figures or FIGURES for one in draw(study, width)]
            )
        ]


def _apart(drawings: list[Drawing]) -> list[Drawing]:
    """With a number behind each name that stood before: levels may differ in what a name drops."""
    names = {one.name for one in drawings}
    taken: set[str] = set()
    found = []
    for drawing in drawings:
        name, number = drawing.name, 1
        while name in taken or (number > 1 and name in names):
            number += 1
            name = f"{drawing.name}-{number}"
        taken.add(name)
        found.append(replace(drawing, name=name))
    return found
