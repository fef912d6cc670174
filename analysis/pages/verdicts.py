"""The verdicts of a run: one word for each comparison, with its interval, and the gate.

The two may differ, for they ask different things: a verdict whether a change is real, a gate of
kind point whether a median lies beyond its bound. Where they do, it is said what each means.
"""

from __future__ import annotations

from collections import Counter

from analysis.cells.pairing import Pair
from analysis.cells.words import times
from analysis.judgement import gate as gates_asked
from analysis.judgement import gates, judged
from analysis.judgement.calibration import Floor
from analysis.judgement.gates import GateOutcome, Half, Row
from analysis.judgement.judged import CPU, Judged
from analysis.judgement.study import Study
from analysis.judgement.verdicts import (
    ALPHA,
    BETTER,
    EQUIVALENT,
    INCONCLUSIVE,
    MARGIN,
    WORSE,
)
from analysis.pages import floor
from analysis.pages.blocks import Block, Table

TITLES = [
    "place",
    "number",
    "ratio",
    "95 % interval",
    "bootstrap",
    "p (Holm)",
    "blocks",
    "verdict",
]
WORDS = (BETTER, WORSE, EQUIVALENT, INCONCLUSIVE)
MEANING = (
    f"better, worse: the ratio is not 1, with p at most {ALPHA:g} after Holm's correction for all"
    f" that are judged together; equivalent: the whole 95 % interval lies within {MARGIN:.0%} of 1;"
    " inconclusive: neither, which does not say that they are equal."
)
UNCALIBRATED = (
    "No calibration of this host is known, so the noise floor is this run's own spread: it is told,"
    " and refuses nothing. `./weir calibrate` measures one."
)


def blocks(study: Study) -> list[Block]:
    """Verdicts, the gate where variants ran, the noise floor that an A/A run found; nothing where
    nothing was compared."""
    made = []
    if study.judged:
        made.append(Block("Verdicts", [*_lines(study), *a_a(study)], _table(study.judged)))
    if study.pairs or study.gate.gate.stated:
        made.append(Block("Gate", _gate_lines(study), _gate_table(study.gate)))
    if study.no_a_a is None and study.calibration is not None:
        made.append(floor.block(study.calibration))
    return made


# Verdicts


def _lines(study: Study) -> list[str]:
    """How many were judged, what the words mean, how often each fell."""
    rows = study.judged
    with_interval = sum(row.ratio.low is not None for row in rows)
    fallen = Counter(row.verdict.word for row in rows)
    lines = [
        (
            f"Judged together: {judged.family(rows)}, of which {with_interval} have an interval; a"
            " block is one run, with a server's boot a side."
        ),
        MEANING,
        f"Here: {', '.join(f'{fallen[word]} {word}' for word in WORDS if fallen[word])}.",
    ]
    if any(row.measure == CPU for row in rows):
        lines.append("Of CPU per request less is better.")
    return lines


def a_a(study: Study) -> list[str]:
    """Of an A/A run, whether it found what cannot be there."""
    if study.no_a_a is not None:
        return []
    wrong = study.false_alarms
    if not wrong:
        return [
            "This is an A/A run: both variants are one program with the same settings, and no"
            " verdict tells them apart, as it should be."
        ]
    places = ", ".join(f"{row.measure} of {row.where}: {row.verdict.word}" for row in wrong)
    return [
        f"SOMETHING IS WRONG: this is an A/A run, both variants are one program with the same"
        f" settings, and yet {places}. Chance does this in at most {ALPHA:.0%} of A/A runs. Look"
        " at the order of the samples, at drift, and at what else ran; believe no other verdict of"
        " this host until another A/A run is clean."
    ]


def _table(rows: list[Judged]) -> Table:
    several = len({row.of.name for row in rows if isinstance(row.of, Pair)}) > 1
    return Table(TITLES, [_row(row, several) for row in rows], left=2)


def _row(row: Judged, several: bool) -> list[str]:
    ratio, boot, p = row.ratio, row.ratio.boot, row.verdict.p_adjusted
    name = f" ({row.of.name})" if several and isinstance(row.of, Pair) else ""
    return [
        row.where + name,
        row.measure,
        number(ratio.ratio) or f"n/a ({ratio.reason})",
        ends(ratio.low, ratio.high) or f"n/a ({ratio.reason})",
        ends(boot.low, boot.high) or f"n/a ({boot.reason})",
        "n/a (no interval)" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}",
        str(ratio.blocks) if ratio.blocks else f"{ratio.n_new} + {ratio.n_base}, not paired",
        row.verdict.word,
    ]


