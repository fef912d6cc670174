"""Each variant's cell beside the first's, scenario by scenario, and by how much it differs.

Nothing is judged here. A difference is told twice: as the ratio of medians, which is what a person
compares, and as the ratio over blocks, which has an interval.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Iterator

from analysis.cells import aggregate
from analysis.cells import words
from analysis.cells.aggregate import Aggregate, Cell, Sides, Value
from analysis.inputs.load import Result, Sample
from analysis.statistics.effect import Ratio, compare
from analysis.statistics.interval import DIFFER_TOO_MUCH

KIB_IN_MIB = 1024
AXIS = "variant"
OS_CPU, BUSY, CORE = "os_cpu_us_per_request", "busy_us_per_request", "core_us_per_request"
# Stacks whose work the kernel accounts to the CPUs it is done on.
KERNEL_STACKS = ("epoll", "uring")
EQUAL = "both sides are one kernel stack that waits in one way"

Number = Callable[[Sample], float | None]
Compared = Callable[[dict[int | str, float], dict[int | str, float]], Ratio]  # of new, base


@dataclass(frozen=True)
class Change:
    """A number of the new cell over the base's."""

    medians: Value  # the ratio of both cells' medians
    ratio: Ratio  # over blocks, with its interval; unknown wherever that of the medians is
    sides: Sides  # new, base


@dataclass(frozen=True)
class Pair:
    """A variant's cell beside the base's, all else equal."""

    place: str  # the scenario, or what else the cells have in common
    base_name: str
    name: str
    base: Cell
    new: Cell
    rps: Change
    cpu: Change
    cpu_column: str  # which meaning of CPU per request compares here
    cpu_why: str
    context: dict[str, Any] = field(default_factory=dict)  # of the factors that vary


@dataclass(frozen=True)
class Unpaired:
    """What ought to stand beside the base and does not, so that nothing is known of it."""

    place: str
    why: str


def pairs(found: Aggregate) -> list[Pair]:
    """Every variant but the first against the first, in the experiment's order of variants, then of
    cells; none where fewer than two variants ran. Cells that did not all run with the same
    effective settings are in no pair."""
    return list(_pairs(found)) if AXIS in found.factors else []


def _pairs(found: Aggregate) -> Iterator[Pair]:
    base_name = found.factors[AXIS][0]
    for name, where, sides in _places(found):
        if all(len(cells) == 1 for cells in sides):
            (base,), (new,) = sides
            yield replace(pair(_place(where), (base_name, name), base, new), context=where)


def unpaired(result: Result, found: Aggregate) -> list[Unpaired]:
    """Every place of a run of variants that is in no pair though the experiment, the plan or the
    base has it; what the experiment leaves out on both sides is none."""
    if len(found.factors.get(AXIS, [])) < 2:
        return []
    base_name, rows = found.factors[AXIS][0], []
    for name, where, sides in _places(found):
        told = [_not_one(side, cells) for side, cells in zip((base_name, name), sides)]
        if any(sides) and any(told):
            rows.append(Unpaired(_place(where), " and ".join(why for why in told if why)))
    return rows + (_never_ran(result, found) or ([] if rows else _without_sample(result)))


def _not_one(side: str, cells: list[Cell]) -> str:
    """Why a side is not one cell; empty where it is."""
    if len(cells) > 1:
        return f"{side} ran with {len(cells)} sets of effective settings"
    return "" if cells else f"{side} has no sample"


def _never_ran(result: Result, found: Aggregate) -> list[Unpaired]:
    """Scenarios and variants of the experiment that no sample is of."""
    return [
        Unpaired(f"{axis} {level}", "it has no sample")
        for axis in ("scenario", AXIS)
        for level in result.levels_of(axis)
        if level not in found.factors.get(axis, [])
    ]


def _without_sample(result: Result) -> list[Unpaired]:
    """Cells that the plan names and no sample is of."""
    planned = result.plan.get("variants")
    seen = {sample.variant for sample in result.samples}
    names = planned if isinstance(planned, list) else []
    return [Unpaired(str(name), "it has no sample") for name in names if name not in seen]


def _places(found: Aggregate) -> Iterator[tuple[str, dict[str, Any], list[list[Cell]]]]:
    """(variant, context, cells of the base and of the variant) of each place there may be."""
    at = list(found.factors).index(AXIS)
    base_name, *names = found.factors[AXIS]
    by_levels: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in found.cells:
        by_levels.setdefault(cell.levels, []).append(cell)
    others = [levels for factor, levels in found.factors.items() if factor != AXIS]
    for name, context in itertools.product(names, itertools.product(*others)):
        sides = [
            by_levels.get((*context[:at], level, *context[at:]), []) for level in (base_name, name)
        ]
        yield name, _context(found, context), sides


def _context(found: Aggregate, levels: tuple[Any, ...]) -> dict[str, Any]:
    """The scenario, and each other factor that varies, with its level."""
    names = [factor for factor in found.factors if factor != AXIS]
    return {
        name: level
        for name, level in zip(names, levels)
        if name == "scenario" or len(found.factors[name]) > 1
    }


