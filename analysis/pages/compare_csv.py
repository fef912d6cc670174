"""Two results beside each other as rows for programs."""

from __future__ import annotations

import csv
import io

from analysis.cells.aggregate import Cell
from analysis.cells.pairing import Pair
from analysis.judgement.across import SIDES, Across
from analysis.judgement.judged import RPS, Judged

COLUMNS = ("rps_median", "rps_min", "rps_max", "rps_cv", "service_p99_us")


def csv_bytes(of: Across, stamp: str = "") -> bytes:
    """One row a place and a number judged; an unknown value is an empty field, its reason stands in
    `missing`, and the stamp of what was made against a refusal in `forced`."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    titles = [f"{name}_{side}" for side in SIDES for name in ("n", *COLUMNS, "value")]
    writer.writerow(
        ["place", "measure", "column", *titles, "ratio_of_medians", "ratio", "low", "high", "p"]
        + ["p_adjusted", "judged", "verdict", "gate", "missing", "forced"]
    )
    gates = {id(row.pair): row for row in of.gate.rows}
    for row in of.judged:
        writer.writerow([*_row(row, gates.get(id(row.of))), stamp])
    return out.getvalue().encode()


def _row(row: Judged, gated: object) -> list[str]:
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
        _number(change.medians.number),
        *map(_number, (ratio.ratio, ratio.low, ratio.high, ratio.p, verdict.p_adjusted)),
        str(verdict.judged),
        verdict.word,
        halves[0 if of_rps else 1].word if halves else "",
        ratio.reason or "",
    ]


def _side(cell: Cell, column: str) -> list[str]:
    names = (*COLUMNS, column)
    return [str(len(cell.valid)), *(_number(cell.values[name].number) for name in names)]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