def number(ratio: float | None) -> str:
    """A ratio to three decimals; empty where it is not known."""
    if ratio is None:
        return ""
    if ratio >= 10:
        return times(ratio)
    return f"{ratio:.3f}" if ratio >= 0.001 else f"{ratio:.1e}"


def ends(low: float | None, high: float | None) -> str:
    """E.g. "0.975 to 1.031"; empty where they are not known."""
    return "" if low is None or high is None else f"{number(low)} to {number(high)}"


# Gate


def _gate_lines(study: Study) -> list[str]:
    outcome = study.gate
    if outcome.word == gates.NO_GATE:
        return outcome.lines
    word = {gates.PASS: "passes", gates.FAIL: "fails", gates.REFUSED: "is refused"}
    says = word.get(outcome.word, "is undecided")
    lines = [f"The gate (kind {outcome.gate.kind}) {says}.", *outcome.lines]
    lines += _beyond_but_untold(outcome.rows)
    if outcome.rows:
        lines.append(_calibrated(study))
    return lines


def _beyond_but_untold(rows: list[Row]) -> list[str]:
    """Where a gate on medians fails and the interval does not say so."""
    halves = [
        f"{half.name} of {row.pair.place} ({number(half.ratio.number)}, interval"
        f" {ends(half.change.ratio.low, half.change.ratio.high) or 'n/a'})"
        for row in rows
        for half in row.halves
        if half.word == gates.FAIL and not _told_by_interval(half)
    ]
    if not halves:
        return []
    return [
        "The medians lie beyond the bound, but the interval over blocks does not, in"
        f" {len(halves)}: {', '.join(halves)}. There the gate fails by its own rule, and noise alone may have"
        " done it."
    ]


def _told_by_interval(half: Half) -> bool:
    low, high = half.change.ratio.low, half.change.ratio.high
    if low is None or high is None:
        return False
    return high < half.bound if half.least else low > half.bound


def _calibrated(study: Study) -> str:
    """By whose noise the floor is."""
    known = study.calibration
    if known is None:
        return UNCALIBRATED
    if study.no_a_a is None:
        return "The noise floor is this run's own: it is an A/A run."
    when = known.source.get("started_at") or "n/a (not recorded)"
    return (
        f"The noise floor is that of the A/A run {known.source.get('result')} on this host,"
        f" measured {when} with windows of {known.settings.get('duration')}."
    )


def _gate_table(outcome: GateOutcome) -> Table | None:
    if not outcome.rows:
        return None
    judged = "95 % interval" if outcome.gate.kind == gates_asked.INTERVAL else "ratio of medians"
    several = len({row.pair.name for row in outcome.rows}) > 1
    titles = ["place", "number", judged, "bound", "room", "noise floor", "word"]
    rows = [
        _half_row(row.pair.place + (f" ({row.pair.name})" if several else ""), half, outcome)
        for row in outcome.rows
        for half in row.halves
    ]
    return Table(titles, rows, left=2)


def _half_row(place: str, half: Half, outcome: GateOutcome) -> list[str]:
    ratio = half.change.ratio
    if outcome.gate.kind == gates_asked.INTERVAL:
        shown = ends(ratio.low, ratio.high) or f"n/a ({ratio.reason})"
    else:
        shown = number(half.ratio.number) or f"n/a ({half.ratio.reason})"
    word = half.word + (f" ({half.why})" if half.why and half.ratio.number is not None else "")
    return [
        place,
        half.name,
        shown,
        f"{'at least' if half.least else 'at most'} {half.bound:g}",
        f"{half.room:.1%}",
        _floor(half.floor),
        f"{word}; refused" if half.below_floor and outcome.gate.stated else word,
    ]


def _floor(known: Floor | None) -> str:
    """E.g. "3.4% (respond-64)"."""
    if known is None:
        return "n/a (no spread)"
    if known.blocks < 2:
        return "n/a (one run)"
    return f"{known.half_width:.1%} ({known.of if known.calibrated else 'own spread'})"
