"""Each claim of an experiment against its numbers: supported, contradicted or undecided.

A place of a claim is one cell, or a pair of cells. Its number is judged by the 95 % interval over
boots: wholly between the bounds it speaks for the claim, wholly beyond one of them against it.

A claim says something of all its places at once. So it is supported if every place is, each at its
own level: where the claim is false, at least one place makes it so, and that one passes with no
more than its own chance of error, however many stand beside it (the intersection-union test,
Berger 1982). It is contradicted if a single place is; but among many true places some fail by
chance, so for that the places' p values are corrected for their number (the union-intersection
principle, Roy 1953, with Holm's correction).

A percentile is shown as the merged histograms have it. Its interval can only come from boots, and
is of each boot's own percentile; where the merged histograms lie on the other side of a bound than
that interval, the claim is undecided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from analysis.cells import words
from analysis.cells.aggregate import Aggregate
from analysis.inputs.load import Result
from analysis.judgement.places import Place, places
from analysis.judgement.statements import Claim, read
from analysis.judgement.verdicts import ALPHA
from analysis.statistics.effect import BLOCKS_MIN, Ratio, compare
from analysis.statistics.holm import holm

SUPPORTED, CONTRADICTED, UNDECIDED = "supported", "contradicted", "undecided"
# Logarithms are compared at so many decimals, so that a number that is the bound meets it.
DECIMALS = 9


@dataclass(frozen=True)
class Finding:
    """What one place says of a claim. A bound on one cell has its numbers in the metric's unit, a
    comparison as ratios."""

    place: Place
    word: str
    why: str
    number: float | None = None  # as the tables have it where it is a percentile
    low: float | None = None  # of the 95 % interval over boots
    high: float | None = None
    n: str = "0"  # blocks: "3", or "3 + 3" where the two sides share none
    p: float = 1.0  # that the claim holds here, before correction


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim with its word; `decisive` is the place on which the word rests, None where the claim
    chooses nothing that was measured."""

    claim: Claim
    word: str
    why: str
    findings: list[Finding]
    decisive: Finding | None = None

    @property
    def name(self) -> str:
        """The claim's own."""
        return self.claim.name

    @property
    def says(self) -> str:
        """In the experiment's words, or what is judged where it has none."""
        return self.claim.says or self.claim.asks

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the decisive place; None where that has none."""
        one = self.decisive
        if one is None or one.low is None or one.high is None:
            return None
        return one.low, one.high

    @property
    def n(self) -> str:
        """Blocks of the decisive place."""
        return "0" if self.decisive is None else self.decisive.n


def evaluate(result: Result, found: Aggregate) -> list[ClaimOutcome]:
    """Every claim of the experiment as it ran. Raises Refusal for one that cannot be read."""
    return [outcome(claim, found) for claim in read(result.effective, result.path)]


def outcome(claim: Claim, found: Aggregate) -> ClaimOutcome:
    """One claim against one aggregate, be it of the experiment that states it or of a later one."""
    try:
        where = places(claim, found)
    except ValueError as error:
        return ClaimOutcome(claim, UNDECIDED, str(error), [])
    findings = _corrected([_finding(claim, place) for place in where])
    ranks = [CONTRADICTED, UNDECIDED, SUPPORTED]
    decisive = min(
        findings, key=lambda one: (ranks.index(one.word), one.p, _slack(claim, one))
    )
    alike = sum(one.word == decisive.word for one in findings)
    share = f" ({alike} of {len(findings)} {decisive.word})" if len(findings) > 1 else ""
    why = f"{decisive.place.name}: {decisive.why}{share}"
    return ClaimOutcome(claim, decisive.word, why, findings, decisive)


# One place


def _finding(claim: Claim, place: Place) -> Finding:
    """By its own interval; what contradicts is still to be corrected for its neighbours."""
    for cell in place.cells:
        value = cell.values[claim.metric.column]
        if value.number is None:
            return Finding(place, UNDECIDED, f"not known of {cell.variant}: {value.reason}")
    of = place.of.by_block(claim.metric.of)
    # A cell by itself is judged as its ratio to 1 in the metric's unit.
    against = (
        place.against.by_block(claim.metric.of) if place.against else dict.fromkeys(of, 1.0)
    )
    if min(*of.values(), *against.values()) <= 0:
        return Finding(place, UNDECIDED, "a boot has 0, which has no ratio to anything")
    ratio = compare(of, against)
    known = Finding(place, UNDECIDED, "", _number(claim, place, ratio), n=_blocks(place, ratio))
    if not _varies(ratio):
        if not claim.metric.counted or min(ratio.n_new, ratio.n_base) < BLOCKS_MIN:
            why = ratio.reason or "the samples do not vary"
            return replace(known, why=f"no interval: {why}")
        known = replace(known, low=ratio.ratio, high=ratio.ratio)
    else:
        known = replace(known, low=ratio.low, high=ratio.high)
    return _judged(claim, known, of, against)


def _varies(ratio: Ratio) -> bool:
    """Whether there is an interval of more than a rounding's width."""
    if ratio.low is None or ratio.high is None:
        return False
    return round(math.log(ratio.high / ratio.low), DECIMALS) > 0


