#!/usr/bin/python3
"""`weir verify` over results of `weir run`: what is whole passes, whatever is changed is found. Speaks TAP.

usage: verify_test.py WEIR [SUBSTRING...]
"""

import builtins
import errno
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

from bench import (ONE_CELL, ROOT, Bench, case, files_below, interrupt, read, read_bytes, read_json, write, write_manifest)
from processes import run_tests

sys.dont_write_bytecode = True
sys.path.insert(0, ROOT)
from analysis.inputs import files  # pylint: disable=wrong-import-position
from analysis.pages import publish  # pylint: disable=wrong-import-position

CALLS = [(os, name) for name in ("mkdir", "open", "fsync", "rename", "replace", "rmdir", "unlink")] + [(builtins, "open")]
REPORTS = ("aggregate.csv", "report.html", "figures/one.svg", "figures/two.svg")


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


def report_of(path, text):
    """What a report would put there: its files, which hold `text`, with the manifest that lists them and its digest."""
    made = {name: f"{name} {text}\n".encode() for name in REPORTS}
    manifest = files.manifest_with(read_json(publish_path(path, files.MANIFEST)), made)
    seal = files.seal_of(hashlib.sha256(manifest).hexdigest()).encode()
    return {**made, files.MANIFEST: manifest, files.SEAL: seal}


def publish_path(path, name):
    """Where a file is that a stopped report may not have put into its place yet."""
    ahead = os.path.join(path, publish.NEXT, name)
    return ahead if os.path.exists(ahead) else os.path.join(path, name)


def in_child(work, at, fail):
    """Does the work in a process in which the call of that number into the file system is not made but `fail`s; whether
    there were so many."""
    pid = os.fork()
    if pid == 0:
        left = at

        def counted(real):
            def call(*args, **options):
                nonlocal left
                left -= 1
                return fail() if left == 0 else real(*args, **options)
            return call

        for module, name in CALLS:
            setattr(module, name, counted(getattr(module, name)))
        try:
            work()
        except OSError:
            pass
        finally:
            os._exit(0 if left > 0 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0


def killed():
    os._exit(9)


def disk_full():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def check_stopped(result, copy, at, fail):
    """A second report is stopped at that call: all is valid before and after the third. Whether there was such a call."""
    shutil.copytree(result, copy)
    stopped = in_child(lambda: publish.publish(Path(copy), report_of(copy, "second")), at, fail)
    check_passes(copy)
    said = {read(publish_path(copy, name)).split()[1] for name in REPORTS}
    assert len(said) == 1 and said <= ({"first", "second"} if stopped else {"second"}), (at, said)
    publish.settle(Path(copy))
    assert {read(os.path.join(copy, name)).split()[1] for name in REPORTS} == said, at
    publish.publish(Path(copy), report_of(copy, "third"))
    check_passes(copy)
    assert not os.path.exists(os.path.join(copy, publish.STAGE)) and not os.path.exists(os.path.join(copy, publish.NEXT))
    shutil.rmtree(copy)
    return stopped


@case("a report that is stopped or fails at any step leaves what passes, and the next report takes it up")
def stopped_report(bench):
    path = bench.result(bench.experiment(factors=ONE_CELL))
    publish.publish(Path(path), report_of(path, "first"))
    check_passes(path)
    for fail in (killed, disk_full):
        at = 1
        while check_stopped(path, os.path.join(bench.folder, "copy"), at, fail):
            at += 1
        assert at > 30, at


@case("a result whose report was stopped is repeated like another, and a flipped byte in it is found")
def stopped_report_repeated(bench):
    path = bench.result(bench.experiment(factors=ONE_CELL))
    publish.publish(Path(path), report_of(path, "first"))
    moves = 0

    def in_the_middle():
        nonlocal moves
        moves += 1
        if moves == 3:
            os._exit(9)

    def work():
        real = os.replace
        os.replace = lambda *args: (in_the_middle(), real(*args))
        publish.publish(Path(path), report_of(path, "second"))

    assert in_child(work, 1000, killed)
    assert os.path.isdir(os.path.join(path, publish.NEXT))
    outcome = bench.run(path, "--dry-run")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    for folder, _, names in os.walk(os.path.join(path, publish.NEXT)):
        for name in names:
            file = os.path.join(folder, name)
            content = read_bytes(file)
            write_bytes(file, content[:-1] + bytes([content[-1] ^ 1]))
            assert faults_of(path), file
            write_bytes(file, content)
    check_passes(path)


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
