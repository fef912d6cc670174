"""What a gate says of a run's variants: a word for each pair, one for all, and the exit status.

A gate tighter than the noise floor decides nothing and is refused: the floor is how far noise alone
reaches at this run's number of blocks, by the calibration of its host.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from analysis.cells.aggregate import Value
from analysis.cells.pairing import Change, Pair, Unpaired
from analysis.cells.words import count, some
from analysis.judgement import calibration
from analysis.judgement import gate as asked
from analysis.judgement.calibration import Calibration, Floor
from analysis.judgement.gate import Gate

PASS, FAIL, UNDECIDED, REFUSED, NO_GATE = "pass", "fail", "undecided", "refused", "none"
EXIT_PASS, EXIT_FAIL, EXIT_UNDECIDED, EXIT_INVALID, EXIT_REFUSED = range(5)
STATUS = {
    PASS: EXIT_PASS,
    NO_GATE: EXIT_PASS,
    FAIL: EXIT_FAIL,
    UNDECIDED: EXIT_UNDECIDED,
    REFUSED: EXIT_REFUSED,
}
# A reach above this is told as a factor: 400 % upwards are 80 % downwards.
SHARE_MAX = 0.2
# Ratios are judged at so many decimals, so that one which is the bound does not fail by a rounding.
DECIMALS = 9


@dataclass(frozen=True)
class Half:
    """One half of a gate at one place: requests/s or CPU per request beside its bound."""

    name: str
    change: Change
    bound: float
    least: bool  # whether the bound is the least that passes, or the greatest
    word: str  # pass, fail or undecided
    why: str | None  # why it is undecided
    floor: Floor | None  # None where nothing is known of the noise

    @property
    def ratio(self) -> Value:
        """The ratio of medians."""
        return self.change.medians

    @property
    def passed(self) -> bool | None:
        """None where it is undecided."""
        return {PASS: True, FAIL: False}.get(self.word)

    @property
    def room(self) -> float:
        """How far the bound lies from 1, as the ratio that reaches it less 1."""
        return max(self.bound, 1 / self.bound) - 1

    @property
    def below_floor(self) -> bool:
        """Whether the bound is tighter than a calibration says that anything can be told."""
        floor = self.floor
        return floor is not None and floor.calibrated and self.room < floor.half_width


@dataclass(frozen=True)
class Row:
    """The gate at one pair."""

    pair: Pair
    rps: Half
    cpu: Half

    @property
    def halves(self) -> tuple[Half, Half]:
        """Requests/s, CPU per request."""
        return self.rps, self.cpu

    @property
    def word(self) -> str:
        """Of both halves; one that fails decides, whatever the other is."""
        words = [half.word for half in self.halves]
        return FAIL if FAIL in words else UNDECIDED if UNDECIDED in words else PASS

    @property
    def passed(self) -> bool | None:
        """None where it is undecided."""
        return {PASS: True, FAIL: False}.get(self.word)

    @property
    def text(self) -> str:
        """E.g. "pass", "fail (requests/s)", "n/a (no valid sample)"."""
        if self.word == PASS:
            return PASS
        halves = [half for half in self.halves if half.word == self.word]
        unknown = next((half for half in halves if half.ratio.number is None), None)
        if self.word == UNDECIDED and unknown is not None:
            return f"n/a ({unknown.ratio.reason})"
        return f"{self.word} ({' and '.join(half.name for half in halves)})"


@dataclass(frozen=True)
class GateOutcome:
    """The gate's word for the whole run."""

    gate: Gate
    word: str  # pass, fail, undecided or refused; none where no gate was wanted
    rows: list[Row]
    exit_status: int
    lines: list[str]  # what the gate is, and why it has no word where it has none, in sentences
    why: str  # the word's reason in one line: the floor, or where the gate does not hold
    unjudged: list[Unpaired] = field(default_factory=list)  # a gate never passes over them


@dataclass(frozen=True)
class Given:
    """What a gate judges, and what it must know beside."""

    pairs: Sequence[Pair]
    unpaired: list[Unpaired]  # places that have no pair and ought to
    calibration: Calibration | None
    valid: bool  # whether there is a valid sample
    refused: Sequence[str] = ()  # why sides do not compare, in sentences
    window: dict[str, Any] | None = None  # warm-up and duration of what is judged


