"""What a grid's model says, in plain sentences that claim no more than its intervals carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from analysis.cells.labels import short
from analysis.cells.words import capital, describe, level_of
from analysis.judgement.grid import Grid
from analysis.statistics.model import ERROR, HIGHER, Effect, RUN, Term

NOISE_P_MAX = 0.01
# Terms that explain less are not in the first sentence; pairs that explain less have none.
SHARE_NAMED, SHARE_PAIR = 0.05, 0.02
TERMS_NAMED, PAIRS_NAMED = 4, 3
# An average is misleading where a level's own effect differs from it by more than this, and by
# more than its interval.
APART = 1.1
# A standard deviation of logs beyond this is no share of anything.
SPREAD_MAX = 3.0


@dataclass(frozen=True)
class Measure:
    """What is modelled, and what is said of a level that has more of it."""

    name: str
    verb: str  # e.g. "serves" more or less of it


def lines(grid: Grid, measure: Measure) -> list[str]:
    """The shares; what each pair that matters means; what to beware of; how it was done."""
    told = [term for term in _terms(grid) if grid.is_told(term)]
    if not told:
        return [_nothing(grid, measure.name), *_method(grid)]
    pairs = [term for term in told if len(term.names) == 2 and _within(grid, term) >= SHARE_PAIR]
    found = [_explained(grid, told, measure.name)]
    for term in pairs[:PAIRS_NAMED]:
        found += _dependence(grid, *split(grid, term), measure)
    return [*found, *_beware(grid), *_noise(grid), *_method(grid)]


def share(part: float) -> str:
    """E.g. "61 %", "4.2 %", "<0.1 %"."""
    if part < 0.0005:
        return "<0.1 %"
    return f"{100 * part:.0f} %" if part >= 0.0995 else f"{100 * part:.1f} %"


def ratio(number: float) -> str:
    """Three significant digits, small ones too: "17.1 x", "0.0412 x", "1.20e+09 x"."""
    return f"{number:.0f} x" if 99.95 <= number < 1e6 else f"{float(f'{number:.3g}'):#.3g} x"


def level_name(grid: Grid, factor: str, level: Any) -> str:
    """A level in words; stacks as short as they are told apart, scenarios by their names."""
    if factor in ("stack", "client_stack"):
        return short(factor, level, grid.factors[factor])
    return str(level) if factor == "scenario" else describe(factor, level)


def split(grid: Grid, term: Term) -> tuple[str, str]:
    """A pair as (factor, other): whose effect is told, and at whose levels. Scenarios are places,
    numbers are conditions, and a stack is what other choices are made on."""
    rank = {"scenario": 3, "stack": 1}

    def condition(name: str) -> float:
        numeric = all(type(level) in (int, float) for level in grid.factors[name])
        return rank.get(name, 2 if numeric else 0)

    one, two = term.names
    return (two, one) if condition(one) > condition(two) else (one, two)


def depends_on(grid: Grid, factor: str, level: Any) -> list[str]:
    """The factors at one of whose levels the level is worth something else than on average: beyond
    that place's interval, and more than APART."""
    mean = grid.effect(factor, level)
    return [
        other.replace("_", " ")
        for other, places in grid.factors.items()
        if other != factor
        and mean.ratio is not None
        and any(_apart(grid.effect(factor, level, {other: at}), mean.ratio) for at in places)
    ]


def _apart(effect: Effect, mean: float) -> bool:
    if effect.ratio is None or effect.low is None or effect.high is None:
        return False
    outside = not effect.low <= mean <= effect.high
    return outside and abs(math.log(effect.ratio / mean)) > math.log(APART)


def _terms(grid: Grid) -> list[Term]:
    """Factors and pairs, the greatest share first."""
    terms = [
        term
        for term in grid.model.terms
        if term.names not in (RUN, HIGHER, ERROR) and term.freedom and term.share > 0
    ]
    return sorted(terms, key=lambda term: -term.share)


def _nothing(grid: Grid, what: str) -> str:
    """That no factor is told from noise, and why."""
    terms = _terms(grid)
    if grid.model.error is not None or not terms:
        return f"No factor can be told from noise in {what}."
    return (
        f"No factor can be told from noise in {what}, for nothing is left over to judge the noise"
        f" by: {_name(terms[0])} has the greatest share of the variation of log {what},"
        f" {share(_within(grid, terms[0]))}."
    )


def _within(grid: Grid, term: Term) -> float:
    """A term's share of the variation; where there are scenarios, of that within their runs."""
    runs = grid.model.term(*RUN) if "scenario" in grid.factors else None
    return term.share / max(1 - (runs.share if runs else 0.0), 1e-12)


def _explained(grid: Grid, told: list[Term], what: str) -> str:
    """E.g. "depth explains 61 % of the variation of log requests/s, delivery 20 %"."""
    named = [term for term in told if _within(grid, term) >= SHARE_NAMED][:TERMS_NAMED] or told[:1]
    scope = " within the runs of a scenario" if "scenario" in grid.factors else ""
    first, *others = named
    size = share(_within(grid, first))
    parts = [f"{_name(first)} explains {size} of the variation of log {what}{scope}"]
    parts += [f"{_name(term)} {share(_within(grid, term))}" for term in others]
    noise = grid.model.term(*ERROR)
    assert noise is not None and grid.model.error is not None  # else no term would be told
    return (
        f"{capital(', '.join(parts))}; {share(_within(grid, noise))} is left to noise, a standard"
        f" deviation of {_spread(grid.model.error)} a sample."
    )


