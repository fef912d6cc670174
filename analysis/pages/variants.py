"""Which variants were compared, and how: machine, commits, configuration, schedule, failures, and
where it all lies."""

from __future__ import annotations

from typing import Any

from analysis.cells import pairing
from analysis.cells.aggregate import Aggregate
from analysis.cells.words import count, switch
from analysis.inputs.load import Result
from analysis.pages import method
from analysis.pages.blocks import Block
from analysis.pages.facts import phrase

# Facts of host.json in words; those that it does not have are left out.
MACHINE = (
    ("hostname", "{}"),
    ("cpu_model", "{}"),
    ("packages", "packages {}"),
    ("cores_allowed", "cores {}"),
    ("cpus_logical", "logical CPUs {}"),
    ("smt_active", "SMT {}"),
    ("numa_nodes", "NUMA nodes {}"),
    ("memory_total_kib", "memory {} KiB"),
    ("os", "{}"),
    ("kernel", "kernel {}"),
    ("governor", "governor {}"),
    ("turbo", "turbo {}"),
    ("virtualization.hypervisor", "virtual machine {}"),
)
# Facts of a build in words, likewise.
BUILD = (
    ("compiler", "{}"),
    ("build_type", "build type {}"),
    ("optimization", "optimization {}"),
    ("setup", "set up with {}"),
    ("meson_setup", "set up by {}"),
    ("variant_options", "options of its own {}"),
    ("c_args", "C flags {}"),
    ("sanitizers", "sanitizers {}"),
    ("assertions", "assertions {}"),
)
KEY_DIGITS = 12  # of a build's key, as its folder's name has them


def blocks(result: Result, found: Aggregate) -> list[Block]:
    """All of it but where it lies, in the order in which it is read."""
    return [
        Block("Machine", [*_machines(result), f"Pins: {method.pins(result.samples)}."]),
        Block("Variants", [*_variants(result, found), client(result)]),
        Block(
            "Configuration",
            [
                method.fixed(result),
                *method.tls_lines(result),
                *method.given_lines(result),
                *method.scenarios(result),
            ],
        ),
        Block("Schedule", _schedule(result)),
        Block("Comparable", [_comparable(result)]),
        Block("Failures", _failures(result)),
    ]


def where(result: Result) -> Block:
    """The files, and each variant's program."""
    return Block("Where it lies", _where(result))


def machine(result: Result) -> str:
    """The host in one line."""
    if result.host is None:
        return "n/a (no host.json)"
    return "; ".join(_words(result.host, MACHINE)) or "n/a (host.json says nothing of it)"


def _machines(result: Result) -> list[str]:
    """The host; where server and clients ran elsewhere, theirs too, by name."""
    if result.hosts is None:
        return [machine(result)]
    named = [f"{name}: {'; '.join(_words(facts, MACHINE))}" for name, facts in result.machines]
    return [f"runner: {machine(result)}", *named]


def _words(table: dict[str, Any], wanted: tuple[tuple[str, str], ...]) -> list[str]:
    words = []
    for path, form in wanted:
        owner, name = table, path
        if "." in path:
            group, name = path.split(".")
            owner = table.get(group) if isinstance(table.get(group), dict) else {}
        if name in owner:
            words.append(form.format(_fact(owner, name)))
    return words


def _fact(table: dict[str, Any], name: str) -> str:
    """A fact as people read it; an unknown one with its reason."""
    value = table.get(name)
    if value is None:
        return f"n/a ({table.get(f'{name}_reason') or 'not recorded'})"
    if isinstance(value, bool) or name == "smt_active":
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return phrase(value)
    if isinstance(value, int):
        return f"{value:,}"
    return str(value) or "none"


def build_of(result: Result, name: str) -> dict[str, Any]:
    """What is known of a variant's program; `own` where that is the runner's."""
    build = result.build or {}
    built = build.get("variants")
    own = built.get(name) if isinstance(built, dict) else None
    if not isinstance(own, dict):
        return {**build, "own": True}
    digest = own.get("program_sha256")
    return {**own, "own": digest is not None and digest == build.get("program_sha256")}


