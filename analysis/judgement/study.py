"""A result with all that was concluded from it, worked out once and read by every page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from analysis.cells import pairing
from analysis.cells.aggregate import Aggregate, aggregate
from analysis.cells.pairing import Pair, Unpaired
from analysis.inputs.documents import Refusal
from analysis.inputs.load import Result
from analysis.judgement import calibration, calibration_file, caveats, claims, gate, gates, judged
from analysis.judgement import refusals
from analysis.judgement.calibration import Calibration
from analysis.judgement.caveats import Caveat
from analysis.judgement.claims import ClaimOutcome
from analysis.judgement.gate import Gate
from analysis.judgement.gates import GateOutcome, Given
from analysis.judgement.judged import Judged
from analysis.judgement.grid import Grid, grid


@dataclass(frozen=True)
class Study:
    """One result and its aggregate; the rest is worked out when first asked for."""

    result: Result
    found: Aggregate
    asked: Gate | None = None  # by the experiment or the command
    adopted: Calibration | None = None  # of an A/A run of the same host

    @cached_property
    def caveats(self) -> list[Caveat]:
        """What speaks against the run."""
        apart = [Caveat("not comparable", sentence) for sentence in self.refused]
        return apart + caveats.disqualifiers(self.result, self.found.cells)

    @cached_property
    def refused(self) -> list[str]:
        """Why variants of the run do not compare, in sentences; empty where they do."""
        return refusals.of_pairs(self.result, self.pairs)

    @cached_property
    def rates(self) -> Grid | None:
        """The model of requests/s over the factors that vary."""
        return grid(self.found, lambda sample: sample.rps)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Each variant against the first, place by place."""
        return pairing.pairs(self.found)

    @cached_property
    def unpaired(self) -> list[Unpaired]:
        """Places of a run of variants that are in no pair and ought to be."""
        return pairing.unpaired(self.result, self.found)

    @cached_property
    def claims(self) -> list[ClaimOutcome]:
        """What the experiment claims, judged by this run. Raises Refusal for a malformed claim."""
        return claims.evaluate(self.result, self.found)

    @cached_property
    def no_a_a(self) -> str | None:
        """Why it is no A/A run; None where it is one."""
        return calibration.why_not(self.result, self.pairs)

    @cached_property
    def calibration(self) -> Calibration | None:
        """Its own, where it is an A/A run, else the adopted one."""
        if self.no_a_a is None:
            return calibration.of(self.result, self.pairs)
        return self.adopted

    @cached_property
    def judged(self) -> list[Judged]:
        """A verdict for each comparison: of the variants where there are some, else of each
        factor's levels. All that there are, of all factors, are judged together, and every page,
        table and figure has its words from here."""
        return judged.of_pairs(self.pairs) or judged.of_factors(self.found)

    @cached_property
    def false_alarms(self) -> list[Judged]:
        """What an A/A run calls better or worse, where nothing can be; none of another run."""
        return judged.told(self.judged) if self.no_a_a is None else []

    @cached_property
    def gate(self) -> GateOutcome:
        """What the gate says; the usual one, for information, where nobody asked for one."""
        valid, window = bool(self.result.valid), calibration.window_of(self.result.effective)
        given = Given(
            self.pairs, self.unpaired, self.calibration, valid, self.refused, window
        )
        return gates.judge(given, self.asked)


def study(
    result: Result, gate_kind: str | None = None, calibrated: Path | None = None
) -> Study:
    """Of a loaded result, judged by the gate of its experiment or by the kind that a command asks
    for, and by its own calibration, the one at `calibrated`, or one that is found (see adopt).
    Raises Refusal where gate or calibration are none."""
    whole = Study(result, aggregate(result), gate.asked(result.effective, gate_kind))
    if whole.no_a_a is not None:
        return replace(whole, adopted=calibration_file.adopt(result, calibrated))
    if calibrated is not None:
        raise Refusal(calibrated, "is not wanted: the result is an A/A run, its own calibration")
    return whole