def _place(context: dict[str, Any]) -> str:
    """E.g. "respond-64, depth 8"."""
    told = [
        str(level) if name == "scenario" else words.describe(name, level)
        for name, level in context.items()
    ]
    return ", ".join(told) or "all"


def pair(
    place: str, names: tuple[str, str], base: Cell, new: Cell, how: Compared = compare
) -> Pair:
    """Two cells, the base's name first, their numbers compared in the way that is given."""
    column, why = cpu_meaning(base, new)
    return Pair(
        place=place,
        base_name=names[0],
        name=names[1],
        base=base,
        new=new,
        rps=change(base, new, "rps_median", lambda sample: sample.rps, how),
        cpu=change(base, new, column, lambda sample: sample.find("server", column)[0], how),
        cpu_column=column,
        cpu_why=why,
    )


def change(
    base: Cell, new: Cell, column: str, of: Number, how: Compared = compare
) -> Change:
    """By how much a column differs that is the median of a number of the samples."""
    medians = ratio_of(base, new, column)
    sides = (new.by_block(of), base.by_block(of))
    if medians.number is None:
        ratio = Ratio(None, None, None, *map(len, sides), medians.reason)
        return Change(medians, ratio, sides)
    return Change(medians, how(*sides), sides)


def ratio_of(base: Cell, new: Cell, column: str) -> Value:
    """The new cell's value of a column over the base's."""
    for cell in (new, base):
        if cell.values[column].number is None:
            return Value(None, f"{cell.variant}: {cell.values[column].reason}")
    if base.known(column) == 0:
        return Value(None, f"{base.variant}: it is 0")
    ratio = float(new.known(column)) / float(base.known(column))
    return Value(ratio) if math.isfinite(ratio) else Value(None, DIFFER_TOO_MUCH)


def cpu_meaning(base: Cell, new: Cell) -> tuple[str, str]:
    """(column, why): the time of the operating system compares among equals only; across stacks and
    ways of waiting that of busy turns does, or the cores held."""
    why = _unequal(base, new)
    if not (base.valid and new.valid):
        return (OS_CPU, EQUAL) if why is None else (BUSY, why)
    if why is None and _knows(base, new, OS_CPU):
        return OS_CPU, EQUAL
    why = why or f"{OS_CPU} is not known of both"
    if _knows(base, new, BUSY) or not _knows(base, new, CORE):
        return BUSY, why
    return CORE, f"{why}, and {BUSY} is not known of both"


def _unequal(base: Cell, new: Cell) -> str | None:
    stacks = [str(cell.settings.get("stack")) for cell in (base, new)]
    if stacks[0] != stacks[1]:
        return "the stacks differ"
    if stacks[0].split(",")[0].split("@")[0] not in KERNEL_STACKS:
        return "the stack is not the kernel's"
    if base.settings.get("wait") != new.settings.get("wait"):
        return "the ways of waiting differ"
    return None


def _knows(base: Cell, new: Cell, column: str) -> bool:
    return all(cell.values[column].number is not None for cell in (base, new))


def memory(base: Cell, new: Cell) -> tuple[str, str] | None:
    """(column, since): which peak of the resident set both sides have, and what it is since; a
    server of an earlier commit knows the one since its start alone. None where they have none in
    common."""
    if base.peak_since is not None and base.peak_since == new.peak_since:
        return "rss_peak_kib", base.peak_since
    if _knows(base, new, "rss_peak_since_start_kib"):
        return "rss_peak_since_start_kib", "server start"
    return None


def _peak_of(pair: Pair, sample: Sample) -> float | None:
    common = memory(pair.base, pair.new)
    return sample.find("server", common[0])[0] if common else None


@dataclass(frozen=True)
class Measure:
    """What the samples of a pair are compared in, one by one."""

    name: str
    key: str  # in variants.csv
    of: Number
    show: str  # a number for people
    unit: str = ""
    scale: float = 1  # shown = number * scale


def measures(pair: Pair) -> list[Measure]:
    """What a gate looks at, and what it does not."""
    return [
        Measure("requests/s", "rps", lambda sample: sample.rps, "{:,.0f}"),
        Measure(
            "CPU per request",
            "cpu",
            lambda sample: sample.find("server", pair.cpu_column)[0],
            "{:,.3f}",
            "µs",
        ),
        Measure(
            "p99", "p99", lambda sample: aggregate.percentile_us(sample, "p99"), "{:,.1f}", "µs"
        ),
        Measure(
            "peak resident memory",
            "rss_peak",
            lambda sample: _peak_of(pair, sample),
            "{:,.2f}",
            "MiB",
            1 / KIB_IN_MIB,
        ),
    ]


def ranges(pair: Pair, measure: Measure) -> tuple[list[float], list[float]] | None:
    """The samples' numbers of both sides, ascending; None where a side has fewer than two or a
    sample has none: nothing is known of its spread then."""
    sides = [[measure.of(sample) for sample in cell.valid] for cell in (pair.base, pair.new)]
    if any(len(side) < 2 or None in side for side in sides):
        return None
    return sorted(sides[0]), sorted(sides[1])


def apart(base: list[float], new: list[float]) -> int:
    """1 if every new number lies above every number of the base, -1 if below, 0 if the ranges
    meet."""
    return 1 if new[0] > base[-1] else -1 if new[-1] < base[0] else 0
