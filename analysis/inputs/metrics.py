"""A sample's course in time: what its client wrote each half second into metrics.jsonl."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.inputs import histogram
from analysis.inputs.documents import Refusal, parse_json, present, read_text
from analysis.inputs.histogram import Histogram
from analysis.inputs.sample import Sample
from analysis.inputs.shapes import is_number

FILE = "metrics.jsonl"
MEASURE = "measure"
# A window of fewer intervals has no course in time to show.
INTERVALS_MIN = 2
# Decimal digits to which the coarse buckets of an interval are known.
DIGITS = 1


@dataclass(frozen=True)
class Interval:
    """One line: the part of the sample that ended `t_s` seconds after its client began."""

    t_s: float
    phase: str  # "warmup" or MEASURE
    completed: int
    rps: float | None
    p50_us: float | None
    p99_us: float | None  # None where nothing was recorded
    service: Histogram | None  # coarse, ns: the upper ends of buckets; None in older results


def read(path: Path, sample: Sample) -> list[Interval]:
    """The intervals of a sample of the result directory `path`, in their order; empty where the
    sample has no such file. Raises Refusal with file and line of what is malformed."""
    return read_file(path / "samples" / sample.folder / FILE) if sample.folder else []


def read_file(file: Path) -> list[Interval]:
    """The intervals of one file; empty where there is none. Raises Refusal."""
    if not present(file):
        return []
    found = [
        _interval(line, f"{file}:{number}")
        for number, line in enumerate(read_text(file).splitlines(), start=1)
        if line.strip()
    ]
    for number, (before, after) in enumerate(zip(found, found[1:]), start=2):
        if after.t_s <= before.t_s:
            raise Refusal(f"{file}:{number}", "`t_s` does not ascend; were lines moved?")
    return found


def window(intervals: list[Interval]) -> tuple[float, list[Interval]]:
    """(when the measured window began, its intervals): it begins where warm-up ended, whose last
    line says when, or with the client."""
    begin_s = max((one.t_s for one in intervals if one.phase != MEASURE), default=0.0)
    return begin_s, [one for one in intervals if one.phase == MEASURE]


def _interval(line: str, where: str) -> Interval:
    table = parse_json(line, where)
    if not isinstance(table, dict):
        raise Refusal(where, "is not a JSON object")
    seconds, completed = _number(table, "t_s", where), table.get("completed")
    if seconds is None or type(completed) is not int or completed < 0:
        raise Refusal(where, "`t_s` or `completed` is missing or no number from 0 up")
    if not isinstance(table.get("phase"), str):
        raise Refusal(where, "`phase` is missing or not a text")
    rps, p50_us, p99_us = (_number(table, name, where) for name in ("rps", "p50_us", "p99_us"))
    return Interval(
        t_s=seconds,
        phase=table["phase"],
        completed=completed,
        rps=rps,
        p50_us=p50_us,
        p99_us=p99_us,
        service=_service(table, where),
    )


def _number(table: dict[str, Any], name: str, where: str) -> float | None:
    """A number from 0 up, or None for null or where there is none."""
    number = table.get(name)
    if number is None:
        return None
    if not is_number(number) or number < 0:
        raise Refusal(where, f"`{name}` is not a number from 0 up")
    return float(number)


def _service(table: dict[str, Any], where: str) -> Histogram | None:
    if table.get("service_ns") is None:
        return None
    try:
        return histogram.parse(table["service_ns"], DIGITS)
    except ValueError as error:
        raise Refusal(where, f"`service_ns`: {error}") from None
