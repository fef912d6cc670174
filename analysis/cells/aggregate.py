"""Samples to cells, cells to comparisons. Only valid samples enter a number."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

import numpy as np
import pandas as pd

from analysis.inputs import histogram
from analysis.inputs.histogram import Histogram
from analysis.inputs.load import Attempt, Result, Sample
from analysis.cells.columns import COLUMNS, GREATEST, LEAST, MEDIANS, PERCENTILES, SOURCES
from analysis.statistics.effect import Ratio, coefficient_of_variation, compare


# Numbers of two cells by block.
Sides = tuple[dict[int | str, float], dict[int | str, float]]


@dataclass(frozen=True)
class Value:
    """A number, or None with its reason."""

    number: float | None
    reason: str | None = None


@dataclass
class Cell:
    """All samples of one combination of settings."""

    variant: str
    settings: dict[str, Any]  # result.json's `cell`, without the reasons of unknown values
    levels: tuple[Any, ...] = ()  # the varied factors' values, in the order of Aggregate.factors
    samples: list[Sample] = field(default_factory=list)  # in execution order
    attempts: list[Attempt] = field(default_factory=list)  # earlier ones; in no number
    values: dict[str, Value] = field(default_factory=dict)
    service: Histogram | None = None
    intended: Histogram | None = None

    @property
    def valid(self) -> list[Sample]:
        return [sample for sample in self.samples if sample.valid]

    def by_block(self, of: Callable[[Sample], float | None]) -> dict[int | str, float]:
        """A number of each valid sample that has it, by the run in which it was measured. Where two
        are of one run, as no run of ours has them, they are no blocks: each goes by its own name."""
        blocks: list[int | str] = [sample.block for sample in self.valid]
        if len(set(blocks)) < len(blocks):
            blocks = [sample.sample_id for sample in self.valid]
        numbers = ((block, of(sample)) for block, sample in zip(blocks, self.valid))
        return {block: number for block, number in numbers if number is not None}

    def known(self, name: str) -> float:
        """The number in a column that every cell with valid samples has."""
        number = self.values[name].number
        assert number is not None, f"{name} is not known in {self.variant}"
        return number

    def percentiles(self) -> Histogram:
        """The merged service times of a cell with valid samples."""
        assert self.service is not None, f"{self.variant} has no valid sample"
        return self.service

    @property
    def peak_since(self) -> str | None:
        """What rss_peak_kib is since; None where it is not known. A result that has both peaks says
        the one since the server's start apart; earlier ones have that alone."""
        if self.values["rss_peak_kib"].number is None:
            return None
        apart = self.values["rss_peak_since_start_kib"].number is not None
        return "measurement start" if apart else "server start"

    @property
    def n(self) -> str:
        """Valid samples of all, e.g. "3/3"."""
        return f"{len(self.valid)}/{len(self.samples)}"


@dataclass(frozen=True)
class Comparison:
    """Requests/s at `level` of `factor` against `base`, all other factors (`context`) equal."""

    factor: str
    level: Any
    base: Any
    context: dict[str, Any]  # of the factors that vary
    ratio: Ratio
    sides: Sides = ({}, {})  # new, base


@dataclass(frozen=True)
class Aggregate:
    """The run as cells, in the experiment's own order of levels."""

    factors: dict[str, list[Any]]  # varied factor to its levels, the first being the base
    cells: list[Cell]
    comparisons: list[Comparison]


def aggregate(result: Result) -> Aggregate:
    """Groups, merges, compares."""
    cells = _grouped(result.samples)
    factors = varied_factors(result.axes, cells)
    for cell in cells:
        cell.levels = tuple(cell.settings[name] for name in factors)
    for attempt in result.attempts:
        cell = next((cell for cell in cells if cell.variant == attempt.variant), None)
        if cell is not None:
            cell.attempts.append(attempt)
    _fill(cells)
    cells.sort(key=lambda cell: _place(cell, factors))
    return Aggregate(factors, cells, list(_comparisons(factors, cells)))


