"""variants.csv: what `verdict` tells people about each pair, for programs."""

from __future__ import annotations

import csv
import io
from typing import Any

from analysis.cells import pairing
from analysis.judgement import caveats
from analysis.pages import method
from analysis.cells.aggregate import Aggregate, Cell
from analysis.inputs.load import Result
from analysis.cells.pairing import Pair
from analysis.pages.comparison import build_of, machine


def _of_side(cell: Cell) -> dict[str, Any]:
    columns = (
        "rps_median",
        "rps_min",
        "rps_max",
        "rps_cv",
        "os_cpu_us_per_request",
        "busy_us_per_request",
        "core_us_per_request",
        "service_p50_us",
        "service_p99_us",
        "service_p999_us",
        "sample_p50_us_median",
        "sample_p99_us_median",
        "rss_peak_kib",
        "rss_peak_kib_min",
        "rss_peak_kib_max",
        "rss_peak_since_start_kib",
        "requests_failed",
        "answers_not_ok",
        "attempts_failed",
    )
    numbers = {column: cell.values[column].number for column in columns}
    return {
        "cell": cell.variant,
        "n_valid": len(cell.valid),
        "n": len(cell.samples),
        **numbers,
        "rss_peak_since": cell.peak_since,
    }


def _of_build(build: dict[str, Any]) -> dict[str, Any]:
    names = (
        "git_commit",
        "git_dirty",
        "git_diff_sha256",
        "program_sha256",
        "build_type",
        "optimization",
        "c_args",
        "compiler",
    )
    return {name: build.get(name) for name in names}


def _of_pair(result: Result, pair: Pair) -> dict[str, Any]:
    """One row: what is gated, then both sides, then what was built, then how it was measured."""
    sides = {"base": (pair.base_name, pair.base), "new": (pair.name, pair.new)}
    row: dict[str, Any] = {
        "scenario": pair.place,
        "base": pair.base_name,
        "new": pair.name,
        "rps_ratio": pair.rps.ratio.number,
        "rps_bound": pair.rps.bound,
        "rps_pass": pair.rps.passed,
        "cpu_is": pair.cpu_column,
        "cpu_us_base": pair.base.values[pair.cpu_column].number,
        "cpu_us_new": pair.new.values[pair.cpu_column].number,
        "cpu_ratio": pair.cpu.ratio.number,
        "cpu_bound": pair.cpu.bound,
        "cpu_pass": pair.cpu.passed,
        "gate_pass": pair.passed,
        "gate": pair.gate,
    }
    for measure in pairing.measures(pair):
        both = pairing.ranges(pair, measure)
        row[f"{measure.key}_apart"] = None if both is None else pairing.apart(*both)
    for side, (_, cell) in sides.items():
        row |= {f"{key}_{side}": value for key, value in _of_side(cell).items()}
    for side, (name, _) in sides.items():
        row |= {f"{key}_{side}": value for key, value in _of_build(build_of(result, name)).items()}
    row |= {f"{key}_client": value for key, value in _of_build(result.build or {}).items()}
    return row


def _of_run(result: Result, found: Aggregate) -> dict[str, Any]:
    return {
        "runs_excluded": 0,
        "order": method.planned(result, "order"),
        "seed": method.planned(result, "seed"),
        "runs": method.planned(result, "runs"),
        "warmup": method.time_of(result, "warmup"),
        "duration": method.time_of(result, "duration"),
        "machine": machine(result),
        "pins": method.pins(result.samples),
        "disqualifiers": "; ".join(
            caveat.what for caveat in caveats.disqualifiers(result, found.cells)
        ),
    }


def csv_bytes(result: Result, found: Aggregate) -> bytes | None:
    """variants.csv: one row a pair; an unknown value is an empty field. None where there is no
    pair."""
    pairs = pairing.pairs(found)
    if not pairs:
        return None
    run = _of_run(result, found)
    rows = [_of_pair(result, pair) | run for pair in pairs]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _field(value) for key, value in row.items()} for row in rows)
    return out.getvalue().encode()


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.9g}" if isinstance(value, float) else str(value)
