"""Ratios and their intervals, to as many digits as a margin of 2 % needs."""

from __future__ import annotations

from analysis.cells.words import times


def number(ratio: float | None) -> str:
    """A ratio to three decimals; empty where it is not known."""
    if ratio is None:
        return ""
    if ratio >= 10:
        return times(ratio)
    return f"{ratio:.3f}" if ratio >= 0.001 else f"{ratio:.1e}"


def ends(low: float | None, high: float | None) -> str:
    """E.g. "0.975 to 1.031"; empty where they are not known."""
    return "" if low is None or high is None else f"{number(low)} to {number(high)}"
