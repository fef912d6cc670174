#!/usr/bin/python3
"""`weir run` with variants that have to be built, from this repository's own history. Speaks TAP.

usage: variants_test.py WEIR [SUBSTRING...]

Building weir takes the better part of a minute, so all tests share one clone, whose files are not all committed, and
one cache of programs. How builds fail and what they leave is tested on a repository of a few lines, by
tests/unit/run/builds/builds_test.c.
"""

import csv
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from processes import WEIR, Skip, run_tests, test

BUILD_S = 900
WAIT_S = 120
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXPERIMENT = {
    "schema": "weir.experiment/1",
    "name": "builds",
    "fixed": {"stack": "epoll@loopback", "connections": 4, "request_bytes": 32},
    "variants": {
        "base": {"commit": "HEAD~1"},
        "new": {},
        "noring": {"options": "-During=disabled -Ddpdk=disabled", "c_args": "-g0"},
        "spin": {"set": {"wait": "spin"}},
    },
    "runs": 1,
    "warmup": "100ms",
    "duration": "300ms",
}
SCENARIOS = ["respond-64", "respond-10k", "echo-256", "coalesced-8"]
# What aggregate.txt says of a comparison of two commits, in this order.
FACTS = [
    r"^regression: \S+$",
    r"^New against base: the gate holds in \d of 4 scenarios",
    r"^Gate:\n  The gate \(kind point\) (passes|fails)\.$",
    r"^  Requests per second at least 0\.98 of the base's and the server's CPU per request at most 1\.02",
    r"^Machine:\n  \S+; .*kernel ",
    r"^  Pins: server on CPU \d+ and client on CPU \d+",
    r"^  base \(the base\): asked for: commit HEAD~1; built from commit BASE, clean; program SHA-256 [0-9a-f]{64}; .*build type ",
    r"^  new: the runner's own program; built from commit [0-9a-f]{40}.*; program SHA-256 [0-9a-f]{64}; ",
    r"^  Load generator, the same for every variant: the runner's own program; built from commit ",
    r"connections: 64; workers: 1; ",
    r"^  Scenario respond-64: handler respond, .*request_bytes 64, response_bytes 64\.$",
    r"^  Scenario respond-10k: .*response_bytes 10240\.$",
    r"^  Scenario echo-256: handler echo, .*request_bytes 256",
    r"^  Scenario coalesced-8: .*delivery coalesce, depth 8, ",
    r"^  Order: rotate, every cell 2 times\. Every sample starts its own server",
    r"^  Warm-up 100ms, measured window 200ms; numbers are medians",
    r"^  Run again: \./weir run ",
    r"^Comparable:\n  With each other only",
    r"^  Answers other than OK: none\.$",
    r"^  Samples that are not valid: none of 16\.$",
    r"^  Runs excluded: none",
    r"^  CPU per request is os_cpu_us everywhere: both sides are one kernel stack",
    r"^ *scenario +base req/s +new req/s +new / base +cpu_us base +cpu_us new +cpu new / base +n +gate$",
    *(rf"^ *{name} +[\d,]+ +[\d,]+ +\d\.\d{{3}} +[\d.]+ +[\d.]+ +\d\.\d{{3}} +2/2 \+ 2/2 +(pass|fail \(.*\))$" for name in SCENARIOS),
    r"^  respond-64: base [\d,]+ to [\d,]+ \(CV [\d.]+ %\); new [\d,]+ to [\d,]+ \(CV [\d.]+ %\)\.$",
    r"p50 µs base .*p99 µs new ",
    r"^Peak resident memory of the server:\n  respond-64, since (measurement|server) start: base median [\d.]+ MiB \([\d.]+ to [\d.]+\); new ",
    r"^  Every sample has a server of its own",
    r"^  Causes were not looked for\.$",
    r"aggregate\.csv and variants\.csv",
    r"^  Program of base: in the cache of builds, key [0-9a-f]{8,}\.$",
]


