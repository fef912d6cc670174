"""Two sentences that answer an experiment's question by the verdicts of its comparisons, and claim no
more than these.

The question is about the factors in the order in which the experiment lists them: the first
sentence is of the first that varies, the second of the next; where one alone varies, the second
says how sure the first is. Where the bare echo is a level, the question is what share of it
the pipeline reaches, and the first sentence is of that alone. Where variants are compared, both
sentences are of them: what the verdicts tell, and where the gate holds, if one was asked for.
"""

from __future__ import annotations

import math
from typing import Any

from analysis.pages import gate
from analysis.cells.aggregate import Aggregate, Comparison
from analysis.cells.words import capital, context_of, count, describe, interval_of, percent, times
from analysis.inputs.load import Result
from analysis.judgement.judged import RPS, Judged
from analysis.judgement.study import Study
from analysis.judgement.verdicts import BETTER, EQUIVALENT, INCONCLUSIVE, MARGIN, WORSE

# What a word says of a level against its base, and how the most extreme of several is led in.
VERBS = {
    BETTER: ("serves more than", "up to"),
    WORSE: ("serves less than", "down to"),
    EQUIVALENT: (f"lies within {MARGIN:.0%} of", "the most extreme"),
}


def headline(study: Study) -> list[str]:
    """Two sentences; one where nothing was measured."""
    result, found = study.result, study.found
    if not result.valid:
        return [f"No sample of {len(result.samples)} is valid, so the question stays open."]
    shares = [one for one in found.comparisons if one.factor == "bare"]
    by_factor: dict[str, list[Judged]] = {}
    for row in study.judged:
        if row.measure == RPS:
            by_factor.setdefault(row.comparison.factor, []).append(row)
    if shares:
        texts = [_share(shares)]
    else:
        texts = [_of_factor(rows, found.factors[name]) for name, rows in by_factor.items()][:2]
    if study.pairs and study.gate.gate.stated:
        texts.append(gate.sentence(study))
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
    place = (f"{place}, " if place else "") + interval_of(worst.ratio, percent)
    text = f"the pipeline reaches {percent(overall)} of the bare echo's requests/s"
    unknown = _without(len(rows) - len(known), "a ratio")
    if len(known) == 1:
        return f"{text} ({place}){unknown}"
    return (
        f"{text}, the geometric mean over {count(len(known), 'cell')}, and at worst"
        f" {percent(worst.ratio.ratio)} ({place}){unknown}"
    )


def _of_factor(rows: list[Judged], levels: list[Any]) -> str:
    """All comparisons of a factor, level by level."""
    clauses = [
        _clause([row for row in rows if row.comparison.level == level])
        for level in levels
        if any(row.comparison.level == level for row in rows)
    ]
    return "; ".join(clauses)


def _clause(rows: list[Judged]) -> str:
    """E.g. "uring@loopback serves more than epoll@loopback in 3 of 4 comparisons, ..."; how often
    is by the verdicts' words, as in their table."""
    one = rows[0].comparison
    level, base = (describe(one.factor, side) for side in (one.level, one.base))
    known = [row for row in rows if row.ratio.low is not None]
    if not known:
        return (
            f"whether {level} serves more than {base} cannot be said: no interval in"
            f" {_any_of(len(rows))} ({rows[0].ratio.reason})"
        )
    of = {word: [row for row in known if row.verdict.word == word] for word in VERBS}
    parts = [
        f"{verb} {base} {_where(of[word], rows, way)}"
        for word, (verb, way) in VERBS.items()
        if of[word]
    ]
    silent = _without(len(rows) - len(known))
    unsure = [row for row in known if row.verdict.word == INCONCLUSIVE]
    if not parts:
        return f"{level} cannot be told apart from {base} {_unsure(unsure, rows)}{silent}"
    rest = f"; the other {_inconclusive(unsure)}" if unsure else ""
    return f"{level} {' and '.join(parts)}{rest}{silent}"


def _unsure(unsure: list[Judged], rows: list[Judged]) -> str:
    """Where nothing is told apart: how often, and how far the most extreme lies from 1."""
    extreme = max(unsure, key=_far)
    often = f"in {_any_of(len(unsure))}"
    most = ", the most extreme " if len(rows) > 1 else ": "
    only = _only_by_correction(unsure)
    return f"{often}{most}{_told(extreme)}" + (f"; {only}" if only else "")


def _inconclusive(unsure: list[Judged]) -> str:
    """E.g. "2 are inconclusive"."""
    only = _only_by_correction(unsure)
    verb = "is" if len(unsure) == 1 else "are"
    return f"{len(unsure)} {verb} inconclusive" + (f" ({only})" if only else "")


def _only_by_correction(unsure: list[Judged]) -> str:
    """How many would be told apart if they stood alone."""
    alone = sum(row.ratio.excludes_one for row in unsure)
    if not alone:
        return ""
    intervals = "1 interval excludes" if alone == 1 else f"{alone} intervals exclude"
    return (
        f"{intervals} 1, but not after correction for"
        f" {count(unsure[0].verdict.judged, 'comparison')}"
    )


def _far(row: Judged) -> float:
    return abs(math.log(row.ratio.ratio or 1))


def _without(comparisons: int, what: str = "an interval") -> str:
    """Where nobody can say, which is not the same as that nothing can be told apart."""
    return f" ({comparisons} more without {what})" if comparisons else ""


def _any_of(comparisons: int) -> str:
    return "the only comparison" if comparisons == 1 else f"any of {comparisons} comparisons"


def _where(told: list[Judged], rows: list[Judged], way: str) -> str:
    """How often, and the most extreme with its place and interval."""
    often = f"in {len(told)} of {count(len(rows), 'comparison')}, {way} " if len(rows) > 1 else ""
    return often + _told(max(told, key=_far))


def _told(row: Judged) -> str:
    """E.g. "5.13 x (at depth 8, 95 % CI 4.80 to 5.40; 3 runs)"."""
    place = context_of(row.comparison)
    place = f"{place}, " if place else ""
    return f"{times(row.ratio.ratio or 1)} x ({place}{interval_of(row.ratio)})"


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
