"""What an A/A run tells of its host: how far two sides that are the same lie apart by chance.

An A/A run compares two variants that are one program with the same settings. The log ratio of a
block then scatters around 0 by noise alone, and this spread says what a number of runs can tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Sequence

from analysis.cells.aggregate import Cell
from analysis.cells.pairing import Change, Pair
from analysis.inputs.load import Result, Sample
from analysis.statistics import power
from analysis.statistics.effect import coefficient_of_variation

MEASURES = ("rps", "cpu")
HOST_FACTS = ("hostname", "cpu_model", "kernel", "governor")
# A block's log ratio that scatters more than this is no noise that anybody can work with.
SPREAD_MAX = 10
# What a calibration does not look at when it finds a cell of its own again: names.
NAMES = ("variant", "scenario")
# What makes the window of a run; noise of another one is another noise.
WINDOW = ("warmup", "duration")


@dataclass(frozen=True)
class Noise:
    """Of one number at one place. Widths are ratios less 1: 0.03 reaches from 1 / 1.03 to 1.03."""

    spread: float  # standard deviation of the log ratio of one block
    cv: float  # coefficient of variation of a side's samples
    blocks: int

    def half_width(self, blocks: int) -> float:
        """How far a 95 % interval over so many blocks reaches; infinite below two."""
        return power.half_width(self.spread, blocks) if blocks > 1 else math.inf

    @property
    def least_detectable(self) -> float:
        """The least change that as many blocks find in 80 of 100 runs."""
        return power.least_detectable(self.spread, self.blocks)

    def runs_needed(self, room: float) -> int | None:
        """How many blocks find a change of `room` in 80 of 100 runs; None where that is 0, or takes
        more than anybody measures."""
        return _blocks_needed(self.spread, room) if room > 0 else None

    def half_width_of_medians(self, runs: int) -> float:
        """How far 95 of 100 ratios of medians reach, each of so many runs that share nothing."""
        return power.half_width_of_medians(self.cv, runs)

    def half_width_of_means(self, runs: int) -> float:
        """How far a 95 % interval reaches of two sides of so many runs that share nothing;
        infinite below two."""
        return power.half_width_of_means(self.cv, runs) if runs > 1 else math.inf


@lru_cache(maxsize=None)
def _blocks_needed(spread: float, room: float) -> int | None:
    """Kept, for each page and each half of a gate asks for the same."""
    return power.runs_needed(spread, 1 + room)


@dataclass(frozen=True)
class Floor:
    """What a gate must leave room for: the noise at one place, at a run's number of blocks.

    A gate on medians takes no heed of blocks, so what is common to both sides of a run does not
    cancel; its floor is that of two medians if that is higher. Nor does it cancel between two
    results, of which no run is the other's neighbour.
    """

    noise: Noise
    blocks: int  # runs a side where they are not paired
    calibrated: bool  # by an A/A run with the same window; else it is told and refuses nothing
    of: str  # whose noise it is
    medians: bool  # whether medians are judged
    paired: bool = True  # whether runs of both sides are neighbours

    @property
    def half_width(self) -> float:
        """How far noise alone reaches there."""
        noise = self.noise
        over = noise.half_width if self.paired else noise.half_width_of_means
        over_blocks = over(self.blocks)
        if not self.medians:
            return over_blocks
        return max(over_blocks, self.noise.half_width_of_medians(self.blocks))

    def runs_needed(self, room: float) -> int | None:
        """How many blocks find a change of `room` in 80 of 100 runs; None where that is 0, or takes
        more than anybody measures."""
        if room <= 0:
            return None
        cv, over_blocks = self.noise.cv, self.noise.runs_needed(room)
        if not self.paired:
            over_blocks = power.runs_needed_of_means(cv, room)
        if not self.medians or over_blocks is None:
            return over_blocks
        return max(over_blocks, power.runs_needed_of_medians(cv, room))


@dataclass(frozen=True)
class CalibratedCell:
    """One place of an A/A run."""

    place: str
    settings: dict[str, Any]  # in effect, without names
    cpu_is: str  # the column that CPU per request was
    noise: dict[str, Noise | None]  # by MEASURES
    reasons: dict[str, str]  # why a noise is None

    def is_of(self, measure: str, column: str | None) -> bool:
        """Whether its number is that of a column of CPU; of requests/s there is one meaning."""
        return measure != "cpu" or column in (None, self.cpu_is)


@dataclass(frozen=True)
class Calibration:
    """A host's noise, by place and over all."""

    host: dict[str, Any]
    source: dict[str, Any]  # which result, measured when, by which program
    settings: dict[str, Any]  # how it was measured
    cells: list[CalibratedCell]

    def overall(self, measure: str, column: str | None = None) -> Noise | None:
        """Of all places, for CPU of those alone whose CPU is that column where one is given:
        spreads and coefficients of variation as roots of mean squares, the fewest blocks. None
        where no place has one."""
        known = [cell.noise[measure] for cell in self.cells if cell.is_of(measure, column)]
        noises = [noise for noise in known if noise is not None]
        if not noises:
            return None
        return Noise(
            _root_mean_square([noise.spread for noise in noises]),
            _root_mean_square([noise.cv for noise in noises]),
            min(noise.blocks for noise in noises),
        )

    def noise_of(self, cell: Cell, measure: str, column: str) -> tuple[Noise, str] | None:
        """(noise, whose it is) for a cell that is judged, its CPU in that column: of the place with
        the same settings, else over all."""
        settings = unnamed(cell.settings)
        for one in self.cells:
            noise = one.noise[measure]
            alike = one.settings == settings and one.is_of(measure, column)
            if alike and noise is not None:
                return noise, one.place
        noise = self.overall(measure, column)
        return None if noise is None else (noise, "all places")


