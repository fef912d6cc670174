"""The bootstrap interval of a ratio: what the blocks at hand would say if they were drawn again.

Percentile bootstrap, Efron (1979): blocks are drawn with replacement, RESAMPLES times, and the
middle 95 % of the mean log ratios is the interval. It assumes no distribution, and stands beside
the t interval to show where that one's assumption matters. It decides nothing: of few blocks it is
too narrow (docs/measurement.md has how often it holds the truth). The same values give the same
interval: the draws have a fixed seed, and those of n blocks are the same whatever is compared.
"""

from __future__ import annotations

import numpy as np

from analysis.statistics.interval import VARY_TOO_MUCH, CONFIDENCE, LOG_MAX, Interval

RESAMPLES = 2000
# Of every draw of the analysis, the simulation's as well.
SEED = 20261201
# Fewer blocks than this have too few different resamples to speak of a distribution.
BLOCKS_MIN = 3
# Draws held at once, so that 10,000 blocks do not take all memory.
DRAWS_MAX = 2_000_000


def of_blocks(new: np.ndarray, base: np.ndarray) -> Interval:
    """Of logarithms paired by place: whole blocks are drawn, so that pairs stay together."""
    if len(new) < BLOCKS_MIN:
        return _too_few(f"{len(new)} shared")
    return _ratio(*ends_of_blocks(new, base))


def of_sides(new: np.ndarray, base: np.ndarray) -> Interval:
    """Of logarithms of independent sides: each is drawn from by itself."""
    fewest = min(len(new), len(base))
    if fewest < BLOCKS_MIN:
        return _too_few(f"{fewest} on a side")
    return _ratio(*ends_of_sides(new, base))


def ends_of_blocks(new: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the mean difference along the last axis, of every other axis at once."""
    return _ends(_drawn_means(new - base, np.random.default_rng(SEED)))


def ends_of_sides(new: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the difference of means along the last axis, of every other axis at once."""
    rng = np.random.default_rng(SEED)
    return _ends(_drawn_means(new, rng) - _drawn_means(base, rng))


def _drawn_means(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(..., n) to (..., RESAMPLES): the mean of each resample. A resample is how often each value
    was drawn, so that all means are one product of matrices."""
    n = values.shape[-1]
    rows = max(1, DRAWS_MAX // n)
    parts = []
    for start in range(0, RESAMPLES, rows):
        size = min(rows, RESAMPLES - start)
        drawn = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        parts.append(values @ (times.T / n))
    return np.concatenate(parts, axis=-1)


def _ends(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=-1)
    return low, high


def _ratio(low: np.ndarray, high: np.ndarray) -> Interval:
    if max(-low, high) > LOG_MAX:
        return Interval(None, None, VARY_TOO_MUCH)
    return Interval(float(np.exp(low)), float(np.exp(high)))


def _too_few(have: str) -> Interval:
    return Interval(None, None, f"{BLOCKS_MIN} blocks are needed to draw from, {have}")
