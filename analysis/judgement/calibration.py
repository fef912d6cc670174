"""What an A/A run tells of its host: how far two sides that are the same lie apart by chance.

An A/A run compares two variants that are one program with the same settings. The log ratio of a
block then scatters around 0 by noise alone, and this spread says what a number of runs can tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Sequence

from analysis.cells.aggregate import Cell
from analysis.cells.pairing import Change, Pair
from analysis.inputs.load import Result
from analysis.statistics import power
from analysis.statistics.effect import coefficient_of_variation

MEASURES = ("rps", "cpu")
HOST_FACTS = ("hostname", "cpu_model", "kernel", "governor")
# A block's log ratio that scatters more than this is no noise that anybody can work with.
SPREAD_MAX = 10
# What a calibration does not look at when it finds a cell of its own again: names.
NAMES = ("variant", "scenario")


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
        return power.runs_needed(self.spread, 1 + room) if room > 0 else None

    def half_width_of_medians(self, runs: int) -> float:
        """How far 95 of 100 ratios of medians reach, each of so many runs that share nothing."""
        return power.half_width_of_medians(self.cv, runs)

    def runs_needed_of_medians(self, room: float) -> int:
        """How many runs a side find a change of `room`, above 0, by medians in 80 of 100 cases."""
        return power.runs_needed_of_medians(self.cv, room)


@dataclass(frozen=True)
class Floor:
    """What a gate must leave room for: the noise at one place, at a run's number of blocks.

    A gate on medians takes no heed of blocks, so what is common to both sides of a run does not
    cancel; its floor is that of two medians if that is higher.
    """

    noise: Noise
    blocks: int
    calibrated: bool  # by an A/A run; else it is the spread of the judged run itself
    of: str  # whose noise it is
    medians: bool  # whether medians are judged

    @property
    def half_width(self) -> float:
        """How far noise alone reaches there."""
        over_blocks = self.noise.half_width(self.blocks)
        if not self.medians:
            return over_blocks
        return max(over_blocks, self.noise.half_width_of_medians(self.blocks))

    def runs_needed(self, room: float) -> int | None:
        """How many blocks find a change of `room` in 80 of 100 runs; None where that is 0, or takes
        more than anybody measures."""
        over_blocks = self.noise.runs_needed(room)
        if not self.medians or over_blocks is None:
            return over_blocks
        return max(over_blocks, self.noise.runs_needed_of_medians(room))


@dataclass(frozen=True)
class CalibratedCell:
    """One place of an A/A run."""

    place: str
    settings: dict[str, Any]  # in effect, without names
    cpu_is: str  # the column that CPU per request was
    noise: dict[str, Noise | None]  # by MEASURES
    reasons: dict[str, str]  # why a noise is None


@dataclass(frozen=True)
class Calibration:
    """A host's noise, by place and over all."""

    host: dict[str, Any]
    source: dict[str, Any]  # which result, measured when, by which program
    settings: dict[str, Any]  # how it was measured
    cells: list[CalibratedCell]

    def overall(self, measure: str) -> Noise | None:
        """Of all places: spreads and coefficients of variation as roots of mean squares, the
        fewest blocks. None where no place has one."""
        known = [cell.noise[measure] for cell in self.cells]
        noises = [noise for noise in known if noise is not None]
        if not noises:
            return None
        return Noise(
            _root_mean_square([noise.spread for noise in noises]),
            _root_mean_square([noise.cv for noise in noises]),
            min(noise.blocks for noise in noises),
        )

    def noise_of(self, cell: Cell, measure: str) -> tuple[Noise, str] | None:
        """(noise, whose it is) for a cell that is judged: of the place with the same settings, else
        over all."""
        settings = unnamed(cell.settings)
        for one in self.cells:
            noise = one.noise[measure]
            if one.settings == settings and noise is not None:
                return noise, one.place
        noise = self.overall(measure)
        return None if noise is None else (noise, "all places")


def unnamed(settings: dict[str, Any]) -> dict[str, Any]:
    """A cell's settings without what scenario and variant are called."""
    return {name: value for name, value in settings.items() if name not in NAMES}


def floor(
    pair: Pair, measure: str, medians: bool, calibration: Calibration | None
) -> Floor | None:
    """Of "rps" or "cpu" at a pair; by its own runs where no calibration knows of it; None where
    nobody does."""
    change = pair.rps if measure == "rps" else pair.cpu
    known = None if calibration is None else calibration.noise_of(pair.new, measure)
    if known is not None:
        blocks = change.ratio.blocks or min(change.ratio.n_new, change.ratio.n_base)
        return Floor(known[0], blocks, True, known[1], medians) if blocks else None
    own = _noise(change)
    return None if isinstance(own, str) else Floor(own, own.blocks, False, pair.place, medians)


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
        programs = _programs(result, pair.base) | _programs(result, pair.new)
        if None in programs:
            return f"program_sha256 of {pair.place} is not known of every sample"
        if len(programs) > 1:
            return f"the variants of {pair.place} are different programs (program_sha256)"
        if unnamed(pair.base.settings) != unnamed(pair.new.settings):
            names = sorted(_differing(pair))
            return f"the variants of {pair.place} differ in settings: {', '.join(names)}"
    return None


def _programs(result: Result, cell: Cell) -> set[str | None]:
    """The programs that a cell's samples name, else what build.json says of its variant."""
    variants = (result.build or {}).get("variants")
    built = variants.get(cell.settings.get("variant")) if isinstance(variants, dict) else None
    otherwise = built.get("program_sha256") if isinstance(built, dict) else None
    return {sample.raw.get("program_sha256") or otherwise for sample in cell.samples}


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
            "program_sha256": next(iter(_programs(result, pairs[0].base))),
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
