#!/usr/bin/python3
"""`weir verify` over results of `weir run`: what is whole passes, whatever is changed is found. Speaks TAP.

usage: verify_test.py WEIR [SUBSTRING...]
"""

import json
import os
import shutil
import sys

from bench import (ONE_CELL, Bench, case, files_below, interrupt, read, read_bytes, read_json, write, write_manifest)
from processes import run_tests


def write_bytes(path, content):
    with open(path, "wb") as file:
        file.write(content)


def faults_of(path):
    """The lines of a verdict that something is wrong."""
    outcome = Bench.weir("verify", path)
    assert outcome.returncode == 3, (outcome.returncode, outcome.stdout, outcome.stderr)
    assert outcome.stderr.rstrip().endswith((" faults", " fault")), outcome.stderr
    return outcome.stdout.splitlines()


def check_passes(path):
    outcome = Bench.weir("verify", path)
    assert outcome.returncode == 0 and outcome.stderr == "", outcome.stdout + outcome.stderr
    assert "every file is what the run wrote" in outcome.stdout, outcome.stdout


@case("one flipped byte at the begin, the middle or the end of any file is found, and the file named")
def flipped_byte(bench):
    path = bench.result(bench.experiment(factors=ONE_CELL))
    check_passes(path)
    tried = 0
    for name in files_below(path):
        file = os.path.join(path, name)
        content = read_bytes(file)
        for at in sorted({0, len(content) // 2, len(content) - 1}) if content else ():
            changed = bytearray(content)
            changed[at] ^= 1 << tried % 8
            write_bytes(file, changed)
            assert any(f"{name}: " in line for line in faults_of(path)), (name, at)
            tried += 1
        write_bytes(file, content)
    assert tried > 40, tried
    check_passes(path)


@case("a file that is removed, added, cut off or a link is found, and named")
def removed_and_added(bench):
    path = bench.result(bench.experiment(factors=ONE_CELL))
    for name in files_below(path):
        file = os.path.join(path, name)
        content = read_bytes(file)
        os.unlink(file)
        assert any(line.startswith(f"{name}: ") for line in faults_of(path)), name
        if content:
            write_bytes(file, content[:-1])
            assert any(f"{name}: " in line for line in faults_of(path)), name
        write_bytes(file, content)
    added = os.path.join(path, "samples", "notes.txt")
    write(added, "mine")
    assert faults_of(path) == ["samples/notes.txt: is not in the manifest"]
    os.unlink(added)
    os.symlink("../plan.json", added)
    assert faults_of(path) == ["samples/notes.txt: is no regular file"]
    os.unlink(added)
    os.mkfifo(added)
    assert faults_of(path) == ["samples/notes.txt: is no regular file"]
    os.unlink(added)
    check_passes(path)


@case("a change that the manifest was made to agree with is found by what the files say of each other")
def consistent_change(bench):
    path = bench.result(bench.experiment(runs=2))
    first = read_json(path, "plan.json")["samples"][0]["folder"] + "/result.json"
    lines = read(os.path.join(path, "results.jsonl")).splitlines()
    altered = json.loads(lines[0])
    altered["effective_rps"] *= 2
    summary = read_json(path, "summary.json")
    summary["cells"][0]["effective_rps"]["median"] += 1
    newer = {**read_json(path, "plan.json"), "schema": "weir.plan/9"}
    cases = (
        ("results.jsonl", "\n".join([json.dumps(altered), *lines[1:]]) + "\n", f"results.jsonl: differs from {first}"),
        ("results.jsonl", "\n".join(lines[1:]) + "\n", "results.jsonl: has 3 samples, plan.json 4"),
        ("results.jsonl", "\n".join(lines), "the line has no end: cut off"),
        ("results.jsonl", "\n".join(reversed(lines)) + "\n", f"results.jsonl: differs from {first}"),
        (first, lines[1] + "\n", f"{first}: is not of the sample that plan.json has there"),
        (first, lines[0][:-9] + "\n", f"{first}: "),
        (first, lines[0].replace('"valid":true', '"valid":true,"valid":true') + "\n", "duplicate object key"),
        ("summary.json", json.dumps(summary), "summary.json: `cells` is not what plan.json and results.jsonl come to"),
        ("plan.json", json.dumps(newer), "its schema is 'weir.plan/9'; this weir reads weir.plan/1"),
        ("plan.json", "[" * 100000, "plan.json: "),
    )
    for name, text, said in cases:
        copy = os.path.join(bench.folder, "copy")
        shutil.copytree(path, copy)
        write(os.path.join(copy, name), text)
        write_manifest(copy)
        assert any(said in line for line in faults_of(copy)), (said, faults_of(copy))
        shutil.rmtree(copy)
    copy = os.path.join(bench.folder, "copy")
    shutil.copytree(path, copy)
    shutil.rmtree(os.path.join(copy, os.path.dirname(first)))
    write_manifest(copy)
    assert any(line.startswith(f"{first}: ") for line in faults_of(copy))


@case("what is no result directory, or not a whole one, is refused")
def no_result(bench):
    folder = bench.experiment(factors=ONE_CELL, duration="20s")
    with bench.start(folder) as runner:
        bench.await_measuring("s0001")
        interrupt(runner)
    for path, said in ((folder, "is no result directory"), (os.path.join(folder, "experiment.json"), "is no result directory"),
                       (os.path.join(bench.folder, "absent"), "No such file or directory"),
                       (bench.only_partial(), "--resume` goes on with it")):
        outcome = bench.weir("verify", path)
        assert outcome.returncode == 4 and said in outcome.stderr, (path, outcome.stderr)
    assert bench.weir("verify").returncode == 4


if __name__ == "__main__":
    sys.exit(run_tests())
