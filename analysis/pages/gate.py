"""The gate of a run that compared variants: what it judged by, a word for each number of each place.

Where nobody asked for a gate, the usual bounds are shown, in words that are no judgement: `within`
and `beyond`, never `pass` and `fail`.
"""

from __future__ import annotations

from analysis.cells.aggregate import Aggregate
from analysis.cells.words import count, some
from analysis.judgement import gate as asked
from analysis.judgement import calibration_file, gates
from analysis.judgement.calibration import Floor
from analysis.judgement.gates import GateOutcome, Half, Row
from analysis.judgement.study import Study
from analysis.pages.blocks import Block, Table
from analysis.pages.ratios import ends, number

UNCALIBRATED = (
    "No calibration of this host is known, so the noise floor is this run's own spread: it is told,"
    " and refuses nothing. `./weir calibrate` measures one."
)
# What a word of the gate is called where nobody asked for one.
INFORMATION = {gates.PASS: "within", gates.FAIL: "beyond"}


def block(study: Study) -> Block:
    """The gate's word and bounds, and each number beside its bound and the noise floor."""
    outcome = study.gate
    return Block(title(outcome), _lines(study), _table(outcome))


def title(outcome: GateOutcome) -> str:
    """Of the gate's part, and of a column with its words."""
    return "Gate" if outcome.gate.stated else "Usual bounds"


def word_of(of: Row | Half, outcome: GateOutcome) -> str:
    """The word of a pair, or of one number of it, e.g. "fail (CPU)", or "beyond (CPU)" where no gate
    was asked for."""
    text = of.text if isinstance(of, Row) else of.word
    if outcome.gate.stated:
        return text
    first, *rest = text.split(" ", 1)
    return " ".join([INFORMATION.get(first, first), *rest])


def place_noun(found: Aggregate) -> str:
    """What the variants are compared in."""
    return "scenario" if "scenario" in found.factors else "cell"


def sentence(study: Study) -> str:
    """Of each variant: where the gate holds, where it does not, where nobody knows."""
    outcome, told = study.gate, []
    for name in dict.fromkeys(pair.name for pair in study.pairs):
        base = study.pairs[0].base_name
        rows = [row for row in outcome.rows if row.pair.name == name]
        unjudged = _not_judged(outcome)
        words = {
            gates.NO_GATE: "no gate is judged",
            gates.REFUSED: "the gate is refused, for "
            + ("not all compares" if study.refused else "it is tighter than this host's noise floor"),
        }.get(outcome.word) or _holds(rows, outcome, place_noun(study.found))
        told.append(f"{name} against {base}: {words}{unjudged}")
    if not outcome.gate.stated:
        told.append("no gate was asked for, so this judges nothing")
    return "; ".join(told)


def _holds(rows: list[Row], outcome: GateOutcome, noun: str) -> str:
    """E.g. "the gate holds in 1 of 2 scenarios; it fails in 1 (echo: fail (CPU))"."""
    stated = outcome.gate.stated
    held = sum(row.word == gates.PASS for row in rows)
    begin = "the gate holds" if stated else "its medians lie within the usual bounds"
    text = f"{begin} in {held} of {count(len(rows), noun)}"
    verbs = {
        gates.FAIL: "it fails" if stated else "beyond them",
        gates.UNDECIDED: "it is undecided" if stated else "not known",
    }
    for word, verb in verbs.items():
        places = [f"{row.pair.place}: {_why(row, outcome)}" for row in rows if row.word == word]
        if places:
            text += f"; {verb} in {len(places)} ({some(places)})"
    return text


def _not_judged(outcome: GateOutcome) -> str:
    """That there are places beside those in which it holds or does not."""
    places = [f"{one.place}: {one.why}" for one in outcome.unjudged]
    return f"; not judged, {len(places)} more ({some(places)})" if places else ""


def _why(row: Row, outcome: GateOutcome) -> str:
    """E.g. "fail (CPU)", or "CPU" after the word `beyond`."""
    if outcome.gate.stated or row.word != gates.FAIL:
        return word_of(row, outcome)
    return " and ".join(half.name for half in row.halves if half.word == gates.FAIL)


def _lines(study: Study) -> list[str]:
    outcome = study.gate
    if outcome.word == gates.NO_GATE:
        return outcome.lines
    word = {gates.PASS: "passes", gates.FAIL: "fails", gates.REFUSED: "is refused"}
    says = word.get(outcome.word, "is undecided")
    lines = [f"The gate (kind {outcome.gate.kind}) {says}."] if outcome.gate.stated else []
    lines += [*outcome.lines, *_beyond_but_untold(outcome)]
    if outcome.rows:
        lines.append(_calibrated(study))
    return lines


def _beyond_but_untold(outcome: GateOutcome) -> list[str]:
    """Where a gate on medians fails and the interval does not say so."""
    halves = [
        f"{half.name} of {row.pair.place} ({number(half.ratio.number)}, interval"
        f" {ends(half.change.ratio.low, half.change.ratio.high) or 'n/a'})"
        for row in outcome.rows
        for half in row.halves
        if half.word == gates.FAIL and not _told_by_interval(half)
    ]
    if not halves:
        return []
    rule = "There the gate fails by its own rule, and noise" if outcome.gate.stated else "Noise"
    return [
        "The medians lie beyond the bound, but the interval over blocks does not, in"
        f" {len(halves)}: {some(halves)}. {rule} alone may have done it."
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
        f" measured {when}, {calibration_file.age(study.result, known)}, with windows of {known.settings.get('duration')}."
    )


def _table(outcome: GateOutcome) -> Table | None:
    if not outcome.rows:
        return None
    judged = "95 % interval" if outcome.gate.kind == asked.INTERVAL else "ratio of medians"
    several = len({row.pair.name for row in outcome.rows}) > 1
    word = title(outcome).lower()
    titles = ["place", "number", judged, "bound", "room", "noise floor", word]
    rows = [
        _half(row.pair.place + (f" ({row.pair.name})" if several else ""), half, outcome)
        for row in outcome.rows
        for half in row.halves
    ]
    return Table(titles, rows, left=2, words=frozenset({word}))


def _half(place: str, half: Half, outcome: GateOutcome) -> list[str]:
    ratio = half.change.ratio
    if outcome.gate.kind == asked.INTERVAL:
        shown = ends(ratio.low, ratio.high) or f"n/a ({ratio.reason})"
    else:
        shown = number(half.ratio.number) or f"n/a ({half.ratio.reason})"
    why = f" ({half.why})" if half.why and half.ratio.number is not None else ""
    word = word_of(half, outcome) + why
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
    return f"{known.half_width:.1%} ({known.of})"
