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

from analysis.statistics import bootstrap, student
from analysis.statistics.bootstrap import Interval
from analysis.statistics.student import Estimate

CONFIDENCE = 0.95
# Fewer shared blocks than this have too few degrees of freedom to be worth pairing.
BLOCKS_MIN = 3
# An interval whose ends are beyond e to this power says nothing, and overflows soon.
LOG_MAX = 300
NOT_DRAWN = Interval(None, None, "there is no ratio to draw from")


@dataclass(frozen=True)
class Ratio:
    """A ratio of geometric means. `low`, `high` and `p` are None for `reason`, and so is `ratio`
    where a value is not a positive number."""

    ratio: float | None
    low: float | None
    high: float | None
    n_new: int
    n_base: int
    reason: str | None = None
    p: float | None = None  # two-sided, of the hypothesis that the ratio is 1
    blocks: int = 0  # shared blocks that it was taken over; 0: the sides are independent
    spread: float | None = None  # standard deviation of the log ratio of one block
    boot: Interval = NOT_DRAWN  # by bootstrap, beside low and high; it decides nothing

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
    """Of values by block: over the shared blocks where there are BLOCKS_MIN, else over all values
    as of independent sides."""
    shared = [block for block in new if block in base]
    if len(shared) < BLOCKS_MIN:
        return ratio_of_means(list(new.values()), list(base.values()), confidence)
    return ratio_of_blocks(
        [new[block] for block in shared], [base[block] for block in shared], confidence
    )


def ratio_of_blocks(
    new: Sequence[float], base: Sequence[float], confidence: float = CONFIDENCE
) -> Ratio:
    """exp(mean log ratio) of values paired by place with its t interval; raises ValueError for
    sides of different length."""
    if len(new) != len(base):
        raise ValueError(f"{len(new)} and {len(base)} values make no pairs")
    n = len(new)
    if reason := _no_ratio(new, base):
        return Ratio(None, None, None, n, n, reason, blocks=n)
    logs = np.log(new), np.log(base)
    if n < 2:
        return _point(*logs, "one block only", blocks=n)
    estimate = student.of_blocks(*logs)
    spread = float(estimate.error) * math.sqrt(n) or None
    boot = bootstrap.of_blocks(*logs, confidence)
    return _ratio(logs, estimate, confidence, blocks=n, spread=spread, boot=boot)


def ratio_of_means(
    new: Sequence[float], base: Sequence[float], confidence: float = CONFIDENCE
) -> Ratio:
    """exp(difference of mean logs) of values of independent sides with Welch's t interval."""
    if reason := _no_ratio(new, base):
        return Ratio(None, None, None, len(new), len(base), reason)
    logs = np.log(new), np.log(base)
    if min(len(new), len(base)) < 2:
        return _point(*logs, "a side has one sample only")
    boot = bootstrap.of_sides(*logs, confidence)
    return _ratio(logs, student.of_sides(*logs), confidence, boot=boot)


def _no_ratio(new: Sequence[float], base: Sequence[float]) -> str | None:
    """Why the values have no ratio of geometric means; None where they have."""
    for name, side in (("new", new), ("base", base)):
        if not len(side):
            return f"{name}: no value"
        bad = next((value for value in side if not (value > 0 and math.isfinite(value))), None)
        if bad is not None:
            return f"{name}: a value is {bad:g}, and a ratio needs positive numbers"
    return None


def _point(new: np.ndarray, base: np.ndarray, reason: str, **rest: object) -> Ratio:
    """The ratio of geometric means of logarithms, without an interval."""
    ratio = math.exp(np.mean(new) - np.mean(base))
    return Ratio(ratio, None, None, len(new), len(base), reason, **rest)


def _ratio(
    logs: tuple[np.ndarray, np.ndarray], estimate: Estimate, confidence: float, **rest: object
) -> Ratio:
    """The ratio with the interval of its logarithm, unless that has no end worth a number."""
    if estimate.error == 0:
        return _point(*logs, "the samples do not vary", **rest)
    low, high = (float(end) for end in estimate.interval(confidence))
    if max(-low, high) > LOG_MAX:
        return _point(*logs, "the samples vary beyond measure", **rest)
    new, base = logs
    ratio, ends = math.exp(estimate.mean), (math.exp(low), math.exp(high))
    return Ratio(ratio, *ends, len(new), len(base), p=float(estimate.p()), **rest)
