"""A result directory in memory, checked: manifest, plan, schemas, each sample against its own file.

Refused is what cannot be trusted to be one whole run. A sample that the run itself found invalid
is not refused: it is kept with its reasons.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from analysis.inputs import files
from analysis.inputs import histogram
from analysis.inputs.histogram import Histogram

SAMPLE_SCHEMA = "weir.sample/1"
LOAD_SCHEMA = "weir.load/1"
EXPERIMENT_SCHEMA = "weir.experiment/1"

# What the report itself writes: rewritten each time, so never a reason to refuse.
OWN_OUTPUTS = (
    "aggregate.csv",
    "aggregate.txt",
    "variants.csv",
    "calibration.json",
    "report.md",
    "report.html",
    "figures/",
    "tables/",
)


class Refusal(Exception):
    """The directory cannot be reported on; says which file and why."""

    def __init__(self, file: str | Path, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file, self.reason = str(file), reason


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
        if isinstance(number, (int, float)) and not isinstance(number, bool):
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


@dataclass(frozen=True)
class Result:
    """A whole result directory; samples in execution order."""

    path: Path
    experiment: dict[str, Any]
    plan: dict[str, Any]
    host: dict[str, Any] | None
    host_after: dict[str, Any] | None
    build: dict[str, Any] | None
    samples: list[Sample]
    manifest: dict[str, Any] | None
    ceiling: str | None = None  # the table of shares of a ceiling
    drift: list[dict[str, Any]] | None = None  # {fact, before, after}; None where nobody looked
    steal_share: float | None = None  # of all CPU time between the two looks at the host
    parity: dict[str, Any] | None = None
    hosts: dict[str, Any] | None = None
    attempts: list[Attempt] = field(default_factory=list)
    sealed: bool = False  # whether manifest.sha256 vouches for the manifest
    hashes: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # path to {sha256, bytes}, inputs only

    @property
    def effective(self) -> dict[str, Any]:
        """The experiment as it ran, overrides included."""
        ran = self.plan.get("effective")
        return ran if isinstance(ran, dict) else self.experiment

    @property
    def machines(self) -> list[tuple[str, dict[str, Any]]]:
        """(role and name, facts) of each machine besides the runner's, of a run on several."""
        hosts = self.hosts or {}
        clients = hosts.get("clients")
        parts = [("server", hosts.get("server"))]
        parts += [("client", one) for one in (clients if isinstance(clients, list) else [])]
        return [
            (f"{role} {part.get('name')}", part["facts"])
            for role, part in parts
            if isinstance(part, dict) and isinstance(part.get("facts"), dict)
        ]

    @property
    def axes(self) -> dict[str, list[Any]]:
        """What the experiment varies, in its order: factors, then scenarios, then variants, the
        latter two with their names as levels."""
        factors = self.effective.get("factors")
        axes = {
            name: levels if isinstance(levels, list) else []
            for name, levels in (factors if isinstance(factors, dict) else {}).items()
        }
        for axis in ("scenario", "variant"):
            levels = list(self.levels_of(axis)) or self._named_by_cells(axis)
            if levels:
                axes[axis] = levels
        return axes

    def _named_by_cells(self, axis: str) -> list[Any]:
        """An axis' levels as the cells have them, in the order in which the plan lists the cells:
        scenarios of a profile stand nowhere else."""
        cells = self.plan.get("variants")
        order = cells if isinstance(cells, list) else []
        named = [sample for sample in self.samples if axis in sample.cell]
        if all(sample.variant in order for sample in named):
            named.sort(key=lambda sample: order.index(sample.variant))
        return list(dict.fromkeys(sample.cell[axis] for sample in named))

    def levels_of(self, axis: str) -> dict[str, dict[str, Any]]:
        """Each scenario's or variant's own object, by name; empty where there is no such axis."""
        named = self.effective.get(f"{axis}s")
        return {
            name: level if isinstance(level, dict) else {}
            for name, level in (named if isinstance(named, dict) else {}).items()
        }

    @property
    def valid(self) -> list[Sample]:
        """The samples that may enter a number."""
        return [sample for sample in self.samples if sample.valid]