def git(folder, *words):
    """What git says, in the folder's own repository."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(["git", "-C", folder, *words], env={**env, "GIT_OPTIONAL_LOCKS": "0"}, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise Skip(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


class Bench:
    """A clone with a change that is not committed, a cache, and a place for results."""

    def __init__(self, folder):
        self.folder = folder
        self.clone = os.path.join(folder, "clone")
        self.cache = os.path.join(folder, "programs")
        self.output = os.path.join(folder, "out")
        git(folder, "clone", "--quiet", "--no-hardlinks", ROOT, self.clone)
        self.commit = git(self.clone, "rev-parse", "HEAD")
        self.base = git(self.clone, "rev-parse", "--verify", "HEAD~1")
        recipe = os.path.join(self.clone, "meson.build")
        with open(recipe, encoding="utf-8") as file:
            text = file.read()
        assert "version: '0" in text
        with open(recipe, "w", encoding="utf-8") as file:
            file.write(text.replace("version: '0", "version: '7.0", 1))
        self.write("new file", "not tracked\n")
        os.makedirs(os.path.join(folder, "experiment"))
        self.write("../experiment/experiment.json", json.dumps(EXPERIMENT))

    def write(self, name, text):
        with open(os.path.join(self.clone, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, *words, what=None, cache=None):
        command = [WEIR, "run", what or os.path.join(self.folder, "experiment"), "--builds", cache or self.cache,
                   "--no-report", "--output", self.output, "--lock", os.path.join(self.folder, "lock"), *words]
        return subprocess.Popen(command, env={**os.environ, "WEIR_ROOT": self.clone}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def run(self, *words, what=None, cache=None, timeout_s=WAIT_S):
        process = self.start(*words, what=what, cache=cache)
        try:
            out, error = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
        return process.returncode, out, error

    def building(self, process):
        """Returns once a build folder is being filled."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and process.poll() is None:
            for folder, below, _ in os.walk(self.cache):
                if os.path.basename(folder) == "build" and below:
                    return
        raise AssertionError(f"no build began: {process.communicate()}")

    def workers(self):
        """The processes that work in the cache, by name."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd").startswith(self.cache + "/"):
                    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                        found.append(file.read().strip())
            except OSError:
                pass  # it has ended
        return found

    def compiling(self, process):
        """Returns once compilers run."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and process.poll() is None:
            if "cc1" in self.workers():
                return
        raise AssertionError(f"no compiler was seen: {process.communicate()}")

    def left(self):
        """What the cache has that only builds under way should have."""
        return [os.path.join(folder, name) for folder, below, _ in os.walk(self.cache) for name in below
                if name in ("tree", "build") or name.startswith("scratch")]

    def checkout(self):
        """All of the clone, to the byte, and what git says of it. Of objects not the times, which git renews."""
        seen = {}
        for folder, _, names in os.walk(self.clone):
            for name in ["", *names]:
                path = os.path.join(folder, name)
                about = os.lstat(path)
                digest = ""
                if name:
                    with open(path, "rb") as file:
                        digest = hashlib.sha256(file.read()).hexdigest()
                times = 0 if "/.git/objects" in folder else about.st_mtime_ns
                seen[path] = about.st_mode, times, digest
        return seen, git(self.clone, "status", "--porcelain"), git(self.clone, "for-each-ref"), self.commit


@functools.cache
def bench():
    """The one that all tests share."""
    if not all(map(shutil.which, ("git", "meson", "ninja"))):
        raise Skip("git, meson or ninja is not installed")
    if not os.path.exists(os.path.join(ROOT, ".git")):
        raise Skip("these sources are no git repository")
    if git(ROOT, "rev-list", "--max-count=2", "--count", "HEAD") != "2":
        raise Skip("this clone has no commit but the last")
    folder = tempfile.mkdtemp(prefix="weir-variants-")
    return Bench(folder)


@functools.cache
def measured():
    """The result directory of the experiment, and the checkout before and after."""
    before = bench().checkout()
    status, out, error = bench().run(timeout_s=BUILD_S)
    assert status == 0, (status, out, error)
    return out.splitlines()[-1].removeprefix("results: "), before, bench().checkout()


def read(result, name):
    with open(os.path.join(result, name), encoding="utf-8") as file:
        return json.load(file)


@test("a reference that the repository lacks is refused before anything runs")
def unknown_reference():
    status, _, error = bench().run("--variant", "base=no-such-release")
    assert status == 4, status
    assert "variant base" in error and "'no-such-release'" in error, error
    assert not os.path.exists(bench().output)


