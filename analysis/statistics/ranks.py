"""Tests by rank, beside the t interval: they ask whether one side is above the other, whatever the
distribution, and do not say by how much. They decide nothing.

Which one is right follows from the evidence as it does for the interval. Where both sides were
measured in the same runs, a slow phase of the host moves both values of a block; the ranks of all
values together (Mann-Whitney) then mostly rank the phases, and lose what the pairs know. Wilcoxon's
signed ranks of the differences are the right test there. Mann-Whitney is what Google Benchmark's
compare.py prints, so it is given for both, and is the only one where no blocks are shared.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Callable, Hashable, Mapping, Sequence

import numpy as np
from scipy import stats

from analysis.statistics.effect import shared_blocks

SIGNED_RANK, MANN_WHITNEY = "Wilcoxon signed rank", "Mann-Whitney U"
# Google Benchmark's compare.py asks for as many; far below, even sides that do not overlap at all
# have a p value that a correction for a few cells takes above 0.05.
REPETITIONS_MIN = 9
# The exact distribution of up to so many values a side; beyond, the normal one is as good.
EXACT_MAX = 50


@dataclass(frozen=True)
class RankTest:
    """A two-sided test; `p` and `statistic` are None for `reason`."""

    name: str  # SIGNED_RANK or MANN_WHITNEY
    p: float | None
    statistic: float | None
    n_new: int
    n_base: int
    exact: bool = False  # else by normal approximation, corrected for ties
    reason: str | None = None


def tests(new: Mapping[Hashable, float], base: Mapping[Hashable, float]) -> list[RankTest]:
    """Of values by block: the right test first, then Mann-Whitney if that is not it."""
    shared = shared_blocks(new, base)
    both = mann_whitney(list(new.values()), list(base.values()))
    if not shared:
        return [both]
    return [signed_rank([new[block] for block in shared], [base[block] for block in shared]), both]


def mann_whitney(new: Sequence[float], base: Sequence[float]) -> RankTest:
    """Of independent sides: Mann and Whitney (1947); exact where no values tie. The statistic
    counts the pairs in which the new value is the greater."""
    sizes = (len(new), len(base))
    tied = len({*new, *base}) < sum(sizes)
    exact = not tied and max(sizes) <= EXACT_MAX

    def test() -> tuple[float, float]:
        method = "exact" if exact else "asymptotic"
        return stats.mannwhitneyu(new, base, alternative="two-sided", method=method)

    same = len({*new, *base}) < 2
    return _test(MANN_WHITNEY, test, sizes, exact, "all values are the same" if same else None)


def signed_rank(new: Sequence[float], base: Sequence[float]) -> RankTest:
    """Of positive values paired by place: Wilcoxon (1945) on their log ratios, pairs without a
    difference left out, so that REPETITIONS_MIN must have one; exact where no differences tie. The
    statistic is the smaller rank sum."""
    sizes = (len(new), len(base))
    if not all(value > 0 for value in (*new, *base)):
        return _test(SIGNED_RANK, None, sizes, False, "a value is not above 0")
    differences = np.log(new) - np.log(base)
    moved = differences[differences != 0]
    tied = len(np.unique(np.abs(moved))) < len(moved)
    exact = not tied and len(moved) <= EXACT_MAX

    def test() -> tuple[float, float]:
        with warnings.catch_warnings():  # of few values; with ties there is no better
            warnings.simplefilter("ignore")
            return stats.wilcoxon(moved, method="exact" if exact else "approx")

    few = f"{REPETITIONS_MIN} pairs that differ are needed, {len(moved)} do"
    few = few if len(moved) < REPETITIONS_MIN else None
    return _test(SIGNED_RANK, test, sizes, exact, few)


def _test(
    name: str,
    test: Callable[[], tuple[float, float]] | None,
    sizes: tuple[int, int],
    exact: bool,
    reason: str | None,
) -> RankTest:
    """Runs the test unless there are too few values or another reason not to."""
    if min(sizes) < REPETITIONS_MIN:
        reason = f"{REPETITIONS_MIN} repetitions a side are needed, {min(sizes)} are there"
    if reason or test is None:
        return RankTest(name, None, None, *sizes, reason=reason)
    statistic, p = test()
    return RankTest(name, float(p), float(statistic), *sizes, exact=exact)
