"""Two results beside each other as rows for programs."""

from __future__ import annotations

from typing import Any

from analysis.cells.aggregate import Cell
from analysis.cells.pairing import Pair
from analysis.judgement.across import SIDES, Across
from analysis.judgement.judged import RPS, Judged
from analysis.pages.csv_rows import csv_of

COLUMNS = ("rps_median", "rps_min", "rps_max", "rps_cv", "service_p99_us")


def csv_bytes(of: Across, stamp: str = "") -> bytes:
    """One row a place and a number judged; an unknown value is an empty field, its reason stands in
    `missing`, and the stamp of what was made against a refusal in `forced`."""
    titles = [f"{name}_{side}" for side in SIDES for name in ("n", *COLUMNS, "value")]
    gates = {id(row.pair): row for row in of.gate.rows}
    return csv_of(
        ["place", "measure", "column", *titles, "ratio_of_medians", "ratio", "low", "high", "p"]
        + ["p_adjusted", "judged", "verdict", "gate", "missing", "forced"],
        [[*_row(row, gates.get(id(row.of))), stamp] for row in of.judged],
    )


def _row(row: Judged, gated: object) -> list[Any]:
    pair, ratio, verdict = row.of, row.ratio, row.verdict
    assert isinstance(pair, Pair)
    of_rps = row.measure == RPS
    column = "rps_median" if of_rps else pair.cpu_column
    halves = gated.halves if gated is not None else ()
    sides = [field for cell in (pair.base, pair.new) for field in _side(cell, column)]
    change = pair.rps if of_rps else pair.cpu
    return [
        pair.place,
        row.measure,
        column,
        *sides,
        change.medians.number,
        *(ratio.ratio, ratio.low, ratio.high, ratio.p, verdict.p_adjusted),
        str(verdict.judged),
        verdict.word,
        halves[0 if of_rps else 1].word if halves else "",
        ratio.reason,
    ]


def _side(cell: Cell, column: str) -> list[Any]:
    return [len(cell.valid), *(cell.values[name].number for name in (*COLUMNS, column))]
