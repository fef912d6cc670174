"""One word for a ratio with its interval: better, worse, equivalent or inconclusive.

`equivalent` says that the whole interval lies inside the margin, however small a difference may
have been seen in it; `better` and `worse` that the ratio is not 1, after Holm's correction for all
cells judged beside it. What is neither is inconclusive, and never called equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from analysis.statistics.effect import Ratio
from analysis.statistics.holm import holm

BETTER, WORSE, EQUIVALENT, INCONCLUSIVE = "better", "worse", "equivalent", "inconclusive"
ALPHA = 0.05
# Ratios within 1 / (1 + MARGIN) to 1 + MARGIN make no difference to anybody.
MARGIN = 0.02


@dataclass(frozen=True)
class Verdict:
    """The word, why, and what was corrected for."""

    word: str
    why: str
    ratio: Ratio
    p_adjusted: float | None  # None where the ratio has no interval
    judged: int  # cells that were judged together


def judge(
    ratios: Sequence[Ratio], higher_is_better: bool, margin: float = MARGIN, alpha: float = ALPHA
) -> list[Verdict]:
    """Of all ratios that are judged together, in their order."""
    known = [ratio.p for ratio in ratios if ratio.p is not None]
    corrected = iter(holm(known))
    verdicts = []
    for ratio in ratios:
        p = None if ratio.p is None else next(corrected)
        word, why = _word(ratio, p, higher_is_better, margin, alpha)
        verdicts.append(Verdict(word, why, ratio, p, len(known)))
    return verdicts


def _word(
    ratio: Ratio, p: float | None, higher_is_better: bool, margin: float, alpha: float
) -> tuple[str, str]:
    if ratio.low is None or ratio.high is None or p is None:
        return INCONCLUSIVE, f"no interval: {ratio.reason}"
    if ratio.low >= 1 / (1 + margin) and ratio.high <= 1 + margin:
        return EQUIVALENT, f"the interval lies within {margin:.1%} of 1"
    if p <= alpha and ratio.excludes_one:
        word = BETTER if (ratio.ratio > 1) == higher_is_better else WORSE
        return word, f"the interval excludes 1 (p = {p:.2g} after correction)"
    if ratio.excludes_one:
        return INCONCLUSIVE, f"its own interval excludes 1, but p = {p:.2g} after correction"
    return INCONCLUSIVE, "the interval reaches over 1 and beyond the margin"
