"""Correction for many hypotheses judged at once, after Holm (1979)."""

from __future__ import annotations

from typing import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p value as it is after correction for all of them, in their order: below a level if
    Holm's step-down procedure rejects at that level, whatever the dependence among them."""
    n = len(p_values)
    adjusted = [1.0] * n
    greatest = 0.0
    for rank, place in enumerate(sorted(range(n), key=lambda place: p_values[place])):
        greatest = max(greatest, min(1.0, (n - rank) * p_values[place]))
        adjusted[place] = greatest
    return adjusted
