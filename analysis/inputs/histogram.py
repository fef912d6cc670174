"""Latency histograms: counts by value, mergeable without loss, percentiles by rank."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np


COUNT_MAX = 2**63  # no value, count or sum of counts reaches it


@dataclass(frozen=True)
class Histogram:
    """Counts at ascending values in nanoseconds; each value is known to `significant_digits`
    decimal digits."""

    significant_digits: int
    values_ns: np.ndarray
    counts: np.ndarray

    @property
    def n(self) -> int:
        """How many values were recorded."""
        return int(self.counts.sum())

    def percentile_ns(self, quantile: float) -> float:
        """The smallest recorded value that at least `quantile` (0 to 1) of all do not exceed.

        Raises ValueError if nothing was recorded.
        """
        below = self.counts.cumsum()
        n = int(below[-1]) if len(below) else 0
        if n == 0:
            raise ValueError("an empty histogram has no percentiles")
        # The product is rounded first: 0.07 * 100 must ask for rank 7, not 8.
        rank = max(1, math.ceil(round(quantile * n, 6)))
        return float(self.values_ns[below.searchsorted(rank)])

    def curve(self, beyond_min: int) -> tuple[np.ndarray, np.ndarray]:
        """(quantiles, values in ns), one point a value, as far as at least `beyond_min` values lie
        beyond."""
        below = np.cumsum(self.counts)
        keep = below <= self.n - beyond_min
        return below[keep] / max(self.n, 1), self.values_ns[keep]


def parse(pairs: Any, significant_digits: Any) -> Histogram:
    """Reads [[value_ns, count], ...] in ascending order; raises ValueError saying what is wrong."""
    if not isinstance(significant_digits, int) or isinstance(significant_digits, bool):
        raise ValueError("significant_digits is not a whole number")
    table = _table(pairs)
    if (np.diff(table[:, 0]) <= 0).any():
        raise ValueError("its values do not ascend")
    return Histogram(significant_digits, table[:, 0], table[:, 1])


def _table(pairs: Any) -> np.ndarray:
    """The pairs as rows of two; each check is one pass in C over all of them, for a result has
    millions of pairs."""
    listed = isinstance(pairs, list) and set(map(type, pairs)) <= {list}
    if listed and set(map(len, pairs)) <= {2}:
        numbers = list(itertools.chain.from_iterable(pairs))
        if set(map(type, numbers)) <= {int} and 0 <= min(numbers, default=0):
            if max(numbers, default=0) < COUNT_MAX and sum(numbers[1::2]) < COUNT_MAX:
                return np.array(numbers, dtype=np.int64).reshape(-1, 2)
    raise ValueError("is not a list of [value_ns, count] pairs of whole numbers from 0 up")


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """The histogram of all values together; raises ValueError if precisions differ or there is
    none."""
    parts = list(histograms)
    if len({part.significant_digits for part in parts}) != 1:
        raise ValueError("histograms of different precision do not merge")
    values = np.concatenate([part.values_ns for part in parts])
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    first = np.flatnonzero(np.diff(ascending, prepend=-1))  # where each distinct value begins
    counts = np.concatenate([part.counts for part in parts])[order]
    if len(first) == 0:
        return Histogram(parts[0].significant_digits, ascending, counts)
    sums = np.add.reduceat(counts, first)
    return Histogram(parts[0].significant_digits, ascending[first], sums)
