"""A result directory in memory, checked: manifest, plan, schemas, each sample against its own file.

Refused is what cannot be trusted to be one whole run. A sample that the run itself found invalid
is not refused: it is kept with its reasons.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.inputs import files
from analysis.inputs import integrity
from analysis.inputs import shapes
from analysis.inputs.documents import Refusal, check_schema, parse_json, present, read_object
from analysis.inputs.documents import read_optional, read_text
from analysis.inputs.given import GivenFile, read_given
from analysis.inputs.sample import Attempt, Sample, read_attempts, read_samples

EXPERIMENT_SCHEMA = "weir.experiment/1"
PLAN_SCHEMA = "weir.plan/1"
COMPARISON_SCHEMA = "weir.compare/1"

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
    drift_earlier: list[dict[str, Any]] | None = None  # until the run was last gone on with
    parity: dict[str, Any] | None = None
    hosts: dict[str, Any] | None = None
    attempts: list[Attempt] = field(default_factory=list)
    summary: dict[str, Any] | None = None
    sealed: bool = False  # whether manifest.sha256 vouches for the manifest
    hashes: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # path to {sha256, bytes}, inputs only
    given: dict[str, GivenFile] = field(default_factory=dict)  # what servers had, by name

    @property
    def effective(self) -> dict[str, Any]:
        """The experiment as it ran, overrides included."""
        ran = self.plan.get("effective")
        return ran if isinstance(ran, dict) else self.experiment

    @property
    def measured(self) -> tuple[str, str] | None:
        """When its first and its last sample began, in UTC; where they do not say, twice when the
        host was looked at before; None where that is not known either."""
        times = [sample.raw.get("started_at") for sample in self.samples]
        known = [time for time in times if isinstance(time, str)]
        looked = (self.host or {}).get("taken_at")
        known = known or ([looked] if isinstance(looked, str) else [])
        return (min(known), max(known)) if known else None

    def commit_of(self, variant: Any = None) -> str | None:
        """The commit that a variant's server was built from, the runner's own where it has none;
        with "+" where files differed from it. None where it is not known."""
        build = self.build or {}
        named = build.get("variants")
        own = named.get(variant) if isinstance(named, dict) and isinstance(variant, str) else None
        build = own if isinstance(own, dict) else build
        commit = build.get("git_commit")
        if not isinstance(commit, str):
            return None
        return commit[:12] + ("+" if build.get("git_dirty") else "")

    @property
    def machines(self) -> list[tuple[str, dict[str, Any]]]:
        """(role and name, facts) of each machine besides the runner's, of a run on several."""
        hosts = self.hosts or {}
        clients = hosts.get("clients")
        parts = [("server", hosts.get("server"))]
        parts += [("client", one) for one in (clients if isinstance(clients, list) else [])]
        return [
            (f"{role} {part.get('name') or 'n/a (no name)'}", part["facts"])
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
    collecting = gc.isenabled()
    gc.disable()  # what is read has no cycles; to look for some among millions of pairs takes long
    try:
        return _load(path)
    except OSError as error:  # what was there a moment ago, or may not be entered
        where = error.filename or path
        raise Refusal(where, f"cannot be read: {error.strerror}") from None
    finally:
        if collecting:
            gc.enable()


def is_comparison(path: Path) -> bool:
    """Whether a directory holds the pages of `weir compare`."""
    if present(path / "experiment.json") or not present(path / files.MANIFEST):
        return False
    try:
        return read_object(path / files.MANIFEST).get("schema") == COMPARISON_SCHEMA
    except Refusal:
        return False


def _load(path: Path) -> Result:
    if not path.is_dir():
        raise Refusal(path, "is not a directory; give a result directory such as results/NAME")
    if path.resolve().name.endswith(".partial"):
        raise Refusal(path, "is not a complete run; INCOMPLETE.txt in it may say why")
    if is_comparison(path):
        raise Refusal(path, "is a comparison, not a result; give one of the results it is of")
    experiment = read_object(path / "experiment.json", EXPERIMENT_SCHEMA)
    shapes.check(experiment, shapes.EXPERIMENT, path / "experiment.json")
    sealed = integrity.check_seal(path)
    manifest = read_optional(path / files.MANIFEST, "weir.manifest/1")
    hashes = integrity.check_manifest(path, manifest, OWN_OUTPUTS)
    plan = _read_plan(path / "plan.json")
    drift, steal_share, drift_earlier = _read_drift(path / "drift.json")
    samples = read_samples(path)
    integrity.check_count(path, plan, samples)
    integrity.check_precision(path, samples)
    return Result(
        path=path,
        experiment=experiment,
        plan=plan,
        host=read_optional(path / "host.json", "weir.host/1"),
        host_after=read_optional(path / "host-after.json", "weir.host/1"),
        build=read_optional(path / "build.json", "weir.build/1"),
        samples=samples,
        manifest=manifest,
        ceiling=read_text(path / "ceiling.txt") if present(path / "ceiling.txt") else None,
        hashes=hashes,
        drift=drift,
        steal_share=steal_share,
        drift_earlier=drift_earlier,
        parity=read_optional(path / "parity.json", "weir.parity/1"),
        hosts=read_optional(path / "hosts.json", "weir.hosts/1"),
        attempts=read_attempts(path / "attempts"),
        summary=read_optional(path / "summary.json", "weir.summary/1"),
        sealed=sealed,
        given=read_given(path, plan),
    )


def _read_plan(path: Path) -> dict[str, Any]:
    plan = read_object(path)
    if "schema" in plan:
        check_schema(plan, PLAN_SCHEMA, path)
    shapes.check(plan, shapes.PLAN, path)
    return plan


Facts = list[dict[str, Any]]


def _read_drift(path: Path) -> tuple[Facts | None, float | None, Facts | None]:
    """The facts that changed while the run lasted: a list, by itself or as `drift` of an object;
    the share of stolen time beside it; and the facts that had changed until the run was gone on
    with."""
    if not present(path):
        return None, None, None
    table = parse_json(read_text(path), path)
    if not isinstance(table, dict):
        return _facts(table, path), None, None
    stolen, earlier = table.get("steal_share"), table.get("earlier")
    return (
        _facts(table.get("drift"), path),
        float(stolen) if shapes.is_number(stolen) else None,
        _facts(earlier.get("drift"), path) if isinstance(earlier, dict) else None,
    )


def _facts(facts: Any, path: Path) -> Facts:
    if not isinstance(facts, list) or not all(
        isinstance(fact, dict) and isinstance(fact.get("fact"), str) for fact in facts
    ):
        raise Refusal(path, "is not a list of {fact, before, after}")
    return facts
