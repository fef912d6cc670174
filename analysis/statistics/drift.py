"""Whether values follow their order."""

from __future__ import annotations

from typing import Sequence

from scipy import stats


def drift(order: Sequence[int], relative: Sequence[float]) -> tuple[float, float] | None:
    """Kendall's (tau, p) of values against their order; None below four values or where nothing
    varies."""
    if len(order) < 4 or len(set(relative)) < 2:
        return None
    tau, p = stats.kendalltau(order, relative)
    return float(tau), float(p)
