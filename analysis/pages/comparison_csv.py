"""variants.csv: what the pages on variants tell people about each pair, for programs."""

from __future__ import annotations

from typing import Any

from analysis.cells import pairing
from analysis.judgement.gates import REFUSED, Row
from analysis.judgement.judged import CPU, RPS, Judged
from analysis.judgement.study import Study
from analysis.pages import method
from analysis.pages.csv_rows import csv_of
from analysis.statistics import ranks
from analysis.cells.aggregate import Cell
from analysis.cells.pairing import Pair
from analysis.pages.variants import build_of, machine

# A rank test's p by its name; empty where there are too few runs.
RANK_COLUMNS = {ranks.SIGNED_RANK: "wilcoxon_p", ranks.MANN_WHITNEY: "mann_whitney_p"}


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


def _of_gate(pair: Pair, gate: Row | None, refused: bool) -> dict[str, Any]:
    """The ratios of medians beside the bounds; where there is no gate, without; a gate that is
    refused neither passes nor fails."""
    rps, cpu = (None, None) if gate is None else gate.halves
    return {
        "rps_ratio": pair.rps.medians.number,
        "rps_bound": rps and rps.bound,
        "rps_pass": None if refused else rps and rps.passed,
        "cpu_is": pair.cpu_column,
        "cpu_us_base": pair.base.values[pair.cpu_column].number,
        "cpu_us_new": pair.new.values[pair.cpu_column].number,
        "cpu_ratio": pair.cpu.medians.number,
        "cpu_bound": cpu and cpu.bound,
        "cpu_pass": None if refused else cpu and cpu.passed,
        "gate_pass": None if refused else gate and gate.passed,
        "gate": REFUSED if refused else gate and gate.text,
    }


def _of_verdicts(rps: Judged, cpu: Judged) -> dict[str, Any]:
    """The ratios over blocks with their intervals and words: of requests/s, then of CPU."""
    row: dict[str, Any] = {}
    for prefix, one in (("", rps), ("cpu_blocks_", cpu)):
        row |= dict.fromkeys(f"{prefix}{name}" for name in RANK_COLUMNS.values())
        row |= {
            f"{prefix}ratio": one.ratio.ratio,
            f"{prefix}ratio_low": one.ratio.low,
            f"{prefix}ratio_high": one.ratio.high,
            f"{prefix}p_adjusted": one.verdict.p_adjusted,
            f"{prefix}verdict": one.verdict.word,
        }
        for test in one.rank_tests:
            row[f"{prefix}{RANK_COLUMNS[test.name]}"] = test.p
    return row


def _of_pair(
    study: Study, pair: Pair, gate: Row | None, verdicts: list[Judged]
) -> dict[str, Any]:
    """One row: what is gated, then both sides, then what was built."""
    result = study.result
    sides = {"base": (pair.base_name, pair.base), "new": (pair.name, pair.new)}
    row: dict[str, Any] = {"scenario": pair.place, "base": pair.base_name, "new": pair.name}
    row |= _of_gate(pair, gate, study.gate.word == REFUSED)
    for measure in pairing.measures(pair):
        both = pairing.ranges(pair, measure)
        row[f"{measure.key}_apart"] = None if both is None else pairing.apart(*both)
    for side, (_, cell) in sides.items():
        row |= {f"{key}_{side}": value for key, value in _of_side(cell).items()}
    for side, (name, _) in sides.items():
        row |= {f"{key}_{side}": value for key, value in _of_build(build_of(result, name)).items()}
    row |= {f"{key}_client": value for key, value in _of_build(result.build or {}).items()}
    return row | _of_verdicts(*verdicts)


def _of_run(study: Study) -> dict[str, Any]:
    result = study.result
    return {
        "runs_excluded": 0,
        "order": method.planned(result, "order"),
        "seed": method.planned(result, "seed"),
        "runs": method.planned(result, "runs"),
        "warmup": method.time_of(result, "warmup"),
        "duration": method.time_of(result, "duration"),
        "machine": machine(result),
        "pins": method.pins(result.samples),
        "disqualifiers": "; ".join(caveat.what for caveat in study.caveats),
        "gate_kind": study.gate.gate.kind,
        "gate_asked": study.gate.gate.stated,
    }


def csv_bytes(study: Study) -> bytes | None:
    """variants.csv: one row a pair; an unknown value is an empty field. None where there is no
    pair."""
    pairs = study.pairs
    if not pairs:
        return None
    run, gate = _of_run(study), study.gate.rows or [None] * len(pairs)
    judged = {(id(row.of), row.measure): row for row in study.judged}
    rows = [
        _of_pair(study, pair, row, [judged[id(pair), one] for one in (RPS, CPU)]) | run
        for pair, row in zip(pairs, gate)
    ]
    titles = list(rows[0])
    return csv_of(titles, ([row[title] for title in titles] for row in rows))
