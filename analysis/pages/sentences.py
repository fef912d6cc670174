"""What a run says: plain sentences made of its numbers, claiming no more than they carry."""

from __future__ import annotations

import statistics as plain

from analysis.cells.aggregate import Aggregate, Cell, relative_rates
from analysis.cells.words import compact, count, describe
from analysis.inputs.load import Result
from analysis.judgement.study import Study
from analysis.pages.blocks import Block
from analysis.statistics.drift import drift

# A cell whose samples spread more than this is named.
NOISY_CV = 0.10
DRIFT_P = 0.01
# Below this p it is said that there may be one.
DRIFT_HINT_P = 0.05


def blocks(study: Study) -> list[Block]:
    """The run as a whole, and what its ratios are of; the ratios stand in the table of verdicts."""
    lines = summary(study.result, study.found.cells)
    text = basis(study.found)
    return [Block("What the run says", lines + ([text] if text else []))]


def summary(result: Result, cells: list[Cell]) -> list[str]:
    """The run in a few sentences: validity, the fastest cell, noise, drift."""
    if not result.valid:
        return [f"No sample of {len(result.samples)} is valid: there is nothing to conclude."]
    known = [cell for cell in cells if cell.valid]
    best = max(known, key=lambda cell: cell.known("rps_median"))
    low, median, high = (compact(best.known(f"rps_{name}")) for name in ("min", "median", "max"))
    sentences = [
        (
            f"{len(result.valid)} of {count(len(result.samples), 'sample')} valid, in"
            f" {count(len(cells), 'cell')}; a sample is one server's boot."
        ),
        (
            f"The fastest cell is {best.variant}: median {median} requests/s ({low} to {high}, "
            f"n = {len(best.valid)}), merged p99 {best.known('service_p99_us'):,.0f} µs."
        ),
    ]
    empty = [cell.variant for cell in cells if not cell.valid]
    if empty:
        sentences.append(f"No valid sample: {', '.join(empty)}.")
    return [*sentences, *_noise(known), *_drift(known)]


def _noise(cells: list[Cell]) -> list[str]:
    spreads = [
        (cell.values["rps_cv"].number, cell.variant)
        for cell in cells
        if cell.values["rps_cv"].number is not None
    ]
    if not spreads:
        return ["No cell has two valid samples, so the noise of this run is unknown."]
    worst, where = max(spreads)
    text = (
        "Noise: the coefficient of variation is"
        f" {plain.median(spread for spread, _ in spreads):.1%} in the median cell, {worst:.1%} in"
        f" the worst ({where})."
    )
    noisy = sum(spread > NOISY_CV for spread, _ in spreads)
    return [
        text
        + (
            f" {count(noisy, 'cell')} above {NOISY_CV:.0%}: read small ratios there with suspicion."
            if noisy
            else ""
        )
    ]


def _drift(cells: list[Cell]) -> list[str]:
    rows = relative_rates([cell for cell in cells if len(cell.valid) > 1])
    found = drift(
        [sample.order_index for sample, _, _ in rows], [relative for _, _, relative in rows]
    )
    if found is None:
        return []
    tau, p = found
    shown = f"Kendall's tau {tau:+.2f}, p = {p:.2g}, n = {len(rows)}"
    if p >= DRIFT_HINT_P:
        return [f"No drift with execution order at the {DRIFT_P * 100:g} % level ({shown})."]
    way = "faster" if tau > 0 else "slower"
    if p >= DRIFT_P:
        return [
            f"The run may drift: samples look {way} as it went on ({shown}), which is not enough at"
            f" the {DRIFT_P * 100:g} % level."
        ]
    return [
        f"Drift: samples became {way} as the run went on ({shown}); interleaving shares it among"
        " the cells but widens every interval."
    ]


def basis(found: Aggregate) -> str | None:
    """What the ratios are of, and against what; None where there are none."""
    if not found.comparisons:
        return None
    bases = {one.factor: describe(one.factor, one.base) for one in found.comparisons}
    return (
        "The ratios are of geometric means over samples, while the tables show medians; each"
        f" factor's levels are compared with its first level ({', '.join(bases.values())})."
    )
