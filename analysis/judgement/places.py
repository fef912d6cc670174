"""Where a claim is judged: the cells that it chooses, or the pairs of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Iterator

from analysis.cells.aggregate import Aggregate, Cell
from analysis.judgement.statements import Claim, Selection


@dataclass(frozen=True)
class Place:
    """One cell, or one divided by another."""

    of: Cell
    against: Cell | None = None

    @property
    def name(self) -> str:
        """By the cells' names."""
        other = f" against {self.against.variant}" if self.against else ""
        return f"{self.of.variant}{other}"

    @property
    def cells(self) -> list[Cell]:
        """The one or two."""
        return [self.of] if self.against is None else [self.of, self.against]


def places(claim: Claim, found: Aggregate) -> list[Place]:
    """In the order of the cells. Raises ValueError saying why where there are none."""
    axes = list(dict.fromkeys([*claim.of, *(claim.against or {}), *filter(None, [claim.along])]))
    for axis in axes:
        if axis not in found.factors:
            raise ValueError(f"`{axis}` is not among what varies here ({_list(found.factors)})")
    chosen = [_matching(found, claim.of)]
    if claim.against is not None:
        chosen.append(_matching(found, claim.against))
    _check_settings([cell for cells in chosen for cell in cells])
    if claim.along is not None:
        made = list(_steps(claim.along, chosen[0], found))
        if not made:
            raise ValueError(f"no two cells differ in `{claim.along}` alone")
        return made
    if claim.against is None:
        return [Place(cell) for cell in chosen[0]]
    made = list(_pairs(claim.of, claim.against, chosen[0], chosen[1], found))
    if not made:
        raise ValueError("no two cells differ in what `of` and `against` name alone")
    return made


def _list(names: Any) -> str:
    return ", ".join(map(str, names)) or "nothing"


def _matching(found: Aggregate, selection: Selection) -> list[Cell]:
    """The cells of these levels. Raises ValueError where there are none."""
    cells = [cell for cell in found.cells if _has(cell, selection, found)]
    for axis, level in selection.items():
        if not any(_same(level, seen) for seen in found.factors[axis]):
            seen = _list(found.factors[axis])
            raise ValueError(f"no cell has {axis} {level}; measured are {seen}")
    if not cells:
        where = _list(f"{axis} {level}" for axis, level in selection.items())
        raise ValueError(f"no cell has {where} together")
    return cells


def _has(cell: Cell, selection: Selection, found: Aggregate) -> bool:
    levels = dict(zip(found.factors, cell.levels))
    return all(_same(level, levels[axis]) for axis, level in selection.items())


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON has it: true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _check_settings(cells: list[Cell]) -> None:
    """What ran with several effective settings has no number of its own."""
    for one, other in itertools.combinations(cells, 2):
        if one is not other and one.levels == other.levels:
            raise ValueError(f"samples of {one.variant} ran with different effective settings")


def _pairs(
    of: Selection, against: Selection, left: list[Cell], right: list[Cell], found: Aggregate
) -> Iterator[Place]:
    """Every two cells that are equal in all axes but those that both selections name."""
    free = [axis for axis in found.factors if axis in of and axis in against]
    for one, other in itertools.product(left, right):
        if one is not other and _rest(one, free, found) == _rest(other, free, found):
            yield Place(one, other)


def _rest(cell: Cell, without: list[str], found: Aggregate) -> list[Any]:
    return [level for axis, level in zip(found.factors, cell.levels) if axis not in without]


def _steps(axis: str, cells: list[Cell], found: Aggregate) -> Iterator[Place]:
    """Each cell against the one before it along the axis, all else equal: numbers by size, names in
    the experiment's order."""
    at = list(found.factors).index(axis)
    levels = found.factors[axis]
    if all(isinstance(level, (int, float)) for level in levels):
        levels = sorted(levels)
    lines: dict[str, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: levels.index(cell.levels[at])):
        lines.setdefault(repr(_rest(cell, [axis], found)), []).append(cell)
    for line in lines.values():
        for before, after in itertools.pairwise(line):
            yield Place(after, before)
