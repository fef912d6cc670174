"""Writes synthetic result directories for the tests of analysis/. The numbers are made up; they are
evidence of nothing."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any, Callable

STACKS = ("epoll@loopback", "dpdk@memif")
DELIVERIES = ("immediate", "coalesce")
DEPTHS = (1, 8, 32)
RUNS = 3

EXPERIMENT = {
    "schema": "weir.experiment/1",
    "name": "first-look",
    "question": "What are coalescing, depth and the stack each worth?",
    "fixed": {
        "protocol": "framed",
        "tls": False,
        "handler": "respond",
        "connections": 64,
        "workers": 1,
        "request_bytes": 256,
        "response_bytes": 64,
        "refill": "window",
        "wait": "default",
        "hugepages": "auto",
    },
    "factors": {"stack": list(STACKS), "delivery": list(DELIVERIES), "depth": list(DEPTHS)},
    "excludes": [],
    "runs": RUNS,
    "order": "rotate",
    "seed": 1,
    "warmup": "0.5s",
    "duration": "2s",
}

Change = Callable[[dict[str, Any], dict[str, Any]], None]


def cell_of(stack: str, delivery: str, depth: int) -> dict[str, Any]:
    """The settings of one cell as a result.json carries them."""
    cell = {
        "stack": stack,
        "protocol": "framed",
        "tls": False,
        "delivery": delivery,
        "depth": depth,
        "connections": 64,
        "workers": 1,
        "request_bytes": 256,
        "response_bytes": 64,
        "refill": "window",
        "wait": "block" if stack.startswith("epoll") else "spin",
        "handler": "respond",
        "hugepages": True,
    }
    if stack.startswith("epoll"):
        cell.update(hugepages=None, hugepages_reason="this stack has no use for them")
    return cell


def rate_of(cell: dict[str, Any]) -> float:
    """A plausible rate in requests/s."""
    base = 165e3 if cell["stack"].startswith("epoll") else 1.4e6
    gain = (
        {1: 1.0, 8: 6.8, 32: 18.0}
        if cell["stack"].startswith("epoll")
        else {1: 1.0, 8: 2.4, 32: 3.1}
    )
    return base * (
        gain[cell["depth"]] if cell["delivery"] == "coalesce" else 1 + 0.02 * cell["depth"] ** 0.5
    )


def histogram_of(rng: random.Random, median_us: float, n: int) -> list[list[int]]:
    """`n` log-normal latencies in buckets of three significant digits, ascending."""
    counts: dict[int, int] = {}
    for _ in range(2000):
        value = median_us * 1000 * rng.lognormvariate(0, 0.25) * (6 if rng.random() < 0.004 else 1)
        value_ns = int(float(f"{value:.2e}"))
        counts[value_ns] = counts.get(value_ns, 0) + n // 2000
    return [[value, counts[value]] for value in sorted(counts)]


def sample_of(
    rng: random.Random, index: int, run: int, cell: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(result.json, client.json) of one sample."""
    rps = rate_of(cell) * rng.lognormvariate(0, 0.02)
    completed = int(rps * 2) // 2000 * 2000
    depth, coalesced = cell["depth"], cell["delivery"] == "coalesce"
    pairs = histogram_of(rng, 64 * depth / rps * 1e6, completed)
    responses = depth * 0.97 if coalesced and depth > 1 else 1.0
    latency = {
        "min": 1.0,
        "p50": 2.0,
        "p90": 3.0,
        "p99": 4.0,
        "p999": 5.0,
        "max": 6.0,
        "n": completed,
    }
    busy_us = 0.97e6 / rps
    kernel = cell["stack"].startswith("epoll")
    result = {
        "schema": "weir.sample/1",
        "sample_id": f"s{index:04d}",
        "order_index": index,
        "run": run,
        "variant": f"{cell['stack']}.{cell['delivery']}.d{depth}",
        "valid": True,
        "invalid_reasons": [],
        "cell": cell,
        "completed": completed,
        "failed": 0,
        "elapsed_s": 2.0,
        "effective_rps": rps,
        "latency_us": {"service": latency, "intended": latency},
        "server": {
            "writes": completed // max(1, int(responses)),
            "bytes_per_write": 88 * responses,
            "responses_per_write": responses,
            "os_cpu_us_per_request": busy_us * 1.1,
            "busy_us_per_request": busy_us,
            "core_us_per_request": 1e6 / rps,
            "rss_peak_kib": 41000,
            "copied_bytes_per_request": None if kernel else 408.0,
            "empty_poll_share": 0.01 if kernel else 0.4,
        },
        "client": {"busy_share": 0.8, "saturated": False},
        "other_busy_cpus": 0.01,
        "pins": {"server_cpus": [0], "client_cpus": [1]},
    }
    if kernel:
        result["server"]["copied_bytes_per_request_reason"] = "copies happen in the kernel"
    client = {
        "schema": "weir.load/1",
        "completed": completed,
        "failed": 0,
        "effective_rps": rps,
        "histogram": {"unit": "ns", "significant_digits": 3, "service": pairs, "intended": pairs},
    }
    return result, client


