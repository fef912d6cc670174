"""Samples: one server's boot each, read from the result's list and from their own folders.

A sample that the run itself found invalid is not refused: it is kept with its reasons.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.inputs import histogram
from analysis.inputs import shapes
from analysis.inputs.documents import Refusal, check_schema, parse_json, read_object, read_text
from analysis.inputs.histogram import Histogram

SAMPLE_SCHEMA = "weir.sample/1"
LOAD_SCHEMA = "weir.load/1"
# Of a server's numbers, those that may be below 0: differences of the whole host's counters.
OF_HOST = ("steal_us", "other_busy_cpus")


@dataclass(frozen=True)
class Sample:
    """One server's boot and what was measured on it."""

    sample_id: str
    order_index: int
    variant: str
    valid: bool
    invalid_reasons: list[str]
    cell: dict[str, Any]
    raw: dict[str, Any]  # the whole of result.json
    service: Histogram | None = None  # ns, from actual send; None where the sample is invalid
    intended: Histogram | None = (
        None  # ns, from intended send; None where the client did not record it
    )
    folder: str | None = None  # its own, beneath samples/; None for one that was not read

    @property
    def rps(self) -> float:
        """Requests per second over the measured window; valid samples only."""
        return float(self.raw["effective_rps"])

    @property
    def block(self) -> int | str:
        """The run in which it was measured; by itself where the result does not say."""
        run = self.raw.get("run")
        return run if type(run) is int else self.sample_id

    def find(self, group: str | None, name: str) -> tuple[float | None, str | None]:
        """(number, None) or (None, reason) of raw[group][name]; of raw[name] without a group."""
        table = self.raw if group is None else self.raw.get(group)
        table = table if isinstance(table, dict) else {}
        number = table.get(name)
        if shapes.is_number(number):
            return float(number), None
        return None, str(table.get(f"{name}_reason") or "not recorded")


@dataclass(frozen=True)
class Attempt:
    """An earlier attempt at a sample, which was then measured anew: kept, in no number."""

    folder: str  # beneath attempts/
    variant: str
    reasons: list[str]
    raw: dict[str, Any]  # its result.json; empty where it left none

    @property
    def failed(self) -> bool:
        """Whether it has a result, one that is not valid."""
        return self.raw.get("valid") is False


def read_samples(path: Path) -> list[Sample]:
    """All samples of a result directory, in execution order; raises Refusal."""
    where = path / "results.jsonl"
    text = read_text(where)
    if text and not text.endswith("\n"):
        raise Refusal(where, "its last line has no end; cut off")
    folders = _folders(path / "samples")
    samples: list[Sample] = []
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        at = f"{where} line {number}"
        sample = _read_sample(path / "samples", folders, parse_json(line, at), at)
        if sample.sample_id in seen:
            raise Refusal(where, f"sample_id {sample.sample_id!r} stands twice")
        seen.add(sample.sample_id)
        samples.append(sample)
    if not samples:
        raise Refusal(where, "holds no sample")
    return sorted(samples, key=lambda sample: sample.order_index)


def _folders(root: Path) -> dict[str, list[str]]:
    """The folders of samples by each name that a sample of theirs may have: what stands before any
    of its hyphens, or the whole. The directory is listed once for all samples."""
    found: dict[str, list[str]] = {}
    try:
        names = sorted(os.listdir(root))
    except OSError as error:
        raise Refusal(root, f"cannot be listed: {error.strerror}") from None
    for name in names:
        parts = name.split("-")
        for end in range(1, len(parts) + 1):
            found.setdefault("-".join(parts[:end]), []).append(name)
    return found


