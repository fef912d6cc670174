"""Writes a result directory of very many small samples, fast: whole pieces of text with a few
numbers put in. The numbers are made up; they are evidence of nothing."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import result_fixture

# Values of a histogram's buckets, in ns.
BUCKETS = [40_000 + 250 * place for place in range(300)]


def write_huge(path: Path, runs: int, buckets: int = len(BUCKETS)) -> Path:
    """A whole result directory of `runs` runs of the twelve cells, sealed by its manifest."""
    rng = random.Random(3)
    cells = result_fixture.all_cells()
    templates = [_template(rng, cell, buckets) for cell in cells]
    (path / "samples").mkdir(parents=True)
    entries: list[dict[str, object]] = []
    lines, planned = [], []
    for index, (run, cell) in enumerate(result_fixture.schedule(runs, cells)):
        sample, client = templates[cells.index(cell)]
        rps = result_fixture.rate_of(cell) * rng.lognormvariate(0, 0.02)
        sample |= {"sample_id": f"s{index:05d}", "order_index": index, "run": run}
        sample["effective_rps"] = rps
        folder = f"samples/s{index:05d}-{sample['variant']}"
        (path / folder).mkdir()
        text = json.dumps(sample)
        _write(path, f"{folder}/result.json", text.encode(), entries)
        _write(path, f"{folder}/client.json", client, entries)
        lines.append(text + "\n")
        planned.append({"sample_id": sample["sample_id"], "variant": sample["variant"]})
    _write(path, "results.jsonl", "".join(lines).encode(), entries)
    for name, table in _others(runs, planned).items():
        _write(path, name, json.dumps(table).encode(), entries)
    manifest = {"schema": "weir.manifest/1", "files": entries}
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


def _template(
    rng: random.Random, cell: dict[str, object], buckets: int
) -> tuple[dict[str, object], bytes]:
    """(result.json's object, client.json's bytes) with the same counts in both."""
    sample, client = result_fixture.sample_of(rng, 0, 0, cell)
    pairs = [[value, 100 + place % 7] for place, value in enumerate(BUCKETS[:buckets])]
    n = sum(count for _, count in pairs)
    sample["completed"] = client["completed"] = n
    sample["latency_us"]["service"]["n"] = n
    client["histogram"] |= {"service": pairs, "intended": pairs}
    return sample, json.dumps(client).encode()


def _write(path: Path, name: str, content: bytes, entries: list[dict[str, object]]) -> None:
    (path / name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    entries.append({"path": name, "bytes": len(content), "sha256": digest})


def _others(runs: int, planned: list[dict[str, object]]) -> dict[str, object]:
    """The files beside the samples."""
    effective = result_fixture.EXPERIMENT | {"runs": runs}
    return {
        "experiment.json": result_fixture.EXPERIMENT,
        "plan.json": {"schema": "weir.plan/1", "effective": effective, "samples": planned},
        "host.json": {"schema": "weir.host/1", "hostname": "bench", "kernel": "6.1.0"},
        "build.json": {"schema": "weir.build/1", "git_commit": "0" * 40},
    }
