"""Two sentences that answer an experiment's question from its aggregate, with intervals, and claim no
more than these carry.

The question is about the factors in the order in which the experiment lists them: the first
sentence is of the first that varies, the second of the next; where one alone varies, the second
says how sure the first is. Where the bare echo is a level, the question is what share of it
the pipeline reaches, and the first sentence is of that alone. Where variants are compared, both
sentences are of them: what the intervals tell, and where the gate holds.
"""

from __future__ import annotations

import math
from typing import Any

from analysis.pages import gate
from analysis.cells.aggregate import Aggregate, Comparison
from analysis.cells.words import capital, context_of, count, describe, interval_of, percent, times
from analysis.inputs.load import Result
from analysis.judgement.study import Study


def headline(study: Study) -> list[str]:
    """Two sentences; one where nothing was measured."""
    result, found = study.result, study.found
    if not result.valid:
        return [f"No sample of {len(result.samples)} is valid, so the question stays open."]
    by_factor: dict[str, list[Comparison]] = {}
    for one in found.comparisons:
        by_factor.setdefault(one.factor, []).append(one)
    if "bare" in by_factor:
        texts = [_share(by_factor["bare"])]
    elif "variant" in by_factor:
        texts = [_of_factor(by_factor["variant"], found.factors["variant"]), gate.sentence(study)]
    else:
        texts = [_of_factor(rows, found.factors[name]) for name, rows in by_factor.items()][:2]
    if not texts:
        texts = [_alone(found)]
    if len(texts) < 2:
        texts.append(f"It rests on {len(result.valid)} valid samples of {len(result.samples)}")
    texts[1] += _saturation(result)
    return [f"{capital(text)}." for text in texts]


def _share(rows: list[Comparison]) -> str:
    """What the pipeline reaches of the bare echo: overall and where it reaches least."""
    known = [row for row in rows if row.ratio.ratio is not None]
    if not known:
        return f"what the pipeline reaches of the bare echo is n/a ({rows[0].ratio.reason})"
    worst = min(known, key=lambda row: row.ratio.ratio)
    overall = math.exp(sum(math.log(row.ratio.ratio) for row in known) / len(known))
    place = context_of(worst)
    place = (f"{place}, " if place else "") + interval_of(worst, percent)
    text = f"the pipeline reaches {percent(overall)} of the bare echo's requests/s"
    unknown = _without(len(rows) - len(known), "a ratio")
    if len(known) == 1:
        return f"{text} ({place}){unknown}"
    return (
        f"{text}, the geometric mean over {count(len(known), 'cell')}, and at worst"
        f" {percent(worst.ratio.ratio)} ({place}){unknown}"
    )


def _of_factor(rows: list[Comparison], levels: list[Any]) -> str:
    """All comparisons of a factor, level by level."""
    clauses = [
        _clause([row for row in rows if row.level == level])
        for level in levels
        if any(row.level == level for row in rows)
    ]
    return "; ".join(clauses)


def _clause(rows: list[Comparison]) -> str:
    """E.g. "uring@loopback serves more than epoll@loopback in 3 of 4 comparisons, ..."."""
    level = describe(rows[0].factor, rows[0].level)
    base = describe(rows[0].factor, rows[0].base)
    told = [row for row in rows if row.ratio.excludes_one]
    if not told:
        return _not_told(rows, level, base)
    more = sorted((row for row in told if row.ratio.ratio > 1), key=lambda row: -row.ratio.ratio)
    less = sorted((row for row in told if row.ratio.ratio < 1), key=lambda row: row.ratio.ratio)
    parts = []
    if more:
        parts.append(f"serves more than {base} {_where(more, rows, 'up to')}")
    if less:
        parts.append(f"serves less than {base} {_where(less, rows, 'down to')}")
    silent = sum(row.ratio.low is None for row in rows)
    open_rows = len(rows) - len(told) - silent
    if open_rows:
        parts.append(f"cannot be told apart from it in {open_rows}")
    return f"{level} {' and '.join(parts)}{_without(silent)}"


def _not_told(rows: list[Comparison], level: str, base: str) -> str:
    if all(row.ratio.low is None for row in rows):
        return (
            f"whether {level} serves more than {base} cannot be said: no interval in"
            f" {_any_of(len(rows))} ({rows[0].ratio.reason})"
        )
    silent = sum(row.ratio.low is None for row in rows)
    places = _any_of(len(rows) - silent) + _without(silent)
    return f"{level} cannot be told apart from {base} in {places}"


def _without(comparisons: int, what: str = "an interval") -> str:
    """Where nobody can say, which is not the same as that nothing can be told apart."""
    return f" ({comparisons} more without {what})" if comparisons else ""


def _any_of(comparisons: int) -> str:
    return "the only comparison" if comparisons == 1 else f"any of {comparisons} comparisons"


def _where(told: list[Comparison], rows: list[Comparison], word: str) -> str:
    """How often, and the most extreme with its place and interval."""
    extreme = told[0]
    place = context_of(extreme)
    often = f"in {len(told)} of {count(len(rows), 'comparison')}, {word} " if len(rows) > 1 else ""
    place = f"{place}, " if place else ""
    return f"{often}{times(extreme.ratio.ratio)} x ({place}{interval_of(extreme)})"


def _alone(found: Aggregate) -> str:
    """Nothing to compare with: what there is, and no more."""
    cells = [cell for cell in found.cells if cell.valid]
    low = min(cell.known("rps_min") for cell in cells)
    high = max(cell.known("rps_max") for cell in cells)
    return (
        f"Nothing was compared: {count(len(cells), 'cell')} measured {low:,.0f} to"
        f" {high:,.0f} requests/s"
    )


def _saturation(result: Result) -> str:
    """A client at its limit speaks against both sentences."""
    saturated = sum(
        (sample.raw.get("client") or {}).get("saturated") is True for sample in result.valid
    )
    if not saturated:
        return ""
    return (
        f"; in {saturated} of {count(len(result.valid), 'valid sample')} the client was at its"
        " limit, which hides differences"
    )
