"""What the experiment claims, and what the run says of it."""

from __future__ import annotations

from analysis.cells.words import count, times
from analysis.judgement.claims import ClaimOutcome, Finding
from analysis.judgement.statements import Claim
from analysis.judgement.study import Study
from analysis.pages.blocks import Block, Table

TITLES = ["claim", "says", "word", "measured, 95 % interval", "n", "why"]


def blocks(study: Study) -> list[Block]:
    """One part; none where the experiment claims nothing."""
    if not study.claims:
        return []
    return [
        Block(
            "Claims",
            [*_judged(study.claims), *_basis(study.claims)],
            Table(TITLES, [row(one) for one in study.claims], left=len(TITLES)),
        )
    ]


def _judged(outcomes: list[ClaimOutcome]) -> list[str]:
    """What is judged, where the experiment says it in words of its own."""
    return [f"{one.name} is judged as: {one.claim.asks}" for one in outcomes if one.claim.says]


def _basis(outcomes: list[ClaimOutcome]) -> list[str]:
    """What the words mean."""
    lines = [
        (
            f"{count(len(outcomes), 'claim')}, stated before the run, each judged by itself; the"
            " interval and n, the boots' runs, are those of the place that decides. Supported: the"
            " whole interval of every place lies where the claim says. Contradicted: that of at"
            " least one lies wholly beyond, after Holm's correction for all places of the claim."
        )
    ]
    if any(one.claim.metric.percentile for one in outcomes):
        lines.append(
            "A percentile's number is of the merged histograms; its interval is of the boots' own"
            " percentiles, and decides only where both agree."
        )
    return lines


def row(outcome: ClaimOutcome) -> list[str]:
    """A claim in a table of TITLES."""
    return [
        outcome.name,
        outcome.says,
        outcome.word,
        measured(outcome),
        outcome.n,
        outcome.why,
    ]


def measured(outcome: ClaimOutcome) -> str:
    """The decisive place's number with its interval, e.g. "5.13 x (4.80 to 5.40)"."""
    one = outcome.decisive
    if one is None or one.number is None:
        return "n/a (see why)"
    unit = "" if one.place.against is None else " x"
    return f"{_shown(outcome.claim, one, one.number)}{unit} ({_interval(outcome.claim, one)})"


def _interval(claim: Claim, one: Finding) -> str:
    if one.low is None or one.high is None:
        return "no interval"
    if one.low == one.high:
        return "the same of every boot"
    return f"{_shown(claim, one, one.low)} to {_shown(claim, one, one.high)}"


def _shown(claim: Claim, one: Finding, number: float) -> str:
    """A ratio to three digits; a cell's own number with those of its column."""
    return times(number) if one.place.against else claim.metric.show(number)
