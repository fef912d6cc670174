"""Comparisons with their verdicts: those of a result, judged together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Sequence

from analysis.cells.aggregate import Aggregate, Comparison
from analysis.cells.pairing import Pair
from analysis.cells.words import context_of, describe
from analysis.judgement.verdicts import BETTER, WORSE, Verdict, judge
from analysis.statistics.effect import Ratio

RPS, CPU = "requests/s", "CPU per request"


@dataclass(frozen=True)
class Judged:
    """One comparison of one number; `of` is the pair or the comparison that it belongs to."""

    of: Pair | Comparison
    measure: str
    ratio: Ratio
    verdict: Verdict

    @property
    def where(self) -> str:
        """Its place in words, e.g. "respond-64", "depth 8 against depth 1 on epoll@loopback"."""
        one = self.of
        if isinstance(one, Pair):
            return one.place
        sides = (describe(one.factor, level) for level in (one.level, one.base))
        return f"{' against '.join(sides)} {context_of(one)}".rstrip()


def of_pairs(pairs: Sequence[Pair]) -> list[Judged]:
    """Requests/s and CPU per request of each pair; for CPU less is better."""
    rows = [
        (pair, measure, change.ratio)
        for pair in pairs
        for measure, change in ((RPS, pair.rps), (CPU, pair.cpu))
    ]
    verdicts = judge(
        [ratio if measure == RPS else _inverse(ratio) for _, measure, ratio in rows], True
    )
    return [Judged(*row, verdict) for row, verdict in zip(rows, verdicts)]


def _inverse(ratio: Ratio) -> Ratio:
    """The ratio the other way round, so that more is better and all are judged together."""
    point, low, high = (
        None if end is None else 1 / end for end in (ratio.ratio, ratio.high, ratio.low)
    )
    return replace(ratio, ratio=point, low=low, high=high)


def of_factors(found: Aggregate) -> list[Judged]:
    """Requests/s of each level against its factor's first."""
    verdicts = judge([one.ratio for one in found.comparisons], True)
    return [
        Judged(one, RPS, one.ratio, verdict) for one, verdict in zip(found.comparisons, verdicts)
    ]


def told(rows: Sequence[Judged]) -> list[Judged]:
    """Those that are better or worse."""
    return [row for row in rows if row.verdict.word in (BETTER, WORSE)]
