"""An earlier result's claims beside what a later one says of them."""

from __future__ import annotations

from collections import Counter

from analysis.cells.words import count, ends_of, sample_size, times
from analysis.inputs.load import Result
from analysis.judgement import refusals
from analysis.judgement.claims import ClaimOutcome, UNDECIDED
from analysis.judgement.reproduction import NOT_REPRODUCED, REPRODUCED, Reproduced
from analysis.judgement.verdicts import Verdict
from analysis.pages.blocks import Block, Table
from analysis.pages.claims import measured

TITLES = ["claim", "then", "measured then", "now", "measured now", "word", "why"]
WORDS = (REPRODUCED, NOT_REPRODUCED, UNDECIDED)


def blocks(old: Result, new: Result, found: list[Reproduced], stated: bool) -> list[Block]:
    """The claims, and what else is not as it was; `stated` says whether they are claims and not
    verdicts."""
    return [
        Block("Reproduction", [*_counts(found), *_basis(found, stated)], _table(found)),
        Block("Not as it was", _changed(old, new)),
    ]


def _counts(found: list[Reproduced]) -> list[str]:
    fallen = Counter(one.word for one in found)
    words = ", ".join(f"{fallen[word]} {word}" for word in WORDS if fallen[word])
    return [f"Of {count(len(found), 'claim')}: {words}."] if found else []


def _basis(found: list[Reproduced], stated: bool) -> list[str]:
    if stated:
        return ["The claims are the earlier experiment's own, judged anew in both results."]
    lines = [
        (
            "The earlier experiment states no claims, so its verdicts stand for them:"
            " what it called better, worse or equivalent; what was inconclusive claims nothing."
        )
    ]
    return lines if found else [*lines, "There is none, so there is nothing to reproduce."]


def _table(found: list[Reproduced]) -> Table | None:
    rows = [
        [
            one.name,
            one.earlier.word,
            _measured(one.earlier),
            "n/a (not measured)" if one.later is None else one.later.word,
            "n/a (not measured)" if one.later is None else _measured(one.later),
            one.word,
            one.why,
        ]
        for one in found
    ]
    return Table(TITLES, rows, left=len(TITLES)) if rows else None


def _measured(said: ClaimOutcome | Verdict) -> str:
    """E.g. "5.13 x (4.80 to 5.40); n = 3"."""
    if isinstance(said, ClaimOutcome):
        return f"{measured(said)}; n = {said.n}"
    ratio = said.ratio
    if ratio.ratio is None or ratio.low is None or ratio.high is None:
        return f"n/a ({ratio.reason}); {sample_size(ratio)}"
    return f"{times(ratio.ratio)} x ({ends_of(ratio)}); {sample_size(ratio)}"


def _changed(old: Result, new: Result) -> list[str]:
    """Differences that would forbid a comparison of numbers; here they are what is learned from."""
    found = [*refusals.between(old, new), *refusals.servers(old, new)]
    return [f"{one.what}: {one.a} then, {one.b} now" for one in found] or [
        "Nothing that is looked at: host, kernel, governor, client, builds, TLS, what servers were"
        " given, degraded flag."
    ]
