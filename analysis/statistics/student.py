"""Student's t on logarithms: the difference of two sides, its interval and its p value.

All take arrays whose last axis are the values of one side, and work on every other axis at once:
one measurement or a thousand simulated ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.statistics.interval import CONFIDENCE

# A standard error below this share of the logarithms themselves is rounding, not spread.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A difference of mean logarithms, its standard error and degrees of freedom; the last is one
    number where it is the same for all."""

    mean: np.ndarray
    error: np.ndarray  # 0 where the values do not vary
    freedom: np.ndarray

    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) of the difference, two-sided, at CONFIDENCE."""
        half = special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2) * self.error
        return self.mean - half, self.mean + half

    def p(self) -> np.ndarray:
        """Two-sided, of the hypothesis that the difference is 0; the error must not be 0."""
        return 2 * special.stdtr(self.freedom, -np.abs(self.mean) / self.error)


def of_blocks(new: np.ndarray, base: np.ndarray) -> Estimate:
    """Of logarithms paired by place, n >= 2 a side: Student's (1908) one-sample t of their
    differences, n - 1 degrees of freedom."""
    differences = new - base
    n = differences.shape[-1]
    error = np.std(differences, axis=-1, ddof=1) / np.sqrt(n)
    return Estimate(
        np.mean(differences, axis=-1), _varying(error, new, base), np.float64(n - 1)
    )


def of_sides(new: np.ndarray, base: np.ndarray) -> Estimate:
    """Of logarithms of independent sides, two or more each, whose spread may differ: Welch (1947),
    degrees of freedom after Satterthwaite (1946)."""
    parts = [np.var(side, axis=-1, ddof=1) / side.shape[-1] for side in (new, base)]
    error = np.sqrt(parts[0] + parts[1])
    share = np.divide(parts[0], error**2, out=np.full_like(error, 0.5), where=error > 0)
    freedom = 1 / (share**2 / (new.shape[-1] - 1) + (1 - share) ** 2 / (base.shape[-1] - 1))
    mean = np.mean(new, axis=-1) - np.mean(base, axis=-1)
    return Estimate(mean, _varying(error, new, base), freedom)


def _varying(error: np.ndarray, *sides: np.ndarray) -> np.ndarray:
    """The error, 0 where it is no more than the rounding of the logarithms."""
    size = np.maximum(1, np.max([np.abs(side).max(axis=-1) for side in sides], axis=0))
    return np.where(error > ROUNDING * size, error, 0.0)
