"""How much more: a ratio of two sides with its interval, over blocks.

The unit of evidence is the server's boot. A run of an experiment boots one server for each cell, so
the two boots of one run stand next to each other in time and make a block: what a slow phase of
the host does to one it does to the other, and their ratio is free of it. Where boots share no
blocks, the sides are taken as independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Hashable, Mapping, Sequence

import numpy as np

from analysis.statistics import bootstrap, student
from analysis.statistics.interval import DIFFER_TOO_MUCH, VARY_TOO_MUCH, LOG_MAX, Interval
from analysis.statistics.student import Estimate

# Fewer shared blocks than this have too few degrees of freedom to be worth pairing.
BLOCKS_MIN = 3
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
    if len(values) < 2:
        return None
    # By a power of two, which rounds nothing, so that no sum overflows.
    scaled = np.ldexp(values, -np.frexp(np.max(np.abs(values)))[1])
    mean = float(np.mean(scaled))
    return None if mean == 0 else float(np.std(scaled, ddof=1)) / mean


def spread_of_logs(cv: float) -> float:
    """The standard deviation of the logarithm of a lognormal number of that coefficient of
    variation."""
    return math.sqrt(math.log1p(cv**2))


def shared_blocks(
    new: Mapping[Hashable, float], base: Mapping[Hashable, float]
) -> list[Hashable]:
    """The blocks by which values are paired, in the new side's order: those that both have, none
    where these are fewer than BLOCKS_MIN."""
    shared = [block for block in new if block in base]
    return shared if len(shared) >= BLOCKS_MIN else []


def compare(new: Mapping[Hashable, float], base: Mapping[Hashable, float]) -> Ratio:
    """Of values by block: over the shared blocks where there are BLOCKS_MIN, else over all values
    as of independent sides."""
    shared = shared_blocks(new, base)
    if not shared:
        return ratio_of_means(list(new.values()), list(base.values()))
    return ratio_of_blocks([new[block] for block in shared], [base[block] for block in shared])


def ratio_of_blocks(new: Sequence[float], base: Sequence[float]) -> Ratio:
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
    return _ratio(logs, estimate, bootstrap.of_blocks, blocks=n, spread=spread)


def ratio_of_means(new: Sequence[float], base: Sequence[float]) -> Ratio:
    """exp(difference of mean logs) of values of independent sides with Welch's t interval."""
    if reason := _no_ratio(new, base):
        return Ratio(None, None, None, len(new), len(base), reason)
    logs = np.log(new), np.log(base)
    if min(len(new), len(base)) < 2:
        return _point(*logs, "a side has one sample only")
    return _ratio(logs, student.of_sides(*logs), bootstrap.of_sides)


def _no_ratio(new: Sequence[float], base: Sequence[float]) -> str | None:
    """Why the values have no ratio of geometric means; None where they have."""
    for name, side in (("new", new), ("base", base)):
        if not len(side):
            return f"{name}: no value"
        bad = next((value for value in side if not (value > 0 and math.isfinite(value))), None)
        if bad is not None:
            return f"{name}: a value is {bad:g}, and a ratio needs positive numbers"
    if abs(np.mean(np.log(new)) - np.mean(np.log(base))) > LOG_MAX:
        return DIFFER_TOO_MUCH
    return None


def _point(new: np.ndarray, base: np.ndarray, reason: str, **rest: object) -> Ratio:
    """The ratio of geometric means of logarithms, without an interval."""
    ratio = math.exp(np.mean(new) - np.mean(base))
    boot = Interval(None, None, reason)
    return Ratio(ratio, None, None, len(new), len(base), reason, boot=boot, **rest)


def _ratio(
    logs: tuple[np.ndarray, np.ndarray],
    estimate: Estimate,
    boot: Callable[[np.ndarray, np.ndarray], Interval],
    **rest: object,
) -> Ratio:
    """The ratio with the interval of its logarithm, unless that has no end worth a number."""
    if estimate.error == 0:
        return _point(*logs, "the samples do not vary", **rest)
    low, high = (float(end) for end in estimate.interval())
    if max(-low, high) > LOG_MAX:
        return _point(*logs, VARY_TOO_MUCH, **rest)
    ratio, ends = math.exp(estimate.mean), (math.exp(low), math.exp(high))
    sizes = (len(side) for side in logs)
    return Ratio(ratio, *ends, *sizes, p=float(estimate.p()), boot=boot(*logs), **rest)