def judge(given: Given, gate: Gate | None) -> GateOutcome:
    """Of all pairs; by the usual gate, for information alone, where there is None. A place without
    a pair is not judged, so that the word is `undecided` at best."""
    gate = gate or asked.USUAL
    if gate.kind == asked.NONE:
        return GateOutcome(gate, NO_GATE, [], _status(given, gate, NO_GATE), [gate.says], gate.says)
    rows = [_row(gate, pair, given) for pair in given.pairs]
    word = _word(gate, rows, given)
    untold = _untold(gate, rows) if rows or not given.unpaired else []
    if given.refused:
        untold = ["What does not compare is not judged.", *given.refused, *untold]
    told = untold if word == REFUSED or not rows else []
    why = " ".join(told) or _where(rows, given.unpaired)
    lines = [gate.says, *_how(gate), *untold, *_unjudged(given.unpaired)]
    lines += calibration.other_window(given.calibration, given.window)
    return GateOutcome(
        gate, word, rows, _status(given, gate, word), lines, why, given.unpaired
    )


def _where(rows: Sequence[Row], unpaired: Sequence[Unpaired]) -> str:
    """Where a gate does not hold."""
    told = [f"{row.pair.place}: {row.text}" for row in rows if row.word != PASS]
    return ", ".join([*told, *(f"{one.place}: not judged ({one.why})" for one in unpaired)])


def _unjudged(unpaired: Sequence[Unpaired]) -> list[str]:
    """That there are places of which the gate says nothing."""
    if not unpaired:
        return []
    places = some([f"{one.place}: {one.why}" for one in unpaired])
    return [f"Not judged: {count(len(unpaired), 'place')} ({places}). No gate passes over them."]


def _status(given: Given, gate: Gate, word: str) -> int:
    if not given.valid:
        return EXIT_INVALID
    return STATUS[word] if gate.stated else EXIT_PASS


def _row(gate: Gate, pair: Pair, given: Given) -> Row:
    least, most = gate.bounds(pair.new.settings.get("scenario"))
    medians = gate.kind != asked.INTERVAL
    rps, cpu = (
        calibration.floor(pair, name, medians, given.calibration, given.window)
        for name in calibration.MEASURES
    )
    return Row(
        pair,
        _half(gate, "requests/s", pair.rps, least, True, rps),
        _half(gate, "CPU", pair.cpu, most, False, cpu),
    )


def _half(
    gate: Gate, name: str, change: Change, bound: float, least: bool, floor: Floor | None
) -> Half:
    if change.medians.number is None:
        word, why = UNDECIDED, change.medians.reason
    elif gate.kind == asked.INTERVAL:
        word, why = _by_interval(change, bound, least)
    else:
        word, why = PASS if _good(change.medians.number, bound, least) else FAIL, None
    return Half(name, change, bound, least, word, why, floor)


def _good(ratio: float, bound: float, least: bool) -> bool:
    ratio = round(ratio, DECIMALS)
    return ratio >= bound if least else ratio <= bound


def _by_interval(change: Change, bound: float, least: bool) -> tuple[str, str | None]:
    """(word, why it is undecided)."""
    ratio = change.ratio
    if ratio.low is None or ratio.high is None:
        return UNDECIDED, f"no interval: {ratio.reason}"
    good = [_good(end, bound, least) for end in (ratio.low, ratio.high)]
    if all(good):
        return PASS, None
    return (UNDECIDED, "the interval holds the bound") if any(good) else (FAIL, None)


def _word(gate: Gate, rows: Sequence[Row], given: Given) -> str:
    words = [row.word for row in rows] + [UNDECIDED] * len(given.unpaired)
    below = any(half.below_floor for row in rows for half in row.halves)
    if gate.stated and (below or given.refused):
        return REFUSED
    return FAIL if FAIL in words else UNDECIDED if UNDECIDED in words or not words else PASS


def _how(gate: Gate) -> list[str]:
    """By what it judges, and whether anything hangs on it."""
    by = {
        asked.POINT: "It judges medians: two points, without regard to noise.",
        asked.CATEGORY: "It judges medians, each scenario by its category's threshold.",
        asked.INTERVAL: (
            "It judges 95 % intervals: one that lies wholly on the good side of the bound passes,"
            " one wholly on the bad side fails, one that holds the bound is undecided."
        ),
    }[gate.kind]
    if gate.stated:
        return [by]
    return [
        by,
        "No gate was asked for: these are the usual bounds, for information; nothing hangs on them.",
    ]


