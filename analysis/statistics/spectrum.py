"""Percentiles of several boots' latencies taken together, with bounds that know of boots.

A cell's percentile is that of its merged counts; percentiles are never averaged. Its bounds come
from a cluster bootstrap (Field and Welsh, 2007): whole boots are drawn with replacement, their
counts merged, the percentile taken. The millions of requests of a boot share its luck, so that
drawing requests instead would give bounds of almost no width. The greatest value gets none:
resampling cannot see beyond what was seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Sequence

import numpy as np

from analysis.statistics.bootstrap import SEED
from analysis.statistics.interval import CONFIDENCE

RESAMPLES = 500
# A percentile beyond which fewer values lie is not told: it is that of a few requests.
BEYOND_MIN = 10
# The range of k boots holds the median boot with a probability of 1 - 2 ** (1 - k): with fewer
# boots than this, bounds made of them fall short of CONFIDENCE.
BOOTS_FEW = 6
# Sums of counts held at once.
MERGED_MAX = 1 << 20


@dataclass(frozen=True)
class Counts:
    """One boot's latencies: how often (`counts`) each of the ascending `values_ns` was seen."""

    values_ns: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class Spectrum:
    """Percentiles of merged counts, in nanoseconds; one place in each array for each quantile.

    NaN where fewer than BEYOND_MIN values lie beyond; `low_ns` and `high_ns` are NaN throughout for
    a single boot.
    """

    quantiles: np.ndarray
    values_ns: np.ndarray
    low_ns: np.ndarray
    high_ns: np.ndarray
    max_ns: float
    max_range_ns: tuple[float, float]  # of the boots' own greatest values
    boots: int
    n: int


def holds(boots: int) -> float:
    """About how often (0 to 1) bounds of so few boots can hold the true percentile, at the most."""
    return min(CONFIDENCE, 1 - 2.0 ** (1 - boots))


def told(n: int, quantile: float) -> bool:
    """Whether BEYOND_MIN of n values or more lie beyond a quantile, so that it is told."""
    return n - math.ceil(round(n * quantile, 6)) >= BEYOND_MIN


def spectrum(
    boots: Sequence[Counts], quantiles: Sequence[float], resamples: int = RESAMPLES
) -> Spectrum:
    """Of boots of which each recorded something; quantiles within 0 to 1, the same seed always.

    Raises ValueError without a boot, or if one is empty.
    """
    if not boots or any(boot.counts.sum() == 0 for boot in boots):
        raise ValueError("a spectrum needs boots that recorded something")
    wanted = np.asarray(quantiles, dtype=float)
    values, below = _cumulative(boots)
    n = int(below[:, -1].sum())
    known = [told(n, one) for one in wanted.tolist()]
    together = below.sum(axis=0)
    merged = values[np.searchsorted(together, _ranks(n, wanted))]
    low = high = np.full(len(wanted), np.nan)
    if len(boots) > 1:
        low, high = _bounds(values, below, wanted, resamples)
    own = [float(boot.values_ns[boot.counts > 0][-1]) for boot in boots]
    return Spectrum(
        quantiles=wanted,
        values_ns=np.where(known, merged, np.nan),
        low_ns=np.where(known, low, np.nan),
        high_ns=np.where(known, high, np.nan),
        max_ns=max(own),
        max_range_ns=(min(own), max(own)),
        boots=len(boots),
        n=n,
    )


def _cumulative(boots: Sequence[Counts]) -> tuple[np.ndarray, np.ndarray]:
    """(values, below): all boots' values, ascending; and, boots x values, how many of a boot's do
    not exceed each."""
    together = np.concatenate([boot.values_ns for boot in boots])
    values = np.unique(together)
    rows = np.repeat(np.arange(len(boots)), [len(boot.values_ns) for boot in boots])
    counts = np.zeros((len(boots), len(values)))
    counts[rows, np.searchsorted(values, together)] = np.concatenate(
        [boot.counts for boot in boots]
    )
    return values.astype(float), counts.cumsum(axis=1)


def _bounds(
    values: np.ndarray, below: np.ndarray, quantiles: np.ndarray, resamples: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the middle CONFIDENCE of the resamples' percentiles."""
    draws = _draws(len(below), resamples)
    places = _reached(below, draws, quantiles)
    places.sort(axis=0)
    aside = int((1 - CONFIDENCE) / 2 * resamples)
    return values[places[aside]], values[places[resamples - aside - 1]]


def _reached(below: np.ndarray, draws: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Resamples x quantiles: the place of the first value by which a resample has reached a
    quantile's rank. Some resamples are merged at once, as many as memory is well used by."""
    together = max(1, MERGED_MAX // below.shape[1])
    found = np.empty((len(draws), len(quantiles)), dtype=int)
    for start in range(0, len(draws), together):
        merged = draws[start : start + together] @ below
        for at, counts in enumerate(merged, start=start):
            found[at] = np.searchsorted(counts, _ranks(counts[-1], quantiles))
    return found


@lru_cache(maxsize=8)
def _draws(boots: int, resamples: int) -> np.ndarray:
    """Resamples x boots: how often each boot was drawn."""
    rng = np.random.default_rng(SEED)
    return rng.multinomial(boots, [1 / boots] * boots, resamples).astype(float)


def _ranks(total: float, quantiles: np.ndarray) -> np.ndarray:
    """The ranks of quantiles among so many; rounded first, as 0.07 * 100 must ask for rank 7."""
    return np.maximum(1, np.ceil(np.round(total * quantiles, 6)))
