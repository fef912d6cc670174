"""What each factor is worth: a log-linear model of a positive number over the factors of a grid.

log y = mean + run + each factor + each pair of factors + error, fitted by least squares, with
sum-to-zero coding: a factor's part is then its average over all levels of the others, whether or
not each combination was measured equally often. Levels are names; numbers are no slopes. Runs are
blocks: they take a slow phase of the host out of the error.

What a pair leaves of the cells' differences is the part of three and more factors. Where cells
were measured more than once it is told apart from the error, so that intervals rest on repetition
alone (pure error: Box, Hunter and Hunter, 2005, ch. 10); else it is in the error.

The share of a term is its sum of squares over the whole (Jain, 1991, ch. 22 and 23). Sums of
squares are sequential, in the order of the terms: runs, factors, pairs, the rest. In a balanced
grid the order does not matter; elsewhere what two terms could both explain goes to the earlier.

Mean and runs are taken out as the means of runs, which leaves the fit of the others the same
(Frisch and Waugh, 1933; Lovell, 1963); the work then grows with samples, not with samples x runs.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Iterator, Mapping, Sequence

import numpy as np
from scipy import linalg, stats

from analysis.statistics.interval import DIFFER_TOO_MUCH, VARY_TOO_MUCH, CONFIDENCE, LOG_MAX

# Singular values below this share of the greatest are rounding errors.
RANK_TOLERANCE = 1e-9
# A sum of squares below this share of the logs' own is a rounding error.
ROUNDING = 1e-24
RUN, HIGHER, ERROR = ("run",), ("more than two factors",), ("error",)

Levels = Mapping[str, int]  # some factors, each at the place of one of its levels


@dataclass(frozen=True)
class Term:
    """One part of the variation: `names` are a factor, a pair of them, RUN, HIGHER or ERROR."""

    names: tuple[str, ...]
    share: float  # of all variation of the logs, 0 to 1
    freedom: int
    wanted: int  # degrees of freedom that it has in a full grid
    p: float | None = None  # of the hypothesis that it explains nothing; None without an error

    @property
    def estimable(self) -> bool:
        """Whether what was measured tells all of it from the earlier terms."""
        return self.freedom == self.wanted


@dataclass(frozen=True)
class Effect:
    """A ratio with its t interval; all None where what was measured does not tell, for `reason`;
    `low` and `high` None where there is no error to judge by."""

    ratio: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Model:
    """The fit. `fitted` and `residuals` are logs, in the order of the values, and are of the model
    that the intervals rest on."""

    sizes: dict[str, int]  # levels of each factor
    terms: list[Term]
    coefficients: np.ndarray  # of factors and pairs, in the order of their terms
    _inverse: np.ndarray  # coefficients = _inverse @ basis.T @ log y
    _known: np.ndarray  # projects a contrast onto those that the measurements tell
    error: float | None  # standard deviation of a log that the model leaves; None: nothing left
    freedom: int  # degrees of freedom of the error
    pure: bool  # whether the error is of repetitions alone
    balanced: bool  # whether each combination of levels was measured equally often
    fitted: np.ndarray
    residuals: np.ndarray

    def term(self, *names: str) -> Term | None:
        """The part of these factors; None where there is no such term."""
        return next((term for term in self.terms if term.names == names), None)

    def ratio(self, new: Levels, base: Levels) -> Effect:
        """Of the geometric means at two places, averaged over all levels of the factors that these
        do not name: a main effect, or one at a level of another factor."""
        return self._effect(self._row(new) - self._row(base))

    def interaction(self, first: tuple[str, int, int], second: tuple[str, int, int]) -> Effect:
        """The ratio of ratios: what the first factor's change (name, new, base) is worth at the
        second's new level over what it is worth at its base."""
        (one, one_new, one_base), (two, two_new, two_base) = first, second
        rows = {
            places: self._row({one: places[0], two: places[1]})
            for places in itertools.product((one_new, one_base), (two_new, two_base))
        }
        at_new = rows[one_new, two_new] - rows[one_base, two_new]
        return self._effect(at_new - (rows[one_new, two_base] - rows[one_base, two_base]))

    def _row(self, levels: Levels) -> np.ndarray:
        """The coefficients' weights at these levels, in what lies beyond the mean."""
        codes = {name: _code(self.sizes[name])[place] for name, place in levels.items()}
        parts = []
        for names in _terms(list(self.sizes)):
            width = math.prod(self.sizes[name] - 1 for name in names)
            known = all(name in codes for name in names)
            part = np.ones(1)
            for name in names if known else ():
                part = np.kron(part, codes[name])
            parts.append(part if known else np.zeros(width))
        return np.concatenate(parts)

    def _effect(self, contrast: np.ndarray) -> Effect:
        if not np.allclose(contrast @ self._known, contrast, atol=1e-6):
            return Effect(None, None, None, "the cells that would tell were not measured")
        log = float(contrast @ self.coefficients)
        if abs(log) > LOG_MAX:
            return Effect(None, None, None, DIFFER_TOO_MUCH)
        if self.error is None:
            return Effect(math.exp(log), None, None, "nothing is left over to judge the noise by")
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, self.freedom)) * self.error
        half *= float(np.linalg.norm(contrast @ self._inverse))
        if abs(log) + half > LOG_MAX:
            return Effect(math.exp(log), None, None, VARY_TOO_MUCH)
        return Effect(math.exp(log), math.exp(log - half), math.exp(log + half))


