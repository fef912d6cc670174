"""Many results in the order of time: each place's rate, against the result before and the first.

Where machine, kernel, governor, build options or what servers were given changed, a line is drawn:
no ratio is taken across it. Another revision of the client alone is marked and judged across:
results of several commits have each their own, and nothing else could be learned of them
(docs/decisions/client-revision.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Iterator, Sequence

from analysis.cells import matching, pairing
from analysis.cells.aggregate import Cell
from analysis.cells.matching import Matching
from analysis.cells.moment import moment
from analysis.inputs.load import Result
from analysis.judgement import refusals, verdicts
from analysis.judgement.across import independent
from analysis.judgement.difference import Refused
from analysis.judgement.study import Study
from analysis.judgement.verdicts import Verdict


@dataclass(frozen=True)
class Point:
    """One result at one place."""

    result: int  # its place among the results
    cell: Cell
    against_last: Verdict | str  # or why there is none
    against_first: Verdict | str
    client_since_last: bool = False  # whether another client made the load then
    client_since_first: bool = False


@dataclass(frozen=True)
class Series:
    """One place in all results that have it with a valid sample."""

    place: str
    points: list[Point]


@dataclass(frozen=True)
class History:
    """Results in the order of their first samples."""

    studies: list[Study]

    @cached_property
    def matching(self) -> Matching:
        """Which cells of all have the same settings."""
        return matching.match([study.found for study in self.studies])

    @cached_property
    def breaks(self) -> dict[int, str]:
        """What changed before a result, by its place: it is not comparable with those before."""
        found = {
            at: [one.what for one in changed if one.what != refusals.CLIENT_REVISION]
            for at, changed in self.changes.items()
        }
        return {at: ", ".join(dict.fromkeys(names)) for at, names in found.items() if names}

    @cached_property
    def other_clients(self) -> list[int]:
        """The places of results whose client is not that of the result before."""
        changes = self.changes.items()
        return [
            at
            for at, changed in changes
            if any(one.what == refusals.CLIENT_REVISION for one in changed)
        ]

    @cached_property
    def changes(self) -> dict[int, list[Refused]]:
        """What is not as in the result before, with the values of both."""
        results = [study.result for study in self.studies]
        return {
            at: refusals.between(results[at - 1], results[at]) for at in range(1, len(results))
        }

    @cached_property
    def series(self) -> list[Series]:
        """All places; all their ratios are judged together."""
        rows = [(row.place, _measured(row.cells)) for row in self.matching.rows]
        rows = [(place, cells) for place, cells in rows if cells]
        pairs = [pair for _, cells in rows for pair in self._pairs(cells)]
        apart = {_key(pair): pair for pair in pairs if not isinstance(pair, str)}
        ratios = [
            pairing.change(base, new, "rps_median", lambda sample: sample.rps, independent).ratio
            for base, new in apart.values()
        ]
        judged = dict(zip(apart, verdicts.judge(ratios, True)))
        words = iter([pair if isinstance(pair, str) else judged[_key(pair)] for pair in pairs])
        return [
            Series(place, [self._point(cells, number, words) for number in range(len(cells))])
            for place, cells in rows
        ]

    def _pairs(self, cells: Sequence[tuple[int, Cell]]) -> list[tuple[Cell, Cell] | str]:
        """(base, new) against the one before and against the first, of each cell in turn; or why
        there is none."""
        pairs: list[tuple[Cell, Cell] | str] = ["the first one", "the first one"]
        for (before, last), (at, cell) in zip(cells, cells[1:]):
            for since, base in ((before, last), cells[0]):
                why = self._changed(since, at)
                pairs.append(f"not comparable: {why}" if why else (base, cell))
        return pairs

    def _point(
        self, cells: Sequence[tuple[int, Cell]], number: int, words: Iterator[Verdict | str]
    ) -> Point:
        at, cell = cells[number]
        since = cells[max(number - 1, 0)][0], cells[0][0]
        clients = (any(one < other <= at for other in self.other_clients) for one in since)
        return Point(at, cell, next(words), next(words), *clients)

    def _changed(self, since: int, at: int) -> str | None:
        """What changed between two results, at the latest."""
        return next((self.breaks[one] for one in range(at, since, -1) if one in self.breaks), None)


def in_order(studies: Sequence[Study]) -> History:
    """Sorted by when they were measured, then by name; those that do not say come first."""
    return History(sorted(studies, key=lambda study: _when(study.result)))


def _when(result: Result) -> tuple[float, str]:
    return moment((result.measured or ("", ""))[0]), result.path.resolve().name


def _key(pair: tuple[Cell, Cell]) -> tuple[int, int]:
    """Of the second result the one before is the first, too: one ratio, judged once."""
    return id(pair[0]), id(pair[1])


def _measured(cells: Sequence[Cell | None]) -> list[tuple[int, Cell]]:
    return [(at, cell) for at, cell in enumerate(cells) if cell is not None and cell.valid]
