"""A run as a grid: its samples by the factors that vary, and the log-linear model of one number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable

import numpy as np
from scipy import stats

from analysis.cells.aggregate import Aggregate, Cell
from analysis.inputs.load import Sample
from analysis.judgement.verdicts import ALPHA
from analysis.statistics.holm import holm
from analysis.statistics.model import RUN, Effect, Model, Term, fit


@dataclass(frozen=True)
class Grid:
    """The model with the samples that it is of, in its order."""

    factors: dict[str, list[Any]]  # that vary among the samples, to their levels, the base first
    samples: list[tuple[Sample, Cell]]
    model: Model
    unknown: int  # valid samples that do not know the number

    def effect(self, factor: str, level: Any, at: dict[str, Any] | None = None) -> Effect:
        """A level over its factor's first; at levels of others, if given, else averaged."""
        held = {name: self._place(name, one) for name, one in (at or {}).items()}
        place = self._place(factor, level)
        return self.model.ratio(held | {factor: place}, held | {factor: 0})

    def interaction(self, factor: str, level: Any, other: str, at: Any) -> Effect:
        """What a level is worth at one of another factor, over what it is at that one's first."""
        own = (factor, self._place(factor, level), 0)
        return self.model.interaction(own, (other, self._place(other, at), 0))

    @cached_property
    def p_adjusted(self) -> dict[tuple[str, ...], float]:
        """Names of each term that is judged to its p value after Holm's correction for all of them:
        factors, pairs, and more factors at once. Empty where no error is left to judge by; runs are
        blocks and no hypothesis."""
        judged = [
            term for term in self.model.terms if term.names != RUN and term.p is not None
        ]
        corrected = holm([term.p for term in judged]).tolist()
        return {term.names: p for term, p in zip(judged, corrected)}

    def is_told(self, term: Term | None) -> bool:
        """Whether a term explains more than noise does."""
        return term is not None and self.p_adjusted.get(term.names, 1.0) <= ALPHA

    def noises(self, factor: str) -> tuple[float | None, dict[int, float]]:
        """(p, level's place to the standard deviation of what the model leaves there): p of the
        hypothesis that all levels are alike in it, by Brown and Forsythe (1974); None where a level
        has fewer than three samples, or nothing is left that could differ."""
        levels = self.factors[factor]
        places = np.array([levels.index(cell.settings[factor]) for _, cell in self.samples])
        left = [self.model.residuals[places == place] for place in range(len(levels))]
        spreads = {place: float(np.sqrt(np.mean(one**2))) for place, one in enumerate(left)}
        if min(map(len, left)) < 3 or self.model.error is None:
            return None, spreads
        with np.errstate(divide="ignore", invalid="ignore"):  # of levels without any spread
            p = float(stats.levene(*left, center="median").pvalue)
        return None if np.isnan(p) else p, spreads

    def _place(self, factor: str, level: Any) -> int:
        return self.factors[factor].index(level)


def grid(found: Aggregate, of: Callable[[Sample], float | None]) -> Grid | None:
    """Of a number of each valid sample; None where nobody knows the number, or nothing varies but
    variants in scenarios, whose pairs are judged one by one.

    Cells that share their levels ran with settings that differ otherwise, and are left out.
    Scenarios are other work, which is compared with nothing: each has runs of its own, so that the
    boots of a block stand next to each other in time, and what scenarios differ in is in the runs.
    """
    levels = [cell.levels for cell in found.cells]
    samples = [
        (sample, cell)
        for cell in found.cells
        if levels.count(cell.levels) == 1
        for sample in cell.valid
    ]
    known = [(sample, cell) for sample, cell in samples if (of(sample) or 0) > 0]
    factors = _varied(found, [cell for _, cell in known])
    if not set(factors) - {"scenario", "variant"}:
        return None
    places = [
        [levels.index(cell.settings[name]) for name, levels in factors.items()]
        for _, cell in known
    ]
    runs = [f"{cell.settings.get('scenario')} {sample.block}" for sample, cell in known]
    values = [of(sample) or 0.0 for sample, _ in known]
    sizes = {name: len(levels) for name, levels in factors.items()}
    model = fit(values, places, sizes, runs)
    return Grid(factors, known, model, len(samples) - len(known))


def _varied(found: Aggregate, cells: list[Cell]) -> dict[str, list[Any]]:
    """The factors of which these cells have two levels or more, with those levels."""
    seen = {
        name: [level for level in levels if any(cell.settings[name] == level for cell in cells)]
        for name, levels in found.factors.items()
    }
    return {name: levels for name, levels in seen.items() if len(levels) > 1}