def fit(
    values: Sequence[float],
    levels: Sequence[Sequence[int]],
    sizes: Mapping[str, int],
    runs: Sequence[int | str],
) -> Model:
    """Of positive values, each with the places of its levels (one a factor, in the order of
    `sizes`: factor to number of levels, two or more) and the run that it is of.

    Raises ValueError if there is no value, one is not positive, or a level is out of range.
    """
    logs, places = _checked(values, levels, sizes)
    design = _design(places, sizes)
    steps = _Steps(logs, _blocks(runs))
    for names, columns in design:
        steps.add(names, columns, columns.shape[1])
    reached = steps.basis
    cells = np.unique(places, axis=0, return_inverse=True)[1]
    if len(sizes) > 2:  # else pairs tell all cells apart
        steps.add(HIGHER, np.eye(int(cells.max()) + 1)[cells])
    pure = len(logs) > steps.rank
    if not pure and len(sizes) > 2:
        steps.drop()
    return _assembled(steps, design, reached, dict(sizes), pure, np.bincount(cells))


def _checked(
    values: Sequence[float], levels: Sequence[Sequence[int]], sizes: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.asarray(values, dtype=float)
    places = np.asarray(levels, dtype=int).reshape(len(numbers), len(sizes))
    if not len(numbers) or not (numbers > 0).all() or not np.isfinite(numbers).all():
        raise ValueError("a log-linear model needs positive numbers")
    if (places < 0).any() or (places >= np.array(list(sizes.values()))).any():
        raise ValueError("a level is out of range")
    return np.log(numbers), places


def _terms(names: list[str]) -> Iterator[tuple[str, ...]]:
    """Each factor, then each pair."""
    for size in (1, 2):
        yield from itertools.combinations(names, size)


def _code(size: int) -> np.ndarray:
    """Sum-to-zero coding: levels x (levels - 1)."""
    return np.vstack([np.eye(size - 1), -np.ones(size - 1)])


def _blocks(runs: Sequence[int | str]) -> np.ndarray:
    """The number of each value's run; 0 of all where each value has a run of its own, which is then
    no block."""
    numbers, places = np.unique(runs, return_inverse=True)
    return np.zeros_like(places) if len(numbers) == len(places) else places


def _design(
    places: np.ndarray, sizes: Mapping[str, int]
) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """(names, columns) of each factor and pair, one row a value."""
    codes = {name: _code(size)[places[:, at]] for at, (name, size) in enumerate(sizes.items())}
    design: list[tuple[tuple[str, ...], np.ndarray]] = []
    for names in _terms(list(sizes)):
        columns = codes[names[0]]
        for name in names[1:]:
            columns = np.einsum("vi,vj->vij", columns, codes[name]).reshape(len(places), -1)
        design.append((names, columns))
    return design


class _Steps:
    """Least squares a term at a time: what each explains beyond the earlier ones, the first being
    mean and runs. `basis` spans what the later ones add to these."""

    def __init__(self, logs: np.ndarray, blocks: np.ndarray) -> None:
        self.blocks, self.each = blocks, np.bincount(blocks)
        self.logs = logs
        self.inner = self.within_runs(logs)
        self.basis = np.zeros((len(logs), 0))
        self.found: list[tuple[tuple[str, ...], float, int, int]] = []
        if len(self.each) > 1:
            squares = float(((logs - logs.mean() - self.inner) ** 2).sum())
            freedom = len(self.each) - 1
            self.found.append((RUN, squares, freedom, freedom))

    @property
    def rank(self) -> int:
        return len(self.each) + self.basis.shape[1]

    @property
    def residuals(self) -> np.ndarray:
        return self.inner - self.basis @ (self.basis.T @ self.inner)

    def within_runs(self, values: np.ndarray) -> np.ndarray:
        """One number a value less the mean of its run."""
        return values - (np.bincount(self.blocks, values) / self.each)[self.blocks]

    def add(self, names: tuple[str, ...], columns: np.ndarray, wanted: int | None = None) -> None:
        """Takes in a term: (names, sum of squares, degrees of freedom, those wanted; as many as
        there are if not given)."""
        if not columns.shape[1]:
            return
        own = columns
        for _ in range(2):  # twice, as once leaves rounding errors in the span of the earlier
            own = np.column_stack([self.within_runs(column) for column in own.T])
            own = own - self.basis @ (self.basis.T @ own)
        axes, triangle, _ = linalg.qr(own, mode="economic", pivoting=True)
        scale = float(np.linalg.norm(columns, axis=0).max())
        rank = int((np.abs(np.diag(triangle)) > RANK_TOLERANCE * scale).sum())
        axes = axes[:, :rank]
        self.basis = np.hstack([self.basis, axes])
        squares = float(((axes.T @ self.inner) ** 2).sum())
        self.found.append((names, squares, rank, rank if wanted is None else wanted))

    def drop(self) -> None:
        """Leaves the last term to the error."""
        self.basis = self.basis[:, : self.basis.shape[1] - self.found.pop()[2]]


def _assembled(
    steps: _Steps,
    design: list[tuple[tuple[str, ...], np.ndarray]],
    reached: np.ndarray,
    sizes: dict[str, int],
    pure: bool,
    each: np.ndarray,
) -> Model:
    """`reached`: the basis without the part of more than two factors; `each`: values a cell."""
    residuals = steps.residuals
    freedom = len(residuals) - steps.rank
    left = float((residuals**2).sum())
    if not freedom or left <= ROUNDING * float((steps.logs**2).sum()):
        left = 0.0
    within = reached.T @ np.hstack([columns for _, columns in design])
    inverse = np.linalg.pinv(within, rcond=RANK_TOLERANCE)
    error = math.sqrt(left / freedom) if left > 0 else None
    return Model(
        sizes=sizes,
        terms=_shares(steps, left, freedom),
        coefficients=inverse @ (reached.T @ steps.inner),
        _inverse=inverse,
        _known=inverse @ within,
        error=error,
        freedom=freedom,
        pure=pure,
        balanced=len(each) == math.prod(sizes.values()) and len(set(each.tolist())) == 1,
        fitted=steps.logs - residuals,
        residuals=residuals,
    )


def _shares(steps: _Steps, left: float, freedom: int) -> list[Term]:
    """The terms with what each explains; the error last. Terms that a grid cannot have are left
    out."""
    total = float(((steps.logs - steps.logs.mean()) ** 2).sum())
    terms = []
    for names, squares, own, wanted in steps.found:
        if wanted == 0:
            continue
        p = None
        if own and left > 0:
            p = float(stats.f.sf(squares / own / (left / freedom), own, freedom))
        terms.append(Term(names, squares / total if total else 0.0, own, wanted, p))
    return [*terms, Term(ERROR, left / total if total else 0.0, freedom, freedom)]
