"""Cells of several results beside each other: those that ran with the same settings.

Settings that a whole result does not state, as earlier ones do not state all, are no part of the
match, and are named, so that nobody takes them for equal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Sequence

from analysis.cells import words
from analysis.cells.aggregate import Aggregate, Cell


@dataclass(frozen=True)
class Unmatched:
    """A cell of one result that has no counterpart."""

    result: int  # its place among the results
    cell: Cell
    why: str


@dataclass(frozen=True)
class Row:
    """One place: a cell of each result, None where a result has none there."""

    place: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Matching:
    """All places in the order of the first result that has them; `unstated` are the settings that
    some result does not state."""

    rows: list[Row]
    unmatched: list[Unmatched]
    unstated: list[str]


def match(results: Sequence[Aggregate]) -> Matching:
    """By all settings that every result states. A result with several cells at one place has none
    there: which of them would be meant is not known."""
    stated = [_stated(found) for found in results]
    names = [name for name in stated[0] if all(name in others for others in stated)]
    unstated = sorted(set().union(*stated) - set(names))
    groups = [_grouped(found, names) for found in results]
    keys = list(dict.fromkeys(key for group in groups for key in group))
    rows, unmatched = [], []
    for key in keys:
        found = [group.get(key, []) for group in groups]
        unmatched += _several(found)
        cells = tuple(one[0] if len(one) == 1 else None for one in found)
        if any(cells):
            rows.append((next(cell for cell in cells if cell), cells))
    telling = _telling(names, [cell for cell, _ in rows])
    places = [Row(_place(cell, telling), cells) for cell, cells in rows]
    return Matching(places, unmatched, unstated)


def _stated(found: Aggregate) -> list[str]:
    return list(dict.fromkeys(name for cell in found.cells for name in cell.settings))


def _grouped(found: Aggregate, names: Sequence[str]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in found.cells:
        key = json.dumps([cell.settings.get(name) for name in names])
        groups.setdefault(key, []).append(cell)
    return groups


def _several(found: Sequence[Sequence[Cell]]) -> list[Unmatched]:
    """The cells of results that have more than one at a place."""
    return [
        Unmatched(place, cell, f"{len(cells)} cells have the settings that all results state")
        for place, cells in enumerate(found)
        if len(cells) > 1
        for cell in cells
    ]


def _telling(names: Sequence[str], cells: Sequence[Cell]) -> list[str]:
    """Settings that tell the cells apart, the scenario first: without those that vary only with
    what was told before them."""
    found: list[str] = []
    parts = 1
    for name in sorted(names, key=lambda name: name != "scenario"):
        tried = len({tuple(_plain(cell, one) for one in (*found, name)) for cell in cells})
        if tried > parts:
            found, parts = [*found, name], tried
    return found


def _plain(cell: Cell, name: str) -> str:
    return json.dumps(cell.settings.get(name))


def _place(cell: Cell, telling: Sequence[str]) -> str:
    """The scenario's name and each other setting that varies."""
    told = (_told(name, cell.settings.get(name)) for name in telling)
    return ", ".join(text for text in told if text) or "all"


def _told(name: str, level: Any) -> str:
    if level is None:
        return ""
    return str(level) if name == "scenario" else words.describe(name, level)