def load_result(path: Path) -> Result:
    """Reads and checks the directory; raises Refusal."""
    if not path.is_dir():
        raise Refusal(path, "is not a directory; give a result directory such as results/NAME")
    if path.resolve().name.endswith(".partial"):
        raise Refusal(path, "is not a complete run; INCOMPLETE.txt in it may say why")
    experiment = _read_object(path / "experiment.json", EXPERIMENT_SCHEMA)
    sealed = _check_seal(path)
    manifest = _read_optional(path / files.MANIFEST)
    hashes = _check_manifest(path, manifest)
    plan = _read_object(path / "plan.json")
    drift, steal_share = _read_drift(path / "drift.json")
    samples = _read_samples(path)
    _check_count(path, plan, samples)
    _check_precision(path, samples)
    return Result(
        path=path,
        experiment=experiment,
        plan=plan,
        host=_read_optional(path / "host.json"),
        host_after=_read_optional(path / "host-after.json"),
        build=_read_optional(path / "build.json"),
        samples=samples,
        manifest=manifest,
        ceiling=_read_text(path / "ceiling.txt") if (path / "ceiling.txt").exists() else None,
        hashes=hashes,
        drift=drift,
        steal_share=steal_share,
        parity=_read_optional(path / "parity.json"),
        hosts=_read_optional(path / "hosts.json"),
        attempts=_read_attempts(path / "attempts"),
        sealed=sealed,
    )