def _spread(of_logs: float) -> str:
    """A standard deviation of logs as a share."""
    return share(math.expm1(of_logs)) if of_logs < SPREAD_MAX else "a factor of more than 20"


def _name(term: Term) -> str:
    words = [name.replace("_", " ") for name in term.names]
    return words[0] if len(words) == 1 else f"the interaction of {words[0]} and {words[1]}"


def _dependence(grid: Grid, factor: str, other: str, measure: Measure) -> list[str]:
    """What each level of a factor is worth at each level of another."""
    base = level_name(grid, factor, grid.factors[factor][0])
    found = []
    for level in grid.factors[factor][1:]:
        effects = {at: grid.effect(factor, level, {other: at}) for at in grid.factors[other]}
        known = {at: effect for at, effect in effects.items() if effect.ratio is not None}
        if not known:
            continue
        numbers = ", ".join(
            f"{ratio(effect.ratio or 0)} {_at(grid, other, at)}" for at, effect in known.items()
        )
        said = _verdict(grid, other, known, measure)
        name = capital(level_name(grid, factor, level))
        found.append(f"{name} against {base} {said}: {numbers}.")
    return found


def _verdict(grid: Grid, other: str, known: dict[Any, Effect], measure: Measure) -> str:
    """Where the intervals lie above 1, and where below."""
    up = [at for at, effect in known.items() if effect.low is not None and effect.low > 1]
    down = [at for at, effect in known.items() if effect.high is not None and effect.high < 1]
    more, less = (f"{measure.verb} {word} {measure.name}" for word in ("more", "less"))
    places = other.replace("_", " ")
    if not up and not down:
        return f"cannot be told apart in {measure.name} {_preposition(other)} any {places}"
    for side, text in ((up, more), (down, less)):
        if len(side) == len(known):
            return f"{text} {_preposition(other)} every {places}, but not equally"
    parts = [
        f"{text} only {_where(grid, other, side)}"
        for side, text in ((up, more), (down, less))
        if side
    ]
    return ", and ".join(parts)


def _where(grid: Grid, other: str, places: list[Any]) -> str:
    """E.g. "at depth 8 and 32"."""
    first, *rest = places
    words = [_at(grid, other, first), *(_bare(grid, other, at) for at in rest)]
    return words[0] if not rest else f"{', '.join(words[:-1])} and {words[-1]}"


def _at(grid: Grid, factor: str, level: Any) -> str:
    return f"{_preposition(factor)} {level_name(grid, factor, level)}"


def _preposition(factor: str) -> str:
    return {"stack": "on", "scenario": "in", "delivery": "with"}.get(factor, "at")


def _bare(grid: Grid, factor: str, level: Any) -> str:
    return level_name(grid, factor, level) if factor == "stack" else level_of(factor, level)


def _beware(grid: Grid) -> list[str]:
    """Averages that hold nowhere, and what the model's tables leave out."""
    found, unlike = [], []
    for factor, levels in grid.factors.items():
        others = {name for level in levels[1:] for name in depends_on(grid, factor, level)}
        if others and factor != "scenario":
            names = [name.replace("_", " ") for name in grid.factors]
            places = " and ".join(name for name in names if name in others)
            unlike.append(f"what {factor.replace('_', ' ')} is worth depends on {places}")
    if unlike:
        found.append(f"Averages mislead here: {'; '.join(unlike)}. Read the effects at each level.")
    higher = grid.model.term(*HIGHER)
    if higher is not None and grid.model.pure and grid.is_told(higher):
        found.append(
            f"Three and more factors at once explain another {share(_within(grid, higher))}: even"
            " the effects at a level of one other factor are averages over unlike cases, and the"
            " ratios of single cells say which."
        )
    return found


def _noise(grid: Grid) -> list[str]:
    """Where one error for all is not true."""
    found = []
    for factor, levels in grid.factors.items():
        p, spreads = grid.noises(factor)
        if p is None or p > NOISE_P_MAX:
            continue
        low, high = (pick(spreads, key=lambda at: spreads[at]) for pick in (min, max))
        ends = [
            f"{_spread(spreads[at])} {_at(grid, factor, levels[at])}"
            for at in (high, low)
        ]
        found.append(
            f"Noise differs: {ends[0]}, {ends[1]}. The model takes one noise for all, so intervals"
            " are too narrow in the one and too wide in the other; the ratios of single cells have"
            " their own."
        )
    return found


def _method(grid: Grid) -> list[str]:
    model = grid.model
    error = "repetition alone" if model.pure else "all that pairs leave, for no cell was repeated"
    intervals = (
        f"t intervals with {model.freedom} degrees of freedom, each of 95 % by itself, the error"
        f" being {error}."
    )
    if model.error is None:
        intervals = "there are no intervals, as the model leaves nothing over."
    found = [
        f"Log-linear model of {len(grid.samples)} samples, runs as blocks, levels as names; least"
        f" squares, {intervals}"
    ]
    if model.error is not None:
        found.append(
            "It may tell what single verdicts do not, for it takes one noise from all samples, where"
            " a verdict has that of its own cells alone; its p values are corrected among its own"
            " terms, a family apart from the verdicts'."
        )
    if not model.balanced:
        found.append(
            "The grid is not balanced, so a share counts what earlier terms leave: another order of"
            " factors would give other shares. Effects do not depend on the order."
        )
    if grid.unknown:
        found.append(f"{grid.unknown} valid samples do not know the number and are left out.")
    return found