def _untold(gate: Gate, rows: Sequence[Row]) -> list[str]:
    """That there is nothing to judge, or that the floor forbids it."""
    if not rows:
        return ["No two variants ran, so there is nothing to judge."]
    halves = [(row.pair.place, half) for row in rows for half in row.halves]
    below = [(place, half) for place, half in halves if half.below_floor]
    if not below:
        return []
    place, worst = max(below, key=lambda one: one[1].floor.half_width - one[1].room)
    runs = [half.floor.runs_needed(half.room) for _, half in below]
    line = (
        f"The gate is tighter than the noise floor in {len(below)} of {len(halves)} of what it"
        f" judges: {worst.name} of {place} has {worst.room:.1%} of room (its"
        f" bound is that far from 1, as a ratio), and"
        f" {_reach(worst.floor)}."
    )
    return [line, _needed(runs)] if gate.stated else [line]


def _reach(floor: Floor) -> str:
    """How far noise alone reaches there."""
    if floor.blocks < 2:
        return "one run has no interval"
    what = "the ratio of two medians" if floor.medians else "the interval"
    return (
        f"noise alone makes {what} of {floor.blocks} runs reach {_either_way(floor.half_width)}"
        f" (calibration of {floor.of})"
    )


def _either_way(width: float) -> str:
    """A reach as a share; as a factor where the share upwards is not that downwards."""
    if width <= SHARE_MAX:
        return f"{width:.1%} to either side"
    return f"a factor of {1 + width:.3g} either way"


def _needed(runs: Sequence[int | None]) -> str:
    """How many runs the gate would take: of the place that needs most."""
    if None in runs:
        return "No number of runs that anybody measures would do: widen the gate, or calm the host."
    return (
        f"To find so small a change in 80 of 100 cases, {max(runs):,} runs of each cell are needed"
        " on this host."
    )


@dataclass(frozen=True)
class TimeChange:
    """A benchmark's time, before and after."""

    name: str
    base_ns: float
    new_ns: float
    category: str = "default"


@dataclass(frozen=True)
class CategoryRow:
    """A benchmark's change, its threshold, and the word: pass or fail."""

    change: TimeChange
    threshold: float
    word: str
    why: str

    @property
    def relative(self) -> float:
        """How much longer it takes, as a share of before."""
        return self.change.new_ns / self.change.base_ns - 1


# A benchmark's change under either of these is none: timers and alignment make as much.
FLOOR_RELATIVE = 0.02
FLOOR_ABSOLUTE_NS = 0.5


def category(
    changes: Sequence[TimeChange],
    thresholds: Mapping[str, float] = asked.THRESHOLDS,
    floor_relative: float = FLOOR_RELATIVE,
    floor_absolute_ns: float = FLOOR_ABSOLUTE_NS,
) -> list[CategoryRow]:
    """Of benchmarks' times above 0, in ns: one that takes longer by more than its category's
    threshold fails, unless the change is under the relative or the absolute floor."""
    return [
        _by_category(change, thresholds[change.category], floor_relative, floor_absolute_ns)
        for change in changes
    ]


def _by_category(
    change: TimeChange, threshold: float, floor_relative: float, floor_absolute_ns: float
) -> CategoryRow:
    difference = round(change.new_ns - change.base_ns, DECIMALS)
    relative = round(change.new_ns / change.base_ns - 1, DECIMALS)
    if abs(relative) < floor_relative:
        why = f"no change: {relative:+.1%} is under the floor of {floor_relative:.1%}"
    elif abs(difference) < floor_absolute_ns:
        why = f"no change: {difference:+.2g} ns is under the floor of {floor_absolute_ns:g} ns"
    elif relative > threshold:
        why = f"{relative:+.1%} is worse than the {threshold:.0%} of {change.category}"
        return CategoryRow(change, threshold, FAIL, why)
    else:
        why = f"{relative:+.1%} is within the {threshold:.0%} of {change.category}"
    return CategoryRow(change, threshold, PASS, why)