def parse_json(text: str, where: Path | str) -> Any:
    """Strict JSON: finite numbers, no key twice. Raises Refusal with line and column."""
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique
        )
    except json.JSONDecodeError as error:
        raise Refusal(
            f"{where}:{error.lineno}:{error.colno}", f"is not JSON: {error.msg}; is it cut off?"
        ) from None
    except (ValueError, RecursionError) as error:
        raise Refusal(where, f"is not acceptable JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return table


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Refusal(path, "is missing; is the directory whole?") from None
    except UnicodeDecodeError as error:
        raise Refusal(path, f"is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise Refusal(path, f"cannot be read: {error.strerror}") from None


def _read_object(path: Path, schema: str | None = None) -> dict[str, Any]:
    table = parse_json(_read_text(path), path)
    if not isinstance(table, dict):
        raise Refusal(path, "is not a JSON object")
    if schema is not None:
        _check_schema(table, schema, path)
    return table


def _check_schema(table: dict[str, Any], schema: str, where: Path | str) -> None:
    if table.get("schema") != schema:
        found = table.get("schema")
        raise Refusal(
            where,
            (
                f"has schema {found!r}; this reads {schema!r}"
                if found
                else f"has no schema; this reads {schema!r}"
            ),
        )


def _read_optional(path: Path) -> dict[str, Any] | None:
    return _read_object(path) if path.exists() else None


def _check_seal(path: Path) -> bool:
    """Whether there is a manifest.sha256; it must then name the manifest that is there."""
    seal = path / files.SEAL
    if not seal.exists():
        return False
    try:
        digest = files.sha256_of(path / files.MANIFEST)
    except FileNotFoundError:
        raise Refusal(path / files.MANIFEST, f"is missing, though {files.SEAL} names it") from None
    except OSError as error:
        raise Refusal(path / files.MANIFEST, f"cannot be read: {error.strerror}") from None
    if _read_text(seal) != files.seal_of(digest):
        raise Refusal(
            path / files.MANIFEST,
            f"is not the file that {files.SEAL} names; one of them was edited",
        )
    return True


def _read_drift(path: Path) -> tuple[list[dict[str, Any]] | None, float | None]:
    """The facts that changed while the run lasted: a list, by itself or as `drift` of an object;
    and the share of stolen time beside it."""
    if not path.exists():
        return None, None
    table = parse_json(_read_text(path), path)
    facts = table.get("drift") if isinstance(table, dict) else table
    if not isinstance(facts, list) or not all(
        isinstance(fact, dict) and isinstance(fact.get("fact"), str) for fact in facts
    ):
        raise Refusal(path, "is not a list of {fact, before, after}")
    stolen = table.get("steal_share") if isinstance(table, dict) else None
    return facts, float(stolen) if isinstance(stolen, (int, float)) else None


def _read_attempts(root: Path) -> list[Attempt]:
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
    raw = _read_object(source, SAMPLE_SCHEMA)
    reasons = raw.get("invalid_reasons")
    return Attempt(
        folder.name,
        str(raw.get("variant", named)),
        [str(reason) for reason in reasons] if isinstance(reasons, list) else [],
        raw,
    )


def _check_manifest(path: Path, manifest: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Each listed input must be there with its size and hash; returns them. Empty where there is no
    manifest."""
    if manifest is None:
        return {}
    try:
        entries = files.manifest_entries(manifest)
    except ValueError as error:
        raise Refusal(path / files.MANIFEST, str(error)) from None
    inputs = {
        name: entry for name, entry in sorted(entries.items()) if not name.startswith(OWN_OUTPUTS)
    }
    for name, entry in inputs.items():
        _check_file(path / name, entry)
    return inputs


def _check_file(path: Path, entry: dict[str, Any]) -> None:
    try:
        size = path.stat().st_size
        if size != entry["bytes"]:
            raise Refusal(
                path, f"has {size} bytes, the manifest says {entry['bytes']}; cut off or edited"
            )
        if files.sha256_of(path) != entry["sha256"]:
            raise Refusal(path, "is not the file that the manifest lists (sha256 differs); edited")
    except FileNotFoundError:
        raise Refusal(path, "is missing, though the manifest lists it") from None
    except OSError as error:
        raise Refusal(path, f"cannot be read: {error.strerror}") from None


def _check_count(path: Path, plan: dict[str, Any], samples: list[Sample]) -> None:
    planned = plan.get("samples")
    if isinstance(planned, list) and len(planned) != len(samples):
        raise Refusal(
            path / "results.jsonl",
            f"holds {len(samples)} samples, plan.json has {len(planned)}; the run is not complete",
        )


def _check_precision(path: Path, samples: list[Sample]) -> None:
    digits = {sample.service.significant_digits for sample in samples if sample.service}
    if len(digits) > 1:
        found = " and ".join(map(str, sorted(digits)))
        raise Refusal(path / "samples", f"has histograms of {found} digits, which do not merge")


def _read_samples(path: Path) -> list[Sample]:
    where = path / "results.jsonl"
    text = _read_text(where)
    if text and not text.endswith("\n"):
        raise Refusal(where, "its last line has no end; cut off")
    samples = []
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        samples.append(
            _read_sample(path, parse_json(line, f"{where} line {number}"), f"{where} line {number}")
        )
    if not samples:
        raise Refusal(where, "holds no sample")
    seen: set[str] = set()
    for sample in samples:
        if sample.sample_id in seen:
            raise Refusal(where, f"sample_id {sample.sample_id!r} stands twice")
        seen.add(sample.sample_id)
    return sorted(samples, key=lambda sample: sample.order_index)


_SAMPLE_TYPES: dict[str, type | tuple[type, ...]] = {
    "sample_id": str,
    "order_index": int,
    "variant": str,
    "valid": bool,
    "invalid_reasons": list,
    "cell": dict,
}


def _read_sample(path: Path, raw: Any, where: str) -> Sample:
    if not isinstance(raw, dict):
        raise Refusal(where, "is not a JSON object")
    _check_schema(raw, SAMPLE_SCHEMA, where)
    for name, kind in _SAMPLE_TYPES.items():
        if not isinstance(raw.get(name), kind):
            raise Refusal(where, f"`{name}` is missing or not {getattr(kind, '__name__', kind)}")
    directory = _sample_directory(path, raw["sample_id"], where)
    if _read_object(directory / "result.json") != raw:
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
    )


def _sample_directory(path: Path, sample_id: str, where: str) -> Path:
    root = path / "samples"
    found = sorted(
        entry
        for entry in root.glob("*")
        if entry.name == sample_id or entry.name.startswith(sample_id + "-")
    )
    if len(found) != 1:
        raise Refusal(
            where, f"sample {sample_id!r} has {len(found)} folders under {root}; it must have one"
        )
    return found[0]


def _read_histograms(
    directory: Path, raw: dict[str, Any], where: str
) -> tuple[Histogram, Histogram | None]:
    """(service, intended) of a valid sample, checked against its counts."""
    for name in ("effective_rps", "completed"):
        if (
            not isinstance(raw.get(name), (int, float))
            or isinstance(raw[name], bool)
            or raw[name] <= 0
        ):
            raise Refusal(where, f"is called valid, but `{name}` is not a number above 0")
    if raw.get("failed") != 0:
        raise Refusal(where, f"is called valid, but `failed` is {raw.get('failed')!r}")
    source = directory / "client.json"
    table = _read_object(source, LOAD_SCHEMA).get("histogram")
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
