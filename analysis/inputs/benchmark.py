"""Google Benchmark's JSON: each benchmark by its name, with the times of its repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.inputs.documents import Refusal, read_object
from analysis.inputs.shapes import is_number

NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
# What all repetitions of one benchmark have alike, where the file says it.
FAMILY = ("family_index", "per_family_instance_index")
# Of a run that kept aggregates only, the one that stands for the repetitions, the best first.
TYPICAL = ("median", "mean")
# Bounds of a time: a picosecond, less than any instruction takes, and eleven days.
NS_MIN, NS_MAX = 1e-3, 1e15
VERSION = 1  # of "json_schema_version", which versions before 1.8.4 do not write


@dataclass(frozen=True)
class Benchmark:
    """One benchmark's time an iteration, in ns; one value a repetition, or one that stands for all
    of them where `aggregate` names it."""

    name: str
    real_ns: list[float]
    cpu_ns: list[float]
    repetitions: int
    aggregate: str | None = None
    failed: str | None = None  # why a repetition, or all, has no time


@dataclass(frozen=True)
class BenchmarkFile:
    """A file's benchmarks in its order, and what it says of the host."""

    path: Path
    context: dict[str, Any]
    benchmarks: dict[str, Benchmark]


def read(path: Path) -> BenchmarkFile:
    """Reads and checks; raises Refusal."""
    table = read_object(path)
    context, rows = table.get("context"), table.get("benchmarks")
    if not isinstance(context, dict) or not isinstance(rows, list):
        raise Refusal(
            path, "is not Google Benchmark's JSON: it has no object `context` and list `benchmarks`"
        )
    version = context.get("json_schema_version", VERSION)
    if version != VERSION:
        raise Refusal(path, f"has json_schema_version {version!r}; this reads {VERSION}")
    groups: dict[str, list[dict[str, Any]]] = {}
    for place, row in enumerate(rows):
        groups.setdefault(_name(path, place, row), []).append(row)
    if not groups:
        raise Refusal(path, "holds no benchmark")
    found = {name: _benchmark(path, name, group) for name, group in groups.items()}
    return BenchmarkFile(path, context, {name: one for name, one in found.items() if one})


def _name(path: Path, place: int, row: Any) -> str:
    name = (row.get("run_name") or row.get("name")) if isinstance(row, dict) else None
    if not isinstance(name, str):
        raise Refusal(path, f"`benchmarks.{place}` has no name")
    return name


def _benchmark(path: Path, name: str, rows: list[dict[str, Any]]) -> Benchmark | None:
    """Of all rows of one name; None where they are of a fitted complexity alone."""
    iterations = [row for row in rows if row.get("run_type", "iteration") == "iteration"]
    _check_one(path, name, iterations)
    failed = [row for row in rows if row.get("error_occurred")]
    why = str(failed[0].get("error_message") or "it says no reason") if failed else None
    good = [row for row in iterations if not row.get("error_occurred")]
    if good:
        times = [_times(path, name, row) for row in good]
        real, cpu = ([pair[side] for pair in times] for side in (0, 1))
        return Benchmark(name, real, cpu, len(good), failed=why)
    by_name = {str(row.get("aggregate_name")): row for row in rows if row not in iterations}
    for aggregate in TYPICAL:
        if aggregate in by_name:
            row = by_name[aggregate]
            real_ns, cpu_ns = _times(path, name, row)
            n = row.get("repetitions")
            n = n if type(n) is int and n > 0 else 1
            return Benchmark(name, [real_ns], [cpu_ns], n, aggregate, why)
    return Benchmark(name, [], [], 0, failed=why) if failed else None


def _check_one(path: Path, name: str, rows: list[dict[str, Any]]) -> None:
    """Raises Refusal where rows of one name are not repetitions of one benchmark."""
    places = {str([row.get(key) for key in FAMILY]) for row in rows}
    if len(places) > 1:
        raise Refusal(path, f"{name}: names {len(places)} benchmarks; give each a name of its own")


def _times(path: Path, name: str, row: dict[str, Any]) -> tuple[float, float]:
    """(real, CPU) in ns."""
    unit = row.get("time_unit", "ns")
    if not isinstance(unit, str) or unit not in NS:
        raise Refusal(path, f"{name}: `time_unit` is {unit!r}; give one of {', '.join(NS)}")
    for key in ("real_time", "cpu_time"):
        if not is_number(row.get(key)) or row[key] < 0:
            raise Refusal(path, f"{name}: `{key}` is not a number from 0 up")
    times = float(row["real_time"]) * NS[unit], float(row["cpu_time"]) * NS[unit]
    for key, time in zip(("real_time", "cpu_time"), times):
        if time and not NS_MIN <= time <= NS_MAX:
            raise Refusal(path, f"{name}: `{key}` is beyond measure: {row[key]} {unit}")
    return times
