"""Whether two results are one: one run, or a copy of it; or two runs of one program."""

from __future__ import annotations

import hashlib

from analysis.inputs.load import Result
from analysis.judgement import calibration


def is_same_run(a: Result, b: Result) -> bool:
    """Whether both are of one run: by its id where both state one, else by their samples' bytes."""
    ids = [result.plan.get("run_id") for result in (a, b)]
    if None not in ids:
        return ids[0] == ids[1]
    return digest(a) == digest(b)


def digest(result: Result) -> str:
    """SHA-256 of results.jsonl; of the path where there is no such file to be read."""
    entry = result.hashes.get("results.jsonl")
    if entry:
        return str(entry["sha256"])
    file = result.path / "results.jsonl"
    text = file.read_bytes() if file.is_file() else str(result.path.resolve()).encode()
    return hashlib.sha256(text).hexdigest()


def is_one_program(a: Result, b: Result) -> bool:
    """Whether every sample of both is known to be of one and the same program."""
    found = calibration.programs(a, a.samples) | calibration.programs(b, b.samples)
    return len(found) == 1 and None not in found
