"""Simulated boots whose truth is known: an effect that was planted, noise of a known size, and a
host that is quiet or has slow phases.

All values are logarithms of requests/s, arrays of (..., n): n boots of each side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.statistics.effect import spread_of_logs

# A slow phase of the host: all it measures is this much slower, for some samples on end, and such
# phases take this share of all time.
SLOW_FACTOR = 1.5
SLOW_SAMPLES = 6
SLOW_SHARE = 0.25

Order = Literal["interleaved", "consecutive"]


@dataclass(frozen=True)
class Boots:
    """Logarithms of both sides, and the true difference of their means."""

    new: np.ndarray
    base: np.ndarray
    truth: float


def quiet(rng: np.random.Generator, shape: tuple[int, ...], cv: float, effect: float) -> Boots:
    """Independent lognormal boots of both sides; `cv` their coefficient of variation, `effect` the
    relative change of the new side (0.02 is a ratio of 1.02)."""
    sigma, truth = spread_of_logs(cv), math.log1p(effect)
    new, base = (sigma * rng.standard_normal(shape) for _ in range(2))
    return Boots(truth + new, base, truth)


def slow_phases(
    rng: np.random.Generator, shape: tuple[int, int], cv: float, effect: float, order: Order
) -> Boots:
    """As quiet boots of (repetitions, n), but measured one after the other on a host with slow
    phases: interleaved in blocks of one boot a side that begin with each side in turn, or all of
    the base first and then all of the new side."""
    boots = quiet(rng, shape, cv, effect)
    repetitions, n = shape
    slow = _phases(rng, repetitions, 2 * n) * math.log(SLOW_FACTOR)
    if order == "consecutive":
        base, new = slow[:, :n], slow[:, n:]
    else:
        first, second, new_first = slow[:, 0::2], slow[:, 1::2], np.arange(n) % 2 == 1
        base, new = np.where(new_first, second, first), np.where(new_first, first, second)
    return Boots(boots.new - new, boots.base - base, boots.truth)


def _phases(rng: np.random.Generator, repetitions: int, samples: int) -> np.ndarray:
    """(repetitions, samples): whether the host is slow, a Markov chain of two states that begins
    anywhere."""
    ends = 1 / SLOW_SAMPLES
    begins = ends * SLOW_SHARE / (1 - SLOW_SHARE)
    chance = rng.random((repetitions, samples))
    slow = np.empty((repetitions, samples), dtype=bool)
    slow[:, 0] = chance[:, 0] < SLOW_SHARE
    for at in range(1, samples):
        slow[:, at] = np.where(slow[:, at - 1], chance[:, at] >= ends, chance[:, at] < begins)
    return slow
