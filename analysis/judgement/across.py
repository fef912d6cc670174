"""Two results beside each other: the cells that have the same settings, with a verdict for each.

The two were measured at different times, so no run of one is a neighbour of a run of the other: the
sides are independent, and the interval is Welch's over the boots of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from analysis.cells import matching, pairing
from analysis.cells.matching import Matching
from analysis.cells.pairing import Pair, Unpaired
from analysis.cells.words import some
from analysis.inputs.load import Result
from analysis.judgement import gates, judged, refusals
from analysis.judgement.calibration import Calibration, window_of
from analysis.judgement.caveats import Caveat
from analysis.judgement.difference import Refused
from analysis.judgement.gate import Gate
from analysis.judgement.gates import GateOutcome, Given
from analysis.judgement.identity import is_one_program
from analysis.judgement.judged import Judged
from analysis.judgement.study import Study
from analysis.statistics.effect import Ratio, ratio_of_means

SIDES = ("base", "new")
ONE_PROGRAM = "both sides are one program"
APART = (
    "measured at different times",
    "a slow phase of the host is in the ratio and not in the interval",
)


@dataclass(frozen=True)
class Across:
    """A new result against a base; the rest is worked out when first asked for."""

    base: Study
    new: Study
    asked: Gate | None = None  # by the new result's experiment or the command
    calibration: Calibration | None = None  # of an A/A run of the new result's host

    @property
    def result(self) -> Result:
        """The one that is judged."""
        return self.new.result

    @cached_property
    def matching(self) -> Matching:
        """Which cells of both have the same settings."""
        return matching.match([self.base.found, self.new.found])

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every place at which both have a cell."""
        return [
            pairing.pair(row.place, SIDES, *row.cells, independent)
            for row in self.matching.rows
            if all(row.cells)
        ]

    @cached_property
    def unpaired(self) -> list[Unpaired]:
        """Every place that one side alone has, or has several cells of."""
        several = {id(one.cell) for one in self.matching.unmatched}
        rows = [
            Unpaired(f"{one.cell.variant} of {SIDES[one.result]}", one.why)
            for one in self.matching.unmatched
        ]
        for row in self.matching.rows:
            for cell, other in zip(row.cells, reversed(SIDES)):
                if cell is not None and id(cell) not in several and not all(row.cells):
                    rows.append(Unpaired(row.place, f"{other} has no one cell of these settings"))
        return rows

    @cached_property
    def refused(self) -> list[Refused]:
        """Why the two do not compare, by the runs and by each pair's cells; empty where they do."""
        found = refusals.between(self.base.result, self.new.result)
        for pair in self.pairs:
            found += refusals.cells(pair.base, pair.new)
        return list(dict.fromkeys(found))

    @cached_property
    def doubts(self) -> list[Caveat]:
        """What to know before any word of the comparison, the weightiest first."""
        found, results = [Caveat(*APART)], (self.base.result, self.new.result)
        windows = [window_of(result.effective) for result in results]
        for name in windows[0]:
            base, new = (window[name] for window in windows)
            if base != new:
                detail = f"base {base or 'n/a (not stated)'}, new {new or 'n/a (not stated)'}"
                found.append(Caveat(f"another {name}", detail))
        if is_one_program(*results):
            others = [one.what for one in (*self.refused, *found[1:])]
            found.insert(0, Caveat(ONE_PROGRAM, _besides(others)))
        return found

    @cached_property
    def judged(self) -> list[Judged]:
        """Requests/s and CPU per request of each pair, all judged together."""
        return judged.of_pairs(self.pairs)

    @cached_property
    def gate(self) -> GateOutcome:
        """What the gate says; the usual one, for information, where nobody asked for one."""
        valid = bool(self.base.result.valid and self.new.result.valid)
        window = window_of(self.new.result.effective)
        given = Given(self.pairs, self.unpaired, self.calibration, valid, window=window)
        return gates.judge(given, self.asked)


def _besides(others: list[str]) -> str:
    """What differs where the program does not."""
    if not others:
        return "what differs is the host and the time"
    return f"what differs besides the host and the time: {some(list(dict.fromkeys(others)))}"


def independent(new: dict[int | str, float], base: dict[int | str, float]) -> Ratio:
    """Of sides that share nothing, though runs of both have the same numbers."""
    return ratio_of_means(list(new.values()), list(base.values()))
