"""What each factor is worth: main effects and interactions of a log-linear model."""

from __future__ import annotations

from typing import Any, Iterator

from analysis.cells import pairing
from analysis.cells.words import chance
from analysis.judgement.grid import Grid, grid
from analysis.judgement.study import Study
from analysis.pages import factor_sentences
from analysis.pages.blocks import Block, Table
from analysis.pages.factor_sentences import (
    Measure,
    depends_on,
    level_name,
    ratio,
    share,
    split,
)
from analysis.statistics.model import ERROR, RUN, Effect, Term

# Rows of the table of interactions beyond this are left out, those of small shares first.
ROWS_MAX = 40
NOTE = frozenset({"note"})
# The three meanings of CPU time per request.
CPU = {
    pairing.OS_CPU: "OS CPU time per request",
    pairing.BUSY: "busy CPU time per request",
    pairing.CORE: "core time per request",
}


def blocks(study: Study) -> list[Block]:
    """Sentences, shares and effects for requests/s, then for CPU per request; none where nothing
    varies."""
    found: list[Block] = []
    if not study.result.valid:
        return found
    for measure, modelled in _modelled(study):
        if modelled is not None:
            found += _of_measure(modelled, measure)
    return found


def _modelled(study: Study) -> Iterator[tuple[Measure, Grid | None]]:
    """Requests/s, and the CPU time per request that compares among all cells."""
    yield Measure("requests/s", "serves"), study.rates
    cells = [cell for cell in study.found.cells if cell.valid]
    columns = [pairing.cpu_meaning(cells[0], cell)[0] for cell in cells]
    column = next((one for one in columns if one != pairing.OS_CPU), pairing.OS_CPU)
    times = grid(study.found, lambda sample: sample.find("server", column)[0])
    yield Measure(CPU[column], "takes"), times


def _of_measure(modelled: Grid, measure: Measure) -> list[Block]:
    name = measure.name
    parts = [
        Block(f"What explains {name}", factor_sentences.lines(modelled, measure)),
        Block(f"Shares of the variation of log {name}", [], _shares(modelled)),
        Block(f"Effects on {name}, averaged over the other factors", [], _effects(modelled)),
    ]
    table, left_out = _interactions(modelled, _pairs(modelled))
    if table.rows or left_out:
        parts.append(Block(f"Effects on {name} that depend on another factor", left_out, table))
    return parts


def _shares(modelled: Grid) -> Table:
    rows = []
    for term in modelled.model.terms:
        rows.append(
            [
                " x ".join(name.replace("_", " ") for name in term.names),
                share(term.share) if term.freedom else "n/a",
                str(term.freedom),
                "" if term.names in (RUN, ERROR) else _p(modelled.p_adjusted.get(term.names)),
                _note(modelled, term),
            ]
        )
    return Table(["term", "share", "df", "p (Holm)", "note"], rows, words=NOTE)


def _note(modelled: Grid, term: Term) -> str:
    if term.names == ("scenario",):
        return "other work, which is in the runs"
    if not term.freedom:
        return "cannot be told from the terms above: cells are missing"
    if not term.estimable:
        return f"{term.freedom} of its {term.wanted} parts; cells are missing"
    if term.names in (RUN, ERROR) or term.names not in modelled.p_adjusted:
        return ""
    return "" if modelled.is_told(term) else "not told from the error"


def _p(p: float | None) -> str:
    return "n/a" if p is None else chance(p)


def _effects(modelled: Grid) -> Table:
    """Each level against its factor's first."""
    rows = []
    for factor, levels in modelled.factors.items():
        if factor == "scenario":  # other work, which compares with nothing
            continue
        for level in levels[1:]:
            others = depends_on(modelled, factor, level)
            note = f"misleads alone: depends on {' and '.join(others)}" if others else ""
            effect = modelled.effect(factor, level)
            rows.append([*_names(modelled, factor, level), *_numbers(effect), note])
    return Table(["level", "against", "ratio", "95 % CI", "note"], rows, left=2, words=NOTE)


def _names(modelled: Grid, factor: str, level: Any) -> list[str]:
    return [level_name(modelled, factor, one) for one in (level, modelled.factors[factor][0])]


def _numbers(effect: Effect) -> list[str]:
    if effect.ratio is None:
        return ["n/a", f"n/a ({effect.reason})"]
    if effect.low is None or effect.high is None:
        return [ratio(effect.ratio), f"n/a ({effect.reason})"]
    return [ratio(effect.ratio), f"{_bare(effect.low)} to {_bare(effect.high)}"]


def _bare(end: float) -> str:
    return ratio(end).removesuffix(" x")


def _pairs(modelled: Grid) -> list[tuple[str, str]]:
    """Pairs of which the model knows that they do more than noise, greatest share first."""
    terms = [
        term for term in modelled.model.terms if len(term.names) == 2 and modelled.is_told(term)
    ]
    return [split(modelled, term) for term in sorted(terms, key=lambda term: -term.share)]


def _interactions(modelled: Grid, pairs: list[tuple[str, str]]) -> tuple[Table, list[str]]:
    """(table, what was left out): a factor's level at each level of the other, and its ratio there
    over that at the other's first level."""
    rows, left_out = [], []
    for factor, other in pairs:
        own = [
            _interaction(modelled, factor, level, other, at)
            for level in modelled.factors[factor][1:]
            for at in modelled.factors[other]
        ]
        if len(rows) + len(own) > ROWS_MAX:
            left_out.append(f"{factor} x {other}")
        else:
            rows += own
    titles = ["level", "against", "at", "ratio", "95 % CI", "over the first", "95 % CI of that"]
    if left_out:
        left_out = [f"Left out, as the table would be too long: {', '.join(left_out)}."]
    return Table(titles, rows, left=3), left_out


def _interaction(modelled: Grid, factor: str, level: Any, other: str, at: Any) -> list[str]:
    first = at == modelled.factors[other][0]
    over = ["", ""] if first else _numbers(modelled.interaction(factor, level, other, at))
    effect = modelled.effect(factor, level, {other: at})
    place = level_name(modelled, other, at)
    return [*_names(modelled, factor, level), place, *_numbers(effect), *over]
