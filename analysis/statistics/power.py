"""How small a change so many blocks can show, and how many blocks a change takes.

Most are for the t interval of paired blocks (effect.ratio_of_blocks). `spread` is the standard
deviation of the log ratio of one block, as Ratio.spread; for two sides of coefficient of variation
c that share no trouble it is about c * sqrt(2). Those of medians are for the ratio of the medians
of two sides, each of so many runs of that `cv`, which share nothing: the normal distribution, and
the standard deviation that a median of many values has, sqrt(pi / 2) times their mean's (Kendall
and Stuart 1977, ch. 10). Changes are relative: 0.02 is a ratio of 1.02, and as far on a log scale a
ratio of 1 / 1.02. All are at CONFIDENCE, and seen with a probability of POWER.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, stats

from analysis.statistics.effect import spread_of_logs
from analysis.statistics.interval import CONFIDENCE

POWER = 0.8
BLOCKS_MAX = 100_000


def half_width(spread: float, n: int) -> float:
    """The reach of the interval of n >= 2 blocks to its upper end, as a relative change: Student's
    (1908) t * spread / sqrt(n) on the log scale. Raises ValueError for fewer blocks."""
    return math.expm1(_critical(n) * spread / math.sqrt(n))


def power(spread: float, n: int, change: float) -> float:
    """The probability (0 to 1) that the interval of n >= 2 blocks excludes 1 if the true ratio is
    1 + change: the noncentral t distribution (Johnson and Welch 1940)."""
    if spread <= 0 or change <= -1:
        raise ValueError("power needs a spread above 0 and a change above -1")
    return _power(math.log1p(change) * math.sqrt(n) / spread, n)


def least_detectable(spread: float, n: int, power: float = POWER) -> float:
    """The relative change that n >= 2 blocks show with that probability; without correction for
    other cells judged beside it."""
    # At n = 2 a probability of 0.8 lies at 1.3 times the critical value; 0.999 below 4 times.
    far = 4 * _critical(n) + 4
    shift = optimize.brentq(lambda shift: _power(shift, n) - power, 0, far)
    return math.expm1(shift * spread / math.sqrt(n))


def runs_needed(spread: float, bound_ratio: float) -> int | None:
    """The fewest blocks, 2 or more, that show a ratio of `bound_ratio` (0.98 as well as 1.02);
    None above BLOCKS_MAX. Raises ValueError for a ratio of 1, which none show."""
    if bound_ratio <= 0 or bound_ratio == 1:
        raise ValueError(f"no number of runs tells a ratio of {bound_ratio:g} from 1")
    change = math.expm1(abs(math.log(bound_ratio)))

    def shows(n: int) -> bool:
        return least_detectable(spread, n) <= change

    if not shows(BLOCKS_MAX):
        return None
    low, high = 1, 2
    while not shows(high):
        low, high = high, min(2 * high, BLOCKS_MAX)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def half_width_of_medians(cv: float, runs: int) -> float:
    """How far CONFIDENCE of all ratios of medians reach where nothing changed."""
    return math.expm1(_normal((1 + CONFIDENCE) / 2) * _spread_of_medians(cv) / math.sqrt(runs))


def runs_needed_of_medians(cv: float, change: float) -> int:
    """The fewest runs a side of which medians show a change above 0."""
    reach = _normal((1 + CONFIDENCE) / 2) + _normal(POWER)
    return math.ceil((reach * _spread_of_medians(cv) / math.log1p(change)) ** 2)


def half_width_of_means(cv: float, runs: int) -> float:
    """The reach of the interval of two sides' means of logs, each of `runs` >= 2 runs that share
    nothing: Student's t of 2 * runs - 2 degrees of freedom, as Welch's has of sides alike."""
    critical = float(stats.t.ppf((1 + CONFIDENCE) / 2, 2 * runs - 2))
    return math.expm1(critical * spread_of_logs(cv) * math.sqrt(2 / runs))


def runs_needed_of_means(cv: float, change: float) -> int:
    """The fewest runs a side of which such means show a change above 0: the normal rule with
    Guenther's (1981) addition for t."""
    side = _normal((1 + CONFIDENCE) / 2)
    share = (side + _normal(POWER)) * spread_of_logs(cv) / math.log1p(change)
    return max(2, math.ceil(2 * share**2 + side**2 / 4))


def _spread_of_medians(cv: float) -> float:
    """The standard deviation of the log ratio of two medians, times the root of their runs."""
    return math.sqrt(math.pi / 2) * spread_of_logs(cv) * math.sqrt(2)


def _normal(share: float) -> float:
    """Below which that share of the standard normal distribution lies."""
    return float(stats.norm.ppf(share))


def _critical(n: int) -> float:
    if n < 2:
        raise ValueError("an interval needs two blocks or more")
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))


def _power(shift: float, n: int) -> float:
    """Of the two-sided test whose t statistic is shifted by that many standard errors."""
    critical = _critical(n)
    with np.errstate(divide="ignore", invalid="ignore"):  # scipy's series ends in a log of 0
        above = stats.nct.sf(critical, n - 1, shift)
        below = stats.nct.cdf(-critical, n - 1, shift)
    return float(above + below)
