"""Comparisons with their verdicts: those of a result, judged together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Sequence

from analysis.cells.aggregate import Aggregate, Comparison, Sides
from analysis.cells.pairing import AXIS, Pair
from analysis.cells.words import context_of, count, describe
from analysis.judgement.verdicts import BETTER, WORSE, Verdict, judge
from analysis.statistics import ranks
from analysis.statistics.effect import Ratio
from analysis.statistics.ranks import RankTest

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
        return self.of.place if isinstance(self.of, Pair) else self.name

    @property
    def name(self) -> str:
        """What stands against what, e.g. "variant new against variant base in respond-64"."""
        one = self.comparison
        sides = (describe(one.factor, level) for level in (one.level, one.base))
        return f"{' against '.join(sides)} {context_of(one)}".rstrip()

    @property
    def comparison(self) -> Comparison:
        """Levels, place, ratio and numbers; a pair is one of the factor `variant`."""
        if isinstance(self.of, Comparison):
            return self.of
        sides = (self.of.rps if self.measure == RPS else self.of.cpu).sides
        names = self.of.name, self.of.base_name
        return Comparison(AXIS, *names, self.of.context, self.ratio, sides)

    @property
    def sides(self) -> Sides:
        """The numbers of both, new and base, by block."""
        return self.comparison.sides

    @property
    def rank_tests(self) -> list[RankTest]:
        """The right one first, then Mann-Whitney's if that is not it; they decide nothing."""
        return ranks.tests(*self.sides)


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
    return [
        Judged(*row, replace(verdict, ratio=row[-1])) for row, verdict in zip(rows, verdicts)
    ]


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


def family(rows: Sequence[Judged]) -> str:
    """What is judged together, e.g. "8 ratios (requests/s and CPU per request) of the variants"."""
    measures = " and ".join(dict.fromkeys(row.measure for row in rows))
    factors = list(dict.fromkeys(row.comparison.factor for row in rows))
    of = "the variants" if factors == [AXIS] else f"all factors ({', '.join(factors)})"
    return f"{count(len(rows), 'ratio')} ({measures}) of {of}"


def told(rows: Sequence[Judged]) -> list[Judged]:
    """Those that are better or worse."""
    return [row for row in rows if row.verdict.word in (BETTER, WORSE)]
