"""An interval of a ratio: how sure it is, and from where on it says nothing."""

from __future__ import annotations

from dataclasses import dataclass

# How often an interval holds the truth, of every kind that is told.
CONFIDENCE = 0.95
# A ratio or an end of one that is beyond e to this power, or below its inverse, tells nobody
# anything, and overflows soon.
LOG_MAX = 300
VARY_TOO_MUCH = "the samples vary beyond measure"
DIFFER_TOO_MUCH = "the numbers differ beyond measure"


@dataclass(frozen=True)
class Interval:
    """Of a ratio; both ends are None for `reason`."""

    low: float | None
    high: float | None
    reason: str | None = None
