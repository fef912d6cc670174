"""Correction for many hypotheses judged at once, after Holm (1979)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def holm(p_values: ArrayLike) -> np.ndarray:
    """Each p value as it is after correction for all of the last axis, in their order: below a
    level if Holm's step-down procedure rejects at that level, whatever the dependence among them.

    Raises ValueError for what is not between 0 and 1.
    """
    p = np.asarray(p_values, dtype=float)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("a p value is not between 0 and 1")
    order = np.argsort(p, axis=-1, kind="stable")
    left = np.arange(p.shape[-1], 0, -1)  # hypotheses that are not rejected yet, at each step
    steps = np.minimum(1.0, left * np.take_along_axis(p, order, axis=-1))
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(steps, axis=-1), axis=-1)
    return adjusted
