"""One word for a ratio with its interval: better, worse, equivalent or inconclusive.

`equivalent` says that the whole interval lies inside the margin, however small a difference may
have been seen in it; `better` and `worse` that the ratio is not 1, after Holm's correction for all
cells judged beside it. What is neither is inconclusive, and never called equal.

Why `equivalent` is not corrected: that a 95 % interval lies inside the margin is two one-sided
tests (Schuirmann 1987), each at 2.5 %. A cell that truly lies at the margin or beyond is called
equivalent at most 2.5 times in 100. What is concluded from many such words is that no cell changed,
and this holds only if each single test rejects (intersection-union, Berger 1982): it is wrong at
most 2.5 times in 100 whatever the number of cells, without a correction. That some cell of k is
wrongly called equivalent may happen up to 2.5 k times in 100; one word out of many is weaker than
all of them together. `better` is the other way around: one such word among many is already a find,
so its chance grows with the cells, and is corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from analysis.statistics.effect import Ratio
from analysis.statistics.holm import holm

BETTER, WORSE, EQUIVALENT, INCONCLUSIVE = "better", "worse", "equivalent", "inconclusive"
ALPHA = 0.05
# Ratios within 1 / (1 + MARGIN) to 1 + MARGIN make no difference to anybody.
MARGIN = 0.02
# A p value below this is told as below it: its digits rest on tails that nobody has measured.
P_LEAST = 1e-4


@dataclass(frozen=True)
class Verdict:
    """The word, why, and what was corrected for."""

    word: str
    why: str
    ratio: Ratio
    p_adjusted: float | None  # None where the ratio has no interval
    judged: int  # cells that were judged together: those whose ratio has an interval


def judge(ratios: Sequence[Ratio], higher_is_better: bool | Sequence[bool]) -> list[Verdict]:
    """Of all ratios that are judged together, in their order; whether more is better is one for
    all, or one for each. Raises ValueError if there are not as many."""
    if isinstance(higher_is_better, bool):
        higher_is_better = [higher_is_better] * len(ratios)
    known = [ratio.p for ratio in ratios if ratio.p is not None]
    corrected = iter(holm(known).tolist())
    verdicts = []
    for ratio, more in zip(ratios, higher_is_better, strict=True):
        p = None if ratio.p is None else next(corrected)
        word, why = _word(ratio, p, more)
        verdicts.append(Verdict(word, why, ratio, p, len(known)))
    return verdicts


def within(low: Any, high: Any, margin: float) -> Any:
    """Whether an interval, or each of two arrays of ends, lies inside the margin."""
    return (low >= 1 / (1 + margin)) & (high <= 1 + margin)


def _word(ratio: Ratio, p: float | None, higher_is_better: bool) -> tuple[str, str]:
    if ratio.ratio is None or ratio.low is None or ratio.high is None or p is None:
        return INCONCLUSIVE, f"no interval: {ratio.reason}"
    if within(ratio.low, ratio.high, MARGIN):
        return EQUIVALENT, f"the interval lies within {MARGIN:.1%} of 1"
    if p <= ALPHA and ratio.excludes_one:
        word = BETTER if (ratio.ratio > 1) == higher_is_better else WORSE
        return word, f"the interval excludes 1 ({_p(p)} after correction)"
    if ratio.excludes_one:
        return INCONCLUSIVE, f"its own interval excludes 1, but {_p(p)} after correction"
    return INCONCLUSIVE, "the interval reaches over 1 and beyond the margin"


def _p(p: float) -> str:
    return f"p < {P_LEAST:g}" if p < P_LEAST else f"p = {p:.2g}"