def all_cells() -> list[dict[str, Any]]:
    """Every combination of the experiment's levels."""
    return [
        cell_of(stack, delivery, depth)
        for stack in STACKS
        for delivery in DELIVERIES
        for depth in DEPTHS
    ]


def schedule(runs: int, cells: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """(run, cell) in rotated order."""
    return [
        (run, cells[(place + run) % len(cells)])
        for run in range(runs)
        for place in range(len(cells))
    ]


# A comparison of variants: two commits in four scenarios, five runs, with hand-made numbers.

SCENARIOS = {
    "respond-64": {"handler": "respond", "request_bytes": 64, "response_bytes": 64},
    "respond-10k": {"handler": "respond", "request_bytes": 64, "response_bytes": 10240},
    "echo-256": {"handler": "echo", "request_bytes": 256},
    "coalesced-8": {"delivery": "coalesce", "depth": 8},
}
VARIANTS = {"base": {"commit": "v0.1"}, "new": {}}
COMMITS = {"base": "a" * 40, "new": "b" * 40}
# Scenario to its median rate and CPU per request, of base and new.
MEDIANS = {
    "respond-64": ((100_000.0, 98_000.0), (10.0, 10.2)),
    "respond-10k": ((50_000.0, 51_000.0), (20.0, 19.0)),
    "echo-256": ((80_000.0, 78_000.0), (12.5, 12.5)),
    "coalesced-8": ((400_000.0, 400_000.0), (2.5, 2.6)),
}
# What the five runs add to a median: one of them is the median.
OFFSETS = (0.0, -0.01, 0.01, -0.005, 0.005)


def variants_experiment(variants: dict[str, Any]) -> dict[str, Any]:
    """The experiment of that comparison."""
    fixed = EXPERIMENT["fixed"] | {"stack": "epoll@loopback", "delivery": "immediate", "depth": 1}
    for name in ("handler", "request_bytes", "response_bytes", "delivery", "depth"):
        fixed.pop(name)
    return EXPERIMENT | {
        "name": "regression",
        "question": "Does the new commit cost anything?",
        "fixed": fixed,
        "factors": {},
        "scenarios": SCENARIOS,
        "variants": variants,
        "runs": len(OFFSETS),
    }


def variant_cells(variants: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of that comparison, the variants fastest."""
    cells = []
    for scenario, settings in SCENARIOS.items():
        for variant in variants:
            cell = cell_of("epoll@loopback", "immediate", 1) | settings
            cells.append(cell | {"scenario": scenario, "variant": variant})
    return cells


def as_planned(result: dict[str, Any], client: dict[str, Any]) -> None:
    """Gives a sample the numbers of MEDIANS, its run's offset added."""
    cell, run = result["cell"], result["run"]
    rates, cpus = MEDIANS[cell["scenario"]]
    side = 0 if cell["variant"] == "base" else 1
    result["variant"] = f"{cell['scenario']}.{cell['variant']}"
    offset = OFFSETS[(run + side) % len(OFFSETS)]  # both sides vary, and not alike
    result["effective_rps"] = rates[side] * (1 + offset)
    os_cpu = cpus[side] * (1 - offset)
    result["server"].update(
        errors=0,
        os_cpu_us_per_request=os_cpu,
        busy_us_per_request=os_cpu * 0.9,
        rss_peak_kib=44032 + 1024 * side + 64 * run,
        rss_peak_since_start_kib=45056,
    )
    result["binding"] = {"kept": True}
    result["runner_cpu_share"] = 0.001 * (1 + run)


def write_variants(
    path: Path,
    change: Change | None = None,
    variants: dict[str, Any] | None = None,
    finish: Callable[[Path], None] | None = None,
) -> Path:
    """A whole result directory of that comparison; every variant but `base` has the numbers of
    `new`. `finish(path)` may add and edit files before they are listed."""
    variants = variants or VARIANTS

    def both(result: dict[str, Any], client: dict[str, Any]) -> None:
        as_planned(result, client)
        if change:
            change(result, client)

    write_result(path, both, runs=len(OFFSETS), cells=variant_cells(variants))
    experiment = variants_experiment(variants)
    write_json(path / "experiment.json", experiment)
    edit_json(path / "plan.json", effective=experiment, order="rotate", seed=1, runs=len(OFFSETS))
    edit_json(
        path / "build.json",
        program_sha256="c" * 64,
        variants={
            name: {
                "git_commit": commit,
                "git_dirty": False,
                "build_type": "release",
                "c_args": "-O3",
                "compiler": "gcc 12.2.0",
                "program_sha256": commit[0] * 64,
                "cache_key": commit[0] * 8,
            }
            for name, commit in COMMITS.items()
        },
    )
    write_json(path / "drift.json", {"schema": "weir.drift/1", "drift": []})
    if finish:
        finish(path)
    write_manifest(path)
    write_seal(path)
    return path


def edit_json(path: Path, **values: Any) -> None:
    """Sets these keys of a JSON file's object."""
    write_json(path, json.loads(path.read_text()) | values)


def write_seal(path: Path) -> None:
    """manifest.sha256 of the manifest that is there."""
    digest = hashlib.sha256((path / "manifest.json").read_bytes()).hexdigest()
    (path / "manifest.sha256").write_text(f"{digest}  manifest.json\n")


def write_small_result(path: Path) -> Path:
    """A whole result directory of one sample: two figures, where the full one has nine."""
    return write_result(path, runs=1, cells=all_cells()[:1])


def write_result(
    path: Path,
    change: Change | None = None,
    runs: int = RUNS,
    cells: list[dict[str, Any]] | None = None,
) -> Path:
    """A whole result directory at `path`, of all cells if none are given; `change(result, client)`
    may alter each sample before it is written."""
    rng = random.Random(1)
    lines, planned = [], []
    for index, (run, cell) in enumerate(schedule(runs, cells or all_cells())):
        result, client = sample_of(rng, index, run, dict(cell))
        if change:
            change(result, client)
        folder = path / "samples" / f"{result['sample_id']}-{result['variant']}"
        folder.mkdir(parents=True)
        write_json(folder / "result.json", result)
        if client:
            write_json(folder / "client.json", client)
        lines.append(json.dumps(result) + "\n")
        planned.append({"sample_id": result["sample_id"], "variant": result["variant"]})
    (path / "results.jsonl").write_text("".join(lines))
    write_json(path / "experiment.json", EXPERIMENT)
    write_json(
        path / "plan.json",
        {
            "schema": "weir.plan/1",
            "effective": EXPERIMENT | {"runs": runs},
            "degraded": True,
            "degraded_reason": "no core is left for the operating system",
            "samples": planned,
        },
    )
    write_json(
        path / "host.json",
        {
            "schema": "weir.host/1",
            "hostname": "bench",
            "kernel": "6.1.0",
            "cpus": 2,
            "cpu_model": "synthetic",
            "governor": None,
            "governor_reason": "no cpufreq",
        },
    )
    write_json(
        path / "build.json",
        {
            "schema": "weir.build/1",
            "git_commit": "0" * 40,
            "git_dirty": False,
            "build_type": "release",
            "sanitizers": "none",
            "unfit_for_performance": None,
            "compiler": "gcc 12.2.0",
        },
    )
    write_manifest(path)
    return path


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


def write_manifest(path: Path) -> None:
    """Lists every file that is there."""
    files = [
        {
            "path": str(file.relative_to(path)),
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "bytes": file.stat().st_size,
        }
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name not in ("manifest.json", "manifest.sha256")
    ]
    write_json(path / "manifest.json", {"schema": "weir.manifest/1", "files": files})
