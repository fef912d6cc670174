"""How small a change so many blocks can show, and how many blocks a change takes.

All are for the t interval of paired blocks (effect.ratio_of_blocks). `spread` is the standard
deviation of the log ratio of one block, as Ratio.spread; for two sides of coefficient of variation
c that share no trouble it is about c * sqrt(2). Changes are relative: 0.02 is a ratio of 1.02, and
as far on a log scale a ratio of 1 / 1.02.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, stats

CONFIDENCE = 0.95
POWER = 0.8
BLOCKS_MAX = 100_000


def half_width(spread: float, n: int, confidence: float = CONFIDENCE) -> float:
    """The reach of the interval of n >= 2 blocks to its upper end, as a relative change: Student's
    (1908) t * spread / sqrt(n) on the log scale. Raises ValueError for fewer blocks."""
    return math.expm1(_critical(n, confidence) * spread / math.sqrt(n))


def power(spread: float, n: int, change: float, confidence: float = CONFIDENCE) -> float:
    """The probability (0 to 1) that the interval of n >= 2 blocks excludes 1 if the true ratio is
    1 + change: the noncentral t distribution (Johnson and Welch 1940)."""
    if spread <= 0 or change <= -1:
        raise ValueError("power needs a spread above 0 and a change above -1")
    return _power(math.log1p(change) * math.sqrt(n) / spread, n, confidence)


def least_detectable(
    spread: float, n: int, power: float = POWER, confidence: float = CONFIDENCE
) -> float:
    """The relative change that n >= 2 blocks show with that probability; without correction for
    other cells judged beside it."""
    critical = _critical(n, confidence)

    def short(shift: float) -> float:
        return _power(shift, n, confidence) - power

    # At n = 2 a probability of 0.8 lies at 1.3 times the critical value; 0.999 below 4 times.
    shift = optimize.brentq(short, 0, 4 * critical + 4)
    return math.expm1(shift * spread / math.sqrt(n))


def runs_needed(
    spread: float, bound_ratio: float, power: float = POWER, confidence: float = CONFIDENCE
) -> int | None:
    """The fewest blocks, 2 or more, that show a ratio of `bound_ratio` (0.98 as well as 1.02) with
    that probability; None above BLOCKS_MAX. Raises ValueError for a ratio of 1, which none show."""
    if bound_ratio <= 0 or bound_ratio == 1:
        raise ValueError(f"no number of runs tells a ratio of {bound_ratio:g} from 1")
    change = math.expm1(abs(math.log(bound_ratio)))

    def shows(n: int) -> bool:
        return least_detectable(spread, n, power, confidence) <= change

    if not shows(BLOCKS_MAX):
        return None
    low, high = 1, 2
    while not shows(high):
        low, high = high, min(2 * high, BLOCKS_MAX)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def _critical(n: int, confidence: float) -> float:
    if n < 2:
        raise ValueError("an interval needs two blocks or more")
    return float(stats.t.ppf((1 + confidence) / 2, n - 1))


def _power(shift: float, n: int, confidence: float) -> float:
    """Of the two-sided test whose t statistic is shifted by that many standard errors."""
    critical = _critical(n, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):  # scipy's series ends in a log of 0
        above = stats.nct.sf(critical, n - 1, shift)
        below = stats.nct.cdf(-critical, n - 1, shift)
    return float(above + below)