def _variants(result: Result, found: Aggregate) -> list[str]:
    lines = []
    for name in found.factors[pairing.AXIS]:
        asked = result.levels_of(pairing.AXIS).get(name, {})
        role = " (the base)" if name == found.factors[pairing.AXIS][0] else ""
        lines.append(f"{name}{role}: {'; '.join(_asked(asked) + _built(build_of(result, name)))}.")
    return lines


def _asked(asked: dict[str, Any]) -> list[str]:
    """What the experiment says of a variant."""
    words = [f"{key} {asked[key]}" for key in ("commit", "options", "c_args") if key in asked]
    settings = asked.get("set")
    if isinstance(settings, dict) and settings:
        words.append("set " + ", ".join(f"{key} {switch(settings[key])}" for key in settings))
    return ["asked for: " + ", ".join(words)] if words else []


def _built(build: dict[str, Any]) -> list[str]:
    """Commit, digest, flags."""
    whose = ["the runner's own program"] if build.get("own") else []
    state = {True: ", with uncommitted changes", False: ", clean"}.get(build.get("git_dirty"), "")
    return [
        *whose,
        f"built from commit {_fact(build, 'git_commit')}{state}",
        *([f"diff SHA-256 {build['git_diff_sha256']}"] if build.get("git_diff_sha256") else []),
        f"program SHA-256 {_fact(build, 'program_sha256')}",
        *_words(build, BUILD),
    ]


def client(result: Result) -> str:
    """The load generator, which is the same beside every variant."""
    known = {**(result.build or {}), "own": True}
    return f"Load generator, the same for every variant: {'; '.join(_built(known))}."


def _schedule(result: Result) -> list[str]:
    return [
        method.order_line(result),
        (
            f"Warm-up {method.time_of(result, 'warmup')}, measured window"
            f" {method.time_of(result, 'duration')}; numbers are medians over the samples."
        ),
        f"Run again: {method.command(result)}",
    ]


def _comparable(result: Result) -> str:
    where = "one host" if result.hosts is None else "the machines of hosts.json"
    return (
        f"With each other only: {where}, one schedule, one load generator. Numbers of other hosts,"
        " builds or directories are no base for these."
    )


def _failures(result: Result) -> list[str]:
    lines = [f"Answers other than OK: {not_ok(result)}."]
    bad = [sample for sample in result.samples if not sample.valid]
    lines.append(f"Samples that are not valid: {len(bad) or 'none'} of {len(result.samples)}.")
    lines += [
        f"  {sample.sample_id} {sample.variant}: {_reasons(sample.invalid_reasons)}"
        for sample in bad
    ]
    lines.append(f"Earlier attempts that were measured anew: {len(result.attempts) or 'none'}.")
    lines += [f"  {one.folder}: {_reasons(one.reasons)}" for one in result.attempts]
    lines.append("Runs excluded: none; every valid sample is in the numbers.")
    return lines


def _reasons(reasons: list[str]) -> str:
    return "; ".join(reasons) or "n/a (no reason recorded)"


def not_ok(result: Result) -> str:
    """Requests without a right answer, of all samples and earlier attempts: "none" or how many,
    where, and how many cannot say."""
    counts, silent = [], 0
    attempts = [(sample.sample_id, sample.raw) for sample in result.samples]
    attempts += [(one.folder, one.raw) for one in result.attempts]
    for where, raw in attempts:
        failed = raw.get("failed")
        silent += bool(raw) and not isinstance(failed, int)
        if isinstance(failed, int) and failed:
            counts.append((where, failed))
    words = "none"
    if counts:
        places = ", ".join(f"{where}: {failed:,}" for where, failed in counts)
        words = f"{sum(failed for _, failed in counts):,} ({places})"
    return words + (f"; {count(silent, 'attempt')} cannot say" if silent else "")


def _where(result: Result) -> list[str]:
    lines = [
        (
            f"{result.path.resolve().name}: aggregate.csv and variants.csv (for programs),"
            " aggregate.txt, samples/ (one folder a run of each cell), results.jsonl."
        )
    ]
    for name in result.levels_of(pairing.AXIS):
        key = build_of(result, name).get("cache_key")
        if key:
            lines.append(f"Program of {name}: in the cache of builds, key {str(key)[:KEY_DIGITS]}.")
    return lines