def varied_factors(axes: dict[str, list[Any]], cells: list[Cell]) -> dict[str, list[Any]]:
    """The experiment's axes that all cells name, with the levels seen, in the experiment's
    order."""
    factors = {}
    for name, wanted in axes.items():
        if not all(name in cell.settings for cell in cells):
            continue
        seen = _distinct(cell.settings[name] for cell in cells)
        in_order = [level for level in wanted if level in seen]
        factors[name] = in_order + [level for level in seen if level not in wanted]
        if name == "bare":  # what the pipeline is measured against comes first
            factors[name].sort(key=lambda level: level is not True)
    return factors


def _distinct(values: Iterator[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _grouped(samples: list[Sample]) -> list[Cell]:
    """One cell for each (variant, settings): what ran with other settings is never merged.

    A sample that is not valid may not know its effective settings; it joins the first cell of its
    variant.
    """
    groups: dict[str, Cell] = {}
    for sample in sorted(samples, key=lambda sample: not sample.valid):
        settings = {
            name: value for name, value in sample.cell.items() if not name.endswith("_reason")
        }
        key = json.dumps([sample.variant, settings], sort_keys=True)
        cell = groups.get(key)
        if cell is None and not sample.valid:
            cell = next((one for one in groups.values() if one.variant == sample.variant), None)
        if cell is None:
            cell = groups[key] = Cell(sample.variant, settings)
        cell.samples.append(sample)
    for cell in groups.values():
        cell.samples.sort(key=lambda sample: sample.order_index)
    return list(groups.values())


def _place(cell: Cell, factors: dict[str, list[Any]]) -> tuple[Any, ...]:
    places = tuple(levels.index(level) for levels, level in zip(factors.values(), cell.levels))
    return (*places, cell.variant)


def _table(cells: list[Cell]) -> pd.DataFrame:
    """One row a valid sample: the place of its cell, and its numbers, NaN where it knows none."""
    rows = [
        (place, *(sample.find(*source)[0] for source in SOURCES.values()))
        for place, cell in enumerate(cells)
        for sample in cell.valid
    ]
    return pd.DataFrame(rows, columns=["cell", *SOURCES]).astype(float)


def _fill(cells: list[Cell]) -> None:
    """Computes all columns of all cells."""
    for cell in cells:
        cell.values = {column.name: Value(None, "no valid sample") for column in COLUMNS}
        cell.values |= _counts(cell)
    table = _table(cells)
    groups = table.groupby("cell")
    gaps = table.isna().groupby(table["cell"]).any()  # a number of some would not compare
    for names, of in ((MEDIANS, "median"), (GREATEST, "max"), (LEAST, "min")):
        for place, numbers in groups[list(names)].agg(of).to_dict("index").items():
            cell, unknown = cells[int(place)], gaps.loc[place]
            for name, number in numbers.items():
                cell.values[name] = _unknown(cell, name) if unknown[name] else Value(number)
    for cell in cells:
        if cell.valid:
            cell.values |= _rates([sample.rps for sample in cell.valid])
            cell.values |= _latencies(cell) | _own_percentiles(cell.valid)


def _rates(rps: list[float]) -> dict[str, Value]:
    spread = coefficient_of_variation(rps)
    median, least, most = float(np.median(rps)), min(rps), max(rps)
    return {
        "rps_median": Value(median),
        "rps_min": Value(least),
        "rps_max": Value(most),
        "rps_cv": Value(spread, None if spread is not None else "one sample only"),
        "rps_spread": Value((most - least) / median),
    }


def _counts(cell: Cell) -> dict[str, Value]:
    """What is counted over all samples, those that are not valid included."""
    saturated = [(sample.raw.get("client") or {}).get("saturated") for sample in cell.valid]
    known = all(isinstance(one, bool) for one in saturated)
    return {
        "requests_failed": _sum(cell, None, "failed"),
        "answers_not_ok": _sum(cell, "server", "errors"),
        "attempts_failed": Value(sum(attempt.failed for attempt in cell.attempts)),
        "client_saturated": Value(sum(saturated)) if known else Value(None, "not recorded"),
    }


def _sum(cell: Cell, group: str | None, name: str) -> Value:
    """Over all samples; unknown where one does not say."""
    found = [sample.find(group, name) for sample in cell.samples]
    reasons = [str(reason) for number, reason in found if number is None]
    if reasons:
        return Value(None, f"{reasons[0]} in {len(reasons)} of {len(found)} samples")
    return Value(sum(number for number, _ in found if number is not None))


def percentile_us(sample: Sample, key: str) -> float:
    """"p50", "p99" or "p999" of one valid sample's own service times."""
    assert sample.service is not None, f"{sample.sample_id} is not valid"
    return sample.service.percentile_ns(PERCENTILES[key]) / 1000


def _own_percentiles(samples: list[Sample]) -> dict[str, Value]:
    """The samples' own percentiles, told by median, least and greatest; never averaged."""
    values = {}
    for key in ("p50", "p99", "p999"):
        own = [percentile_us(sample, key) for sample in samples]
        for of, number in (("median", np.median(own)), ("min", min(own)), ("max", max(own))):
            values[f"sample_{key}_us_{of}"] = Value(float(number))
    return values


def _latencies(cell: Cell) -> dict[str, Value]:
    """Merges the cell's histograms; the columns made of them."""
    cell.service = histogram.merge(sample.service for sample in cell.valid if sample.service)
    intended = [sample.intended for sample in cell.valid if sample.intended]
    if len(intended) == len(cell.valid):
        cell.intended = histogram.merge(intended)
    values = _percentiles("service", cell.service) | _percentiles("intended", cell.intended)
    return values | {"service_n": Value(cell.service.n)}


def _percentiles(name: str, merged: Histogram | None) -> dict[str, Value]:
    if merged is None:
        return {
            f"{name}_{key}_us": Value(None, "not recorded in every sample") for key in PERCENTILES
        }
    return {
        f"{name}_{key}_us": Value(merged.percentile_ns(quantile) / 1000)
        for key, quantile in PERCENTILES.items()
    }


def _unknown(cell: Cell, name: str) -> Value:
    """Unknown in one sample is unknown in the cell: a number of some would not compare."""
    found = [sample.find(*SOURCES[name]) for sample in cell.valid]
    reasons = [str(reason) for number, reason in found if number is None]
    missing = f" in {len(reasons)} of {len(found)} samples" if len(reasons) < len(found) else ""
    return Value(None, reasons[0] + missing)


def _comparisons(factors: dict[str, list[Any]], cells: list[Cell]) -> Iterator[Comparison]:
    """Each level against its factor's first, where both cells exist once and have valid samples."""
    by_levels: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        by_levels.setdefault(cell.levels, []).append(cell)
    for place, (factor, levels) in enumerate(factors.items()):
        if factor == "scenario":  # other work: more requests/s of it is neither better nor worse
            continue
        others = [values for name, values in factors.items() if name != factor]
        for level, context in itertools.product(levels[1:], itertools.product(*others)):
            pair = [
                by_levels.get((*context[:place], one, *context[place:]), [])
                for one in (level, levels[0])
            ]
            if not all(len(found) == 1 and found[0].valid for found in pair):
                continue
            new, base = (found[0].by_block(lambda sample: sample.rps) for found in pair)
            names = [name for name in factors if name != factor]
            where = {
                name: value for name, value in zip(names, context) if len(factors[name]) > 1
            }
            yield Comparison(factor, level, levels[0], where, compare(new, base), (new, base))


def relative_rates(cells: list[Cell]) -> list[tuple[Sample, Cell, float]]:
    """Each valid sample with its rate over its cell's median, in execution order."""
    rows = [
        (sample, cell, sample.rps / cell.known("rps_median"))
        for cell in cells
        for sample in cell.valid
    ]
    return sorted(rows, key=lambda row: row[0].order_index)
