"""Every figure of a report, each with the number of samples on it."""

from __future__ import annotations

import multiprocessing
import os
import signal
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
    tasks = [(draw, width) for width in widths for draw in figures or FIGURES]
    drawn = _side_by_side(study, tasks)
    return [
        drawing
        for width in widths
        for drawing in _apart(
            [one for (_, of), made in zip(tasks, drawn) if of == width for one in made]
        )
    ]


# What the processes that draw were forked with: a study is too large to be handed to them.
_drawn_of: list[Study] = []


def _side_by_side(study: Study, tasks: list[tuple[Figure, Width]]) -> list[list[Drawing]]:
    """The drawings of each task, made by as many processes as there are CPUs to run on."""
    _drawn_of[:] = [study]
    workers = min(len(os.sched_getaffinity(0)), len(tasks))
    if workers < 2:
        return [_draw(task) for task in tasks]
    study.judged  # worked out once, not by each of them
    with multiprocessing.get_context("fork").Pool(workers, _begin) as pool:
        drawn = pool.map(_draw, tasks, chunksize=1)
        pool.close()
        pool.join()  # they hold the lock of the directory, too
    return drawn


def _begin() -> None:
    """In a process that draws: it is its parent who is interrupted, and ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _draw(task: tuple[Figure, Width]) -> list[Drawing]:
    draw, width = task
    with styled():
        return list(draw(_drawn_of[0], width))


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
