"""How much more: a ratio of two sides with its interval, over blocks.

The unit of evidence is the server's boot. A run of an experiment boots one server for each cell, so
the two boots of one run stand next to each other in time and make a block: what a slow phase of
the host does to one it does to the other, and their ratio is free of it. Where boots share no
blocks, the sides are taken as independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Hashable, Mapping, Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
# Fewer shared blocks than this have too few degrees of freedom to be worth pairing.
BLOCKS_MIN = 3


@dataclass(frozen=True)
class Ratio:
    """A ratio of geometric means; `low`, `high` and `p` are None for `reason`."""

    ratio: float
    low: float | None
    high: float | None
    n_new: int
    n_base: int
    reason: str | None = None
    p: float | None = None  # two-sided, of the hypothesis that the ratio is 1
    blocks: int = 0  # shared blocks that it was taken over; 0: the sides are independent
    spread: float | None = None  # standard deviation of the log ratio of one block

    @property
    def excludes_one(self) -> bool:
        """Whether the interval is known and lies on one side of 1."""
        return self.low is not None and self.high is not None and (self.low > 1 or self.high < 1)


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Sample standard deviation over mean; None below two values or for a mean of 0."""
    if len(values) < 2 or np.mean(values) == 0:
        return None
    return float(np.std(values, ddof=1) / np.mean(values))


def compare(
    new: Mapping[Hashable, float], base: Mapping[Hashable, float], confidence: float = CONFIDENCE
) -> Ratio:
    """Of positive values by block: over the shared blocks where there are BLOCKS_MIN, else over
    all values as of independent sides."""
    shared = [block for block in new if block in base]
    if len(shared) < BLOCKS_MIN:
        return ratio_of_means(list(new.values()), list(base.values()), confidence)
    return ratio_of_blocks(
        [new[block] for block in shared], [base[block] for block in shared], confidence
    )


def ratio_of_blocks(
    new: Sequence[float], base: Sequence[float], confidence: float = CONFIDENCE
) -> Ratio:
    """exp(mean log ratio) of paired positive values with its t interval."""
    logs = np.log(new) - np.log(base)
    mean, n = float(np.mean(logs)), len(logs)
    error = float(np.std(logs, ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    if n < 2 or error == 0:
        reason = "one block only" if n < 2 else "the samples do not vary"
        return Ratio(math.exp(mean), None, None, n, n, reason, blocks=n)
    return _with_interval(
        mean, error, n - 1, confidence, n_new=n, n_base=n, blocks=n, spread=error * math.sqrt(n)
    )


def ratio_of_means(
    new: Sequence[float], base: Sequence[float], confidence: float = CONFIDENCE
) -> Ratio:
    """exp(difference of mean logs) of independent positive values with the Welch t interval of
    that difference, degrees of freedom by Satterthwaite (1946)."""
    sides = [np.log(new), np.log(base)]
    difference = float(np.mean(sides[0]) - np.mean(sides[1]))
    if min(len(new), len(base)) < 2:
        reason = "a side has one sample only"
        return Ratio(math.exp(difference), None, None, len(new), len(base), reason)
    parts = [np.var(side, ddof=1) / len(side) for side in sides]
    if sum(parts) == 0:
        reason = "the samples do not vary"
        return Ratio(math.exp(difference), None, None, len(new), len(base), reason)
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, sides)
    )
    error = math.sqrt(sum(parts))
    return _with_interval(
        difference, error, freedom, confidence, n_new=len(new), n_base=len(base)
    )


def _with_interval(
    mean: float, error: float, freedom: float, confidence: float, **rest: float
) -> Ratio:
    """The ratio whose logarithm is `mean` with that standard error."""
    half = float(stats.t.ppf((1 + confidence) / 2, freedom)) * error
    p = float(2 * stats.t.sf(abs(mean) / error, freedom))
    return Ratio(
        math.exp(mean), math.exp(mean - half), math.exp(mean + half), p=p, **rest
    )
