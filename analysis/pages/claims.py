"""What the experiment claims, and what the run says of it."""

from __future__ import annotations

from analysis.cells.words import count, times
from analysis.judgement.claims import ClaimOutcome, Finding
from analysis.judgement.statements import Claim
from analysis.judgement.study import Study
from analysis.pages.blocks import Block, Table

TITLES = ["claim", "word", "measured, 95 % interval", "n", "judged", "why", "says"]
# Units with which a column's title may end.
UNITS = ("requests/s", "µs", "KiB", "MiB", "%")


def blocks(study: Study) -> list[Block]:
    """One part; none where the experiment claims nothing."""
    if not study.claims:
        return []
    return [
        Block(
            "Claims",
            [*_basis(study.claims), *_limited(study.claims)],
            Table(TITLES, [row(one) for one in study.claims], left=len(TITLES)),
        )
    ]


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


def _limited(outcomes: list[ClaimOutcome]) -> list[str]:
    """Claims about requests/s that rest on a server which was faster than its client."""
    lines = []
    for outcome in outcomes:
        if outcome.decisive is None or outcome.claim.metric.name != "rps":
            continue
        for cell in outcome.decisive.place.cells:
            boots = cell.values["client_saturated"].number
            if boots:
                lines.append(
                    f"{outcome.name}: in {boots:.0f} of {len(cell.valid)} boots of {cell.variant}"
                    " the client was at its limit, so that server may be faster than this."
                )
    return lines


def row(outcome: ClaimOutcome) -> list[str]:
    """A claim in a table of TITLES."""
    return [
        outcome.name,
        outcome.word,
        measured(outcome),
        outcome.n,
        outcome.claim.asks,
        outcome.why,
        outcome.claim.says or "the same",
    ]


def measured(outcome: ClaimOutcome) -> str:
    """The decisive place's number with its interval, e.g. "5.13 x (4.80 to 5.40)"."""
    one = outcome.decisive
    if one is None or one.number is None:
        return "n/a (see why)"
    unit = " x"
    if one.place.against is None:
        last = outcome.claim.metric.title.split()[-1]
        unit = f" {last}" if last in UNITS else ""
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
