"""The gate of a run that compared variants: what it judged by, a word for each number of each place.

Where nobody asked for a gate, the usual bounds are shown, in words that are no judgement: `within`
and `beyond`, never `pass` and `fail`.
"""

from __future__ import annotations

from analysis.cells.aggregate import Aggregate
from analysis.cells.words import count, ends_of, point_of, some, times
from analysis.inputs.load import Result
from analysis.judgement import gate as asked
from analysis.judgement import calibration_file, gates
from analysis.judgement.calibration import Calibration, Floor
from analysis.judgement.gates import GateOutcome, Half, Row
from analysis.judgement.study import Study
from analysis.pages.blocks import Block, Table

UNCALIBRATED = (
    "No calibration of this host is known, so the noise floor is this run's own spread: it is told,"
    " and refuses nothing. `./weir calibrate` measures one."
)
# What a word of the gate is called where nobody asked for one.
INFORMATION = {gates.PASS: "within", gates.FAIL: "beyond"}


def of_study(study: Study) -> Block:
    """The gate of a run's variants."""
    own = "The noise floor is this run's own: it is an A/A run."
    return block(study.gate, own if study.no_a_a is None else calibrated(study.result, study.calibration))


def block(outcome: GateOutcome, floor: str) -> Block:
    """The gate's word and bounds, and each number beside its bound and the noise floor; `floor`
    says whose noise that is."""
    return Block(title(outcome), _lines(outcome, floor), _table(outcome))


def title(outcome: GateOutcome) -> str:
    """Of the gate's part, and of a column with its words."""
    return "Gate" if outcome.gate.stated else "Usual bounds"


def word_of(of: Row | Half, outcome: GateOutcome) -> str:
    """The word of a pair, or of one number of it, e.g. "fail (CPU)", or "beyond (CPU)" where no gate
    was asked for."""
    if outcome.word == gates.REFUSED:
        return gates.REFUSED
    text = of.text if isinstance(of, Row) else of.word
    if outcome.gate.stated:
        return text
    first, *rest = text.split(" ", 1)
    return " ".join([INFORMATION.get(first, first), *rest])


def place_noun(found: Aggregate) -> str:
    """What the variants are compared in."""
    return "scenario" if "scenario" in found.factors else "cell"


def sentence(study: Study) -> str:
    """Of each variant: where the gate that was asked for holds, where not, where nobody knows."""
    outcome, told = study.gate, []
    for name in dict.fromkeys(pair.name for pair in study.pairs):
        base = study.pairs[0].base_name
        rows = [row for row in outcome.rows if row.pair.name == name]
        unjudged = _not_judged(outcome)
        words = {
            gates.NO_GATE: "no gate is judged",
            gates.REFUSED: "the gate is refused, for "
            + ("not all compares" if study.refused else "it is tighter than this host's noise floor"),
        }.get(outcome.word) or _holds(rows, place_noun(study.found))
        told.append(f"{name} against {base}: {words}{unjudged}")
    return "; ".join(told)


def _holds(rows: list[Row], noun: str) -> str:
    """E.g. "the gate holds in 1 of 2 scenarios; it fails in 1 (echo: fail (CPU))"."""
    held = sum(row.word == gates.PASS for row in rows)
    text = f"the gate holds in {held} of {count(len(rows), noun)}"
    for word, verb in ((gates.FAIL, "fails"), (gates.UNDECIDED, "is undecided")):
        places = [f"{row.pair.place}: {row.text}" for row in rows if row.word == word]
        if places:
            text += f"; it {verb} in {len(places)} ({some(places)})"
    return text


def _not_judged(outcome: GateOutcome) -> str:
    """That there are places beside those in which it holds or does not."""
    places = [f"{one.place}: {one.why}" for one in outcome.unjudged]
    return f"; not judged, {len(places)} more ({some(places)})" if places else ""


def _lines(outcome: GateOutcome, floor: str) -> list[str]:
    if outcome.word == gates.NO_GATE:
        return outcome.lines
    word = {gates.PASS: "passes", gates.FAIL: "fails", gates.REFUSED: "is refused"}
    says = word.get(outcome.word, "is undecided")
    lines = [f"The gate (kind {outcome.gate.kind}) {says}."] if outcome.gate.stated else []
    lines += outcome.lines
    if outcome.word != gates.REFUSED:
        lines += _beyond_but_untold(outcome)
    return [*lines, floor] if outcome.rows else lines


def _beyond_but_untold(outcome: GateOutcome) -> list[str]:
    """Where a gate on medians fails and the interval does not say so."""
    halves = [
        f"{half.name} of {row.pair.place} ({times(half.ratio.number or 1)}, interval"
        f" {ends_of(half.change.ratio)})"
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


def calibrated(result: Result, known: Calibration | None) -> str:
    """By whose noise the floor is."""
    if known is None:
        return UNCALIBRATED
    when = known.source.get("started_at") or "n/a (not recorded)"
    return (
        f"The noise floor is that of the A/A run {known.source.get('result')} on this host,"
        f" measured {when}, {calibration_file.age(result, known)}, with windows of"
        f" {known.settings.get('duration')}."
    )


def _table(outcome: GateOutcome) -> Table | None:
    if not outcome.rows:
        return None
    by_interval = outcome.gate.kind == asked.INTERVAL
    judged = ["ratio", "95 % interval"] if by_interval else ["ratio of medians"]
    several = len({row.pair.name for row in outcome.rows}) > 1
    word = title(outcome).lower()
    titles = ["place", "number", *judged, "bound", "room", "noise floor", word]
    rows = [
        _half(row.pair.place + (f" ({row.pair.name})" if several else ""), half, outcome)
        for row in outcome.rows
        for half in row.halves
    ]
    return Table(titles, rows, left=2, words=frozenset({word}))


def _half(place: str, half: Half, outcome: GateOutcome) -> list[str]:
    why = f" ({half.why})" if half.why and half.ratio.number is not None else ""
    return [
        place,
        half.name,
        *_judged(half, outcome.gate.kind == asked.INTERVAL),
        f"{'at least' if half.least else 'at most'} {half.bound:g}",
        f"{half.room:.1%}",
        _floor(half.floor),
        word_of(half, outcome) + (why if outcome.word != gates.REFUSED else ""),
    ]


def _judged(half: Half, by_interval: bool) -> list[str]:
    """What the gate looks at."""
    if not by_interval:
        medians = half.ratio
        return [f"n/a ({medians.reason})" if medians.number is None else times(medians.number)]
    return [point_of(half.change.ratio), ends_of(half.change.ratio)]


def _floor(known: Floor | None) -> str:
    """E.g. "3.4% (respond-64)"."""
    if known is None:
        return "n/a (no spread)"
    if known.blocks < 2:
        return "n/a (one run)"
    return f"{known.half_width:.1%} ({known.of})"
