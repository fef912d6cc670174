"""A result with all that was concluded from it, worked out once and read by every page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from analysis.cells import pairing
from analysis.cells.aggregate import Aggregate, aggregate
from analysis.cells.pairing import Pair
from analysis.inputs.load import Result
from analysis.judgement import caveats
from analysis.judgement import claims
from analysis.judgement.caveats import Caveat
from analysis.judgement.claims import ClaimOutcome


@dataclass(frozen=True)
class Study:
    """One result and its aggregate; the rest is worked out when first asked for."""

    result: Result
    found: Aggregate

    @cached_property
    def caveats(self) -> list[Caveat]:
        """What speaks against the run."""
        return caveats.disqualifiers(self.result, self.found.cells)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Each variant against the first, place by place."""
        return pairing.pairs(self.found)

    @cached_property
    def claims(self) -> list[ClaimOutcome]:
        """What the experiment claims, judged by this run. Raises Refusal for a malformed claim."""
        return claims.evaluate(self.result, self.found)


def study(result: Result) -> Study:
    """Of a loaded result."""
    return Study(result, aggregate(result))