def _read_sample(root: Path, folders: dict[str, list[str]], raw: Any, where: str) -> Sample:
    if not isinstance(raw, dict):
        raise Refusal(where, "is not a JSON object")
    check_schema(raw, SAMPLE_SCHEMA, where)
    shapes.check(raw, shapes.SAMPLE, where)
    directory = _directory(root, folders, raw["sample_id"], where)
    if read_object(directory / "result.json") != raw:
        raise Refusal(directory / "result.json", f"differs from {where}; one of them was edited")
    service, intended = _read_histograms(directory, raw, where) if raw["valid"] else (None, None)
    return Sample(
        sample_id=raw["sample_id"],
        order_index=raw["order_index"],
        variant=raw["variant"],
        valid=raw["valid"],
        invalid_reasons=[str(reason) for reason in raw["invalid_reasons"]],
        cell=raw["cell"],
        raw=raw,
        service=service,
        intended=intended,
        folder=directory.name,
    )


def _directory(root: Path, folders: dict[str, list[str]], sample_id: str, where: str) -> Path:
    found = folders.get(sample_id, [])
    if len(found) != 1:
        raise Refusal(
            where, f"sample {sample_id!r} has {len(found)} folders under {root}; it must have one"
        )
    return root / found[0]


def _read_histograms(
    directory: Path, raw: dict[str, Any], where: str
) -> tuple[Histogram, Histogram | None]:
    """(service, intended) of a valid sample, checked against its counts."""
    for name in ("effective_rps", "completed"):
        if not shapes.is_number(raw.get(name)) or raw[name] <= 0:
            raise Refusal(where, f"is called valid, but `{name}` is not a number above 0")
    for name, value in (raw.get("server") or {}).items():
        if name not in OF_HOST and shapes.is_number(value) and value < 0:
            raise Refusal(where, f"is called valid, but `server.{name}` is below 0: {value}")
    if raw.get("failed") != 0:
        raise Refusal(where, f"is called valid, but `failed` is {raw.get('failed')!r}")
    source = directory / "client.json"
    table = read_object(source, LOAD_SCHEMA).get("histogram")
    if not isinstance(table, dict) or table.get("unit") != "ns":
        raise Refusal(source, "`histogram` is missing or its unit is not ns")
    service = _read_histogram(source, table, "service")
    if service.n != _recorded(raw, service.n):
        raise Refusal(
            source,
            (
                f"`histogram.service` holds {service.n} values, {where} says {_recorded(raw, 0)};"
                " cut off or edited"
            ),
        )
    return service, _read_histogram(source, table, "intended") if table.get("intended") else None


def _recorded(raw: dict[str, Any], otherwise: int) -> int:
    """How many service times the sample says it has, or `otherwise` where it does not say."""
    latency = raw.get("latency_us")
    service = latency.get("service") if isinstance(latency, dict) else None
    n = service.get("n") if isinstance(service, dict) else None
    return n if isinstance(n, int) else otherwise


def _read_histogram(source: Path, table: dict[str, Any], name: str) -> Histogram:
    try:
        read = histogram.parse(table.get(name), table.get("significant_digits"))
    except ValueError as error:
        raise Refusal(source, f"`histogram.{name}`: {error}") from None
    if read.n == 0:
        raise Refusal(source, f"`histogram.{name}` is empty, though the sample is called valid")
    return read


def read_attempts(root: Path) -> list[Attempt]:
    """Every earlier attempt at a sample, by its folder's name: <sample's folder>.N. What is beside
    them (resume.N) is the directory's own earlier files."""
    if not root.is_dir():
        return []
    folders = (folder for folder in sorted(root.iterdir()) if folder.is_dir())
    return [_read_attempt(folder) for folder in folders if _OF_SAMPLE.match(folder.name)]


_OF_SAMPLE = re.compile(r"s\d+-.+\.\d+$")


def _read_attempt(folder: Path) -> Attempt:
    source = folder / "result.json"
    named = folder.name.partition("-")[2].rpartition(".")[0]
    if not source.exists():
        return Attempt(folder.name, named, ["it was given up before it had a result"], {})
    raw = read_object(source, SAMPLE_SCHEMA)
    reasons = raw.get("invalid_reasons")
    return Attempt(
        folder.name,
        str(raw.get("variant", named)),
        [str(reason) for reason in reasons] if isinstance(reasons, list) else [],
        raw,
    )