def _number(claim: Claim, place: Place, ratio: Ratio) -> float:
    """The geometric mean over boots; a percentile's as the merged histograms have it."""
    if not claim.metric.percentile:
        return ratio.ratio
    of, *against = [cell.known(claim.metric.column) for cell in place.cells]
    return of / against[0] if against else of


def _blocks(place: Place, ratio: Ratio) -> str:
    if ratio.blocks or place.against is None:
        return str(ratio.blocks or ratio.n_new)
    return f"{ratio.n_new} + {ratio.n_base}"


def _judged(
    claim: Claim, known: Finding, of: dict[int | str, float], against: dict[int | str, float]
) -> Finding:
    """A place with an interval."""
    subject = "every boot's number" if known.low == known.high else "the whole interval"
    beyond = _bound_beyond(claim, known)
    if beyond is not None:
        p = _p_of_bound(of, against, beyond)
        why = f"{subject} is beyond what is claimed, {claim.bounds}"
        finding = replace(known, word=CONTRADICTED, why=why, p=p)
    elif _is_inside(claim, _slack(claim, known)):
        finding = replace(known, word=SUPPORTED, why=f"{subject} is {claim.bounds}")
    else:
        finding = replace(known, why=f"the interval is only in part {claim.bounds}")
    return _with_merged(claim, finding) if claim.metric.percentile else finding


def _bound_beyond(claim: Claim, one: Finding) -> float | None:
    """The bound that the whole interval lies beyond, if there is one."""
    assert one.low is not None and one.high is not None
    for bound, end, sign in ((claim.at_least, one.high, 1), (claim.at_most, one.low, -1)):
        if bound is not None and _is_beyond(claim, _distance(end, bound, sign)):
            return bound
    return None


def _distance(number: float, bound: float, sign: int) -> float:
    """How far, in logarithms, the number lies on the right side of a bound."""
    return round(sign * math.log(number / bound), DECIMALS)


def _is_inside(claim: Claim, slack: float) -> bool:
    return not _is_beyond(claim, slack)


def _is_beyond(claim: Claim, distance: float) -> bool:
    return distance < 0 or (distance == 0 and claim.strict)


def _slack(claim: Claim, one: Finding) -> float:
    """How far the interval's nearest end lies inside the bounds; what has no interval comes before
    all others."""
    if one.low is None or one.high is None:
        return -math.inf
    ends = []
    if claim.at_least is not None:
        ends.append(_distance(one.low, claim.at_least, 1))
    if claim.at_most is not None:
        ends.append(_distance(one.high, claim.at_most, -1))
    return min(ends)


def _p_of_bound(
    of: dict[int | str, float], against: dict[int | str, float], bound: float
) -> float:
    """Two-sided, of the hypothesis that the ratio is the bound: below 0.05 exactly where the 95 %
    interval excludes it. 0 where exact counts do."""
    scaled = compare({block: number / bound for block, number in of.items()}, against)
    return 0.0 if scaled.p is None else scaled.p


def _with_merged(claim: Claim, one: Finding) -> Finding:
    """Undecided where the merged histograms do not say the same as the boots' interval."""
    at = replace(one, low=one.number, high=one.number)
    inside = _is_inside(claim, _slack(claim, at))
    if one.word == UNDECIDED or inside == (one.word == SUPPORTED):
        return one
    why = f"{one.why}, but the merged histograms' value, {words.times(one.number or 0)}, does not"
    return replace(one, word=UNDECIDED, why=why, p=1.0)


# All places of a claim


def _corrected(findings: list[Finding]) -> list[Finding]:
    """What contradicts, corrected for all places that have an interval."""
    known = [one for one in findings if one.low is not None]
    adjusted = iter(holm([one.p for one in known]))
    made = []
    for one in findings:
        p = 1.0 if one.low is None else next(adjusted)
        if one.word == CONTRADICTED:
            family = f" after correction for {len(known)}" if len(known) > 1 else ""
            shown = f"p {'< 1e-6' if p < 1e-6 else f'= {p:.2g}'}{family}"
            sure = p <= ALPHA
            made.append(
                replace(
                    one,
                    word=CONTRADICTED if sure else UNDECIDED,
                    why=f"{one.why}{'' if sure else ', but not surely'} ({shown})",
                )
            )
        else:
            made.append(one)
    return made
