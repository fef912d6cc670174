"""Statistics over samples. A sample is one server's boot; requests within it are not independent
evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ratio:
    """A ratio of geometric means; `low` and `high` bound it, or are None for `reason`."""

    ratio: float
    low: float | None
    high: float | None
    n_new: int
    n_base: int
    reason: str | None = None

    @property
    def excludes_one(self) -> bool:
        """Whether the interval is known and lies on one side of 1."""
        return self.low is not None and self.high is not None and (self.low > 1 or self.high < 1)


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Sample standard deviation over mean; None below two values or for a mean of 0."""
    if len(values) < 2 or np.mean(values) == 0:
        return None
    return float(np.std(values, ddof=1) / np.mean(values))


def ratio_of_means(
    new: Sequence[float], base: Sequence[float], confidence: float = CONFIDENCE
) -> Ratio:
    """exp(difference of mean logs) with the Welch t interval of that difference. All values must be
    positive."""
    logs_new, logs_base = np.log(new), np.log(base)
    difference = float(np.mean(logs_new) - np.mean(logs_base))
    if min(len(new), len(base)) < 2:
        return Ratio(
            math.exp(difference), None, None, len(new), len(base), "a side has one sample only"
        )
    half = _welch_half_width(logs_new, logs_base, confidence)
    if half is None:
        return Ratio(
            math.exp(difference), None, None, len(new), len(base), "the samples do not vary"
        )
    return Ratio(
        math.exp(difference),
        math.exp(difference - half),
        math.exp(difference + half),
        len(new),
        len(base),
    )


def _welch_half_width(a: np.ndarray, b: np.ndarray, confidence: float) -> float | None:
    """Half the width of Welch's interval for mean(a) - mean(b), degrees of freedom by Satterthwaite
    (1946)."""
    parts = [np.var(side, ddof=1) / len(side) for side in (a, b)]
    if sum(parts) == 0:
        return None
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, (a, b))
    )
    return float(stats.t.ppf((1 + confidence) / 2, freedom) * math.sqrt(sum(parts)))


def drift(order: Sequence[int], relative: Sequence[float]) -> tuple[float, float] | None:
    """Kendall's (tau, p) of values against their order; None below four values or where nothing
    varies."""
    if len(order) < 4 or len(set(relative)) < 2:
        return None
    tau, p = stats.kendalltau(order, relative)
    return float(tau), float(p)