@test("Ctrl-C ends a build, and nothing of it is left")
def interrupted():
    process = bench().start()
    bench().building(process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130, (process.returncode, error)
    assert not bench().left(), bench().left()
    assert not os.path.exists(bench().output)


@test("a runner killed in the middle of a build leaves the checkout as it was, and the next cleans up")
def killed():
    before = bench().checkout()
    process = bench().start()
    bench().compiling(process)
    process.kill()
    process.communicate(timeout=WAIT_S)
    assert not bench().workers(), bench().workers()
    assert bench().left()
    assert bench().checkout() == before
    status, _, _ = bench().run("--variant", "base=no-such-release")
    assert status == 4
    assert not bench().left(), bench().left()


@test("two commits, two builds and two settings of weir are served and measured in one run")
def compared():
    result, _, _ = measured()
    samples = [read(os.path.join(result, "samples", name), "result.json")
               for name in os.listdir(os.path.join(result, "samples"))]
    assert sorted(sample["variant"] for sample in samples) == ["base", "new", "noring", "spin"]
    for sample in samples:
        assert sample["invalid_reasons"] == [], sample
        assert sample["completed"] > 0


@test("build.json names commit, changes, options and digest of each program")
def recorded():
    build = read(measured()[0], "build.json")
    variants = build["variants"]
    assert set(variants) == set(EXPERIMENT["variants"])
    assert variants["base"]["git_commit"] == bench().base
    assert variants["base"]["reference"] == "HEAD~1"
    assert variants["base"]["git_dirty"] is False
    assert variants["noring"]["git_commit"] == bench().commit
    assert variants["noring"]["git_dirty"] is True
    assert variants["noring"]["weir_version"].startswith("7.0")
    assert variants["noring"]["libraries"]["liburing"] is None
    for word in build["setup"]:
        assert word in variants["noring"]["meson_setup"], word
    assert len({variants[name]["program_sha256"] for name in ("base", "new", "noring")}) == 3
    assert variants["new"]["program_sha256"] == variants["spin"]["program_sha256"] == build["program_sha256"]
    assert build["client"]["program_sha256"] == build["program_sha256"]
    for name in ("base", "noring"):
        assert variants[name]["unfit_for_performance"] == build["unfit_for_performance"]


@test("the digest of what is not committed is that of a diff that anybody can make")
def recomputed():
    copy = os.path.join(bench().folder, "copy")
    shutil.copytree(bench().clone, copy, symlinks=True)
    git(copy, "add", "--all")
    tree = git(copy, "write-tree")
    diff = subprocess.run(["git", "-C", copy, "diff-tree", "-p", "--binary", "--full-index", "--no-renames", "HEAD", tree],
                          capture_output=True, check=True).stdout
    assert read(measured()[0], "build.json")["variants"]["noring"]["git_diff_sha256"] == hashlib.sha256(diff).hexdigest()


@test("the checkout is the same to the byte after programs were built from it")
def untouched():
    _, before, after = measured()
    assert before == after
    assert not bench().left(), bench().left()


@test("the next run takes the programs from the cache")
def cached():
    first = read(measured()[0], "build.json")["variants"]
    status, out, error = bench().run()
    assert status == 0, (status, out, error)
    again = read(out.splitlines()[-1].removeprefix("results: "), "build.json")["variants"]
    assert again == first


@test("a folder that is not weir's is no cache, and stays as it is")
def foreign_cache():
    folder = os.path.join(bench().folder, "foreign")
    kept = os.path.join(folder, "myapp", "build", "program")
    os.makedirs(os.path.dirname(kept))
    with open(kept, "w", encoding="utf-8") as file:
        file.write("mine\n")
    status, _, error = bench().run(cache=folder)
    assert status == 4, (status, error)
    assert "is not weir's" in error, error
    assert os.path.exists(kept) and os.listdir(folder) == ["myapp"], os.listdir(folder)


@test("a repeat and a resumed run measure the commits that references meant, though HEAD has moved")
def moved():
    experiment = os.path.join(bench().folder, "two-commits")
    os.makedirs(experiment)
    variants = {"base": {"commit": "HEAD~1"}, "new": {}}
    bench().write("../two-commits/experiment.json", json.dumps({**EXPERIMENT, "name": "two-commits", "variants": variants}))
    done = (0, 3)  # whether the host kept still does not matter here; a refusal is 4
    status, out, error = bench().run(what=experiment, timeout_s=BUILD_S)
    assert status in done, (status, out, error)
    result = out.splitlines()[-1].removeprefix("results: ")
    plan = read(result, "plan.json")
    assert plan["commits"] == {"HEAD~1": bench().base}, plan["commits"]
    git(bench().clone, "-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet",
        "--allow-empty", "--message", "one more")
    try:
        assert git(bench().clone, "rev-parse", "HEAD~1") == bench().commit
        status, out, error = bench().run(what=result, timeout_s=BUILD_S)
        assert status in done, (status, out, error)
        again = out.splitlines()[-1].removeprefix("results: ")
        assert read(again, "build.json")["variants"]["base"]["git_commit"] == bench().base
        repeated = read(again, "plan.json")
        assert repeated["commits"] == plan["commits"] and repeated["effective"] == plan["effective"]
        assert not [one for one in repeated["repeats"]["differences"] if "program" in one["what"]], repeated["repeats"]
        status, out, error = bench().run("--resume", what=result, timeout_s=BUILD_S)
        assert status in done, (status, out, error)
    finally:
        git(bench().clone, "reset", "--quiet", "--soft", bench().commit)


def weir(*words):
    done = subprocess.run([WEIR, *words], env={**os.environ, "WEIR_ROOT": ROOT}, capture_output=True, text=True,
                          timeout=WAIT_S, check=False)
    return done.returncode, done.stdout, done.stderr


@functools.cache
def reported():
    """The regression experiment between the last commit but one and the runner, its report and that one's exit status. Of
    its own definition only the newer side is another, for the runner need not be built, and the windows are short."""
    measured()
    with open(os.path.join(ROOT, "experiments", "regression", "experiment.json"), encoding="utf-8") as file:
        experiment = json.load(file)
    experiment["variants"] = {"base": {"commit": "HEAD~1"}, "new": {}}
    folder = os.path.join(bench().folder, "regression")
    os.makedirs(folder)
    bench().write("../regression/experiment.json", json.dumps(experiment))
    status, out, error = bench().run("--set", "warmup=100ms", "--set", "duration=200ms", "--set", "runs=2", what=folder)
    assert status == 0, (status, out, error)
    result = out.splitlines()[-1].removeprefix("results: ")
    status, out, error = weir("report", result)
    if "packages are missing" in error:
        raise Skip(error.strip())
    assert status in (0, 1), (status, out, error)  # so short windows may fail the gate
    return result, out, status


@test("the report of two commits judges both halves of the gate in each scenario, by numbers")
def gated():
    result, said, status = reported()
    with open(os.path.join(result, "variants.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["scenario"] for row in rows] == SCENARIOS, rows
    for row in rows:
        assert (row["base"], row["new"], row["rps_bound"], row["cpu_bound"]) == ("base", "new", "0.98", "1.02"), row
        rps, cpu = float(row["rps_ratio"]), float(row["cpu_ratio"])
        assert rps > 0 and cpu > 0, row
        assert row["rps_pass"] == str(rps >= 0.98).lower() and row["cpu_pass"] == str(cpu <= 1.02).lower(), row
        assert row["gate_pass"] == str(rps >= 0.98 and cpu <= 1.02).lower(), row
        assert (row["n_valid_base"], row["n_valid_new"], row["runs_excluded"]) == ("2", "2", "0"), row
        assert row["git_commit_base"] == bench().base, row
    held = sum(row["gate_pass"] == "true" for row in rows)
    assert status == (0 if held == 4 else 1), (status, held)
    assert f"the gate holds in {held} of 4 scenarios" in said, said


@test("aggregate.txt of two commits has every fact that a comparison needs, in reading order")
def every_fact():
    with open(os.path.join(reported()[0], "aggregate.txt"), encoding="utf-8") as file:
        text = file.read()
    at = 0
    for fact in FACTS:
        found = re.compile(fact.replace("BASE", bench().base), re.M).search(text, at)
        assert found, f"{fact} is missing, or stands too early, in:\n{text}"
        at = found.start()


@test("a result of two commits is as its manifest says, with its report")
def verified():
    result, *_ = reported()
    assert os.path.exists(os.path.join(result, "report.html"))
    status, out, error = weir("verify", result)
    assert (status, error) == (0, ""), (status, out, error)


def main():
    try:
        return run_tests()
    finally:
        if bench.cache_info().currsize:
            shutil.rmtree(bench().folder)


if __name__ == "__main__":
    sys.exit(main())