def unnamed(settings: dict[str, Any]) -> dict[str, Any]:
    """A cell's settings without what scenario and variant are called."""
    return {name: value for name, value in settings.items() if name not in NAMES}


def window_of(settings: dict[str, Any]) -> dict[str, Any]:
    """Warm-up and duration of a run, by its experiment or a calibration's settings."""
    return {name: settings.get(name) for name in WINDOW}


def other_window(calibration: Calibration | None, window: dict[str, Any] | None) -> list[str]:
    """A sentence where a calibration is of another window than what is judged; else none."""
    if calibration is None or window in (None, window_of(calibration.settings)):
        return []
    own = window_of(calibration.settings)
    told = ", ".join(f"{name} {value or 'n/a (not stated)'}" for name, value in own.items())
    return [f"The calibration is of another window ({told}): its noise is told, and refuses nothing."]


def floor(
    pair: Pair,
    measure: str,
    medians: bool,
    calibration: Calibration | None,
    window: dict[str, Any] | None = None,
) -> Floor | None:
    """Of "rps" or "cpu" at a pair; by its own runs where no calibration knows of it; None where
    nobody does. That of another window than the judged one, where it is given, refuses nothing."""
    change = pair.rps if measure == "rps" else pair.cpu
    known = None
    if calibration is not None:
        known = calibration.noise_of(pair.new, measure, pair.cpu_column)
    if calibration is not None and known is not None:
        ratio, (noise, of) = change.ratio, known
        blocks = ratio.blocks or min(ratio.n_new, ratio.n_base)
        alike = window is None or window == window_of(calibration.settings)
        of = of if alike else f"{of}, with other windows"
        return Floor(noise, blocks, alike, of, medians, ratio.blocks > 0) if blocks else None
    own = _noise(change)
    return None if isinstance(own, str) else Floor(own, own.blocks, False, "own spread", medians)


def host_of(result: Result) -> dict[str, Any] | None:
    """By what a host is known again; with its machines, where there were several. None where
    host.json is missing or has no name."""
    if result.host is None or not result.host.get("hostname"):
        return None
    known = {name: result.host.get(name) for name in HOST_FACTS}
    machines = [
        {name: facts.get(name) for name in HOST_FACTS} for _, facts in result.machines
    ]
    return known | ({"machines": machines} if machines else {})


def why_not(result: Result, pairs: Sequence[Pair]) -> str | None:
    """Why a result is no A/A run; None where it is one. Names of variants are not looked at."""
    if not pairs:
        return "no two variants ran in the same place, so nothing stands beside itself"
    if len({pair.name for pair in pairs}) > 1:
        return "it has more than two variants; an A/A run has two"
    for pair in pairs:
        found = programs(result, [*pair.base.samples, *pair.new.samples])
        if None in found:
            return f"program_sha256 of {pair.place} is not known of every sample"
        if len(found) > 1:
            return f"the variants of {pair.place} are different programs (program_sha256)"
        if unnamed(pair.base.settings) != unnamed(pair.new.settings):
            names = sorted(_differing(pair))
            return f"the variants of {pair.place} differ in settings: {', '.join(names)}"
    return None


def programs(result: Result, samples: Sequence[Sample]) -> set[str | None]:
    """The programs that samples name, else what build.json says of their variants, or of the
    runner's own where there are none; None of what nobody recorded."""
    build = result.build or {}
    named = build.get("variants")
    variants = named if isinstance(named, dict) else {}
    found: set[str | None] = set()
    for sample in samples:
        name = sample.cell.get("variant")
        built = build if name is None else variants.get(str(name))
        otherwise = built.get("program_sha256") if isinstance(built, dict) else None
        digest = sample.raw.get("program_sha256") or otherwise
        found.add(digest if isinstance(digest, str) else None)
    return found


def _differing(pair: Pair) -> list[str]:
    base, new = unnamed(pair.base.settings), unnamed(pair.new.settings)
    return [name for name in base.keys() | new.keys() if base.get(name) != new.get(name)]


def of(result: Result, pairs: Sequence[Pair]) -> Calibration:
    """Of an A/A run, for which `why_not` is None."""
    effective = result.effective
    first = min(result.samples, key=lambda sample: sample.order_index)
    return Calibration(
        host=host_of(result) or {},
        source={
            "result": result.path.resolve().name,
            "experiment": effective.get("name"),
            "started_at": first.raw.get("started_at"),
            "program_sha256": next(iter(programs(result, pairs[0].base.samples))),
        },
        settings={
            name: effective.get(name) for name in ("runs", "order", "seed", "warmup", "duration")
        },
        cells=[_cell(pair) for pair in pairs],
    )


def _cell(pair: Pair) -> CalibratedCell:
    found = {"rps": _noise(pair.rps), "cpu": _noise(pair.cpu)}
    return CalibratedCell(
        place=pair.place,
        settings=unnamed(pair.base.settings),
        cpu_is=pair.cpu_column,
        noise={name: one if isinstance(one, Noise) else None for name, one in found.items()},
        reasons={name: one for name, one in found.items() if isinstance(one, str)},
    )


def _noise(change: Change) -> Noise | str:
    """The noise, or why there is none."""
    ratio = change.ratio
    if ratio.spread is None:
        return ratio.reason or "the two sides share too few blocks"
    if ratio.spread > SPREAD_MAX:
        return "the samples vary beyond measure"
    spreads = [coefficient_of_variation(list(side.values())) or 0.0 for side in change.sides]
    return Noise(ratio.spread, _root_mean_square(spreads), ratio.blocks)


def _root_mean_square(numbers: Sequence[float]) -> float:
    return math.sqrt(sum(number**2 for number in numbers) / len(numbers))
