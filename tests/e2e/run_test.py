#!/usr/bin/python3
"""`weir run` from the outside: whole results, and what is refused before anything runs. Speaks TAP.

usage: run_test.py WEIR [SUBSTRING...]
"""

import contextlib
import ctypes
import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys

from bench import (DEADLINE_S, EXPERIMENT, ONE_CELL, ROOT, case, check_hashes, children_of, ground_of, is_alive,
                   need_stack, path_in, read, read_bytes, read_json, read_results, ready_of, results_path, stacks,
                   wait_for, write)
from processes import WEIR, Skip, limit_files, run_tests

SYS_IO_URING_SETUP = 425


def check_sample(result, plan_sample):
    """A valid sample has every number that epoll can have, and says why it lacks the others."""
    assert result["schema"] == "weir.sample/1"
    assert result["valid"] is True and result["invalid_reasons"] == [], result["invalid_reasons"]
    assert result["sample_id"] == plan_sample["sample_id"]
    assert result["variant"] == plan_sample["variant"]
    assert result["completed"] > 0 and result["failed"] == 0
    assert result["latency_us"]["service"]["n"] == result["completed"]
    assert result["server"]["responses_per_write"] == (4 if "coalesce" in result["variant"] else 1)
    assert result["server"]["busy_us_per_request"] > 0
    assert result["other_busy_cpus"] >= 0
    assert "can_block" in result["capabilities"], result["capabilities"]
    assert "migrations" in result["server"]
    assert result["server"]["voluntary_switches"] > 0  # of the worker, which blocks
    assert result["server"]["net_rx_softirqs_per_request"] is not None
    assert result["cell"]["client_stack"] == "epoll@loopback" and result["cell"]["bare"] is False
    assert result["cell"]["wait"] == "block" and result["cell"]["depth"] == 4
    assert not set(result["pins"]["server_cpus"]) & set(result["pins"]["client_cpus"])
    for part in (result, result["server"], result["client"], result["cell"], result["latency_us"]):
        for name, value in part.items():
            assert value is not None or part[name + "_reason"], name


def check_warmup(folder):
    """warmup.log has what came before the measured window, with figures."""
    with open(os.path.join(folder, "warmup.log"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert lines[:2] == ["phase connect", "phase warmup"], lines
    figures = [json.loads(line) for line in lines[2:]]
    assert figures and all(one["phase"] == "warmup" for one in figures), figures
    assert sum(one["completed"] for one in figures) > 0, figures


@case("an experiment ends in a whole, hashed result directory")
def whole_result(bench):
    folder = bench.experiment(runs=2)
    outcome = bench.run(folder)
    assert outcome.returncode == 0, outcome.stderr
    path = results_path(outcome)
    assert bench.made() == [os.path.basename(path)]
    assert re.fullmatch(r"\d{8}T\d{6}Z-tiny-[A-Za-z0-9-]+", os.path.basename(path)), path
    ours, copy = (read_bytes(os.path.join(where, "experiment.json")) for where in (folder, path))
    assert ours == copy
    plan, results = read_json(path, "plan.json"), read_results(path)
    assert [r["order_index"] for r in results] == [0, 1, 2, 3]
    order = ["immediate.d4", "coalesce.d4", "coalesce.d4", "immediate.d4"]
    assert [r["variant"] for r in results] == order
    for result, sample in zip(results, plan["samples"]):
        check_sample(result, sample)
        assert read_json(path, sample["folder"], "result.json") == result
        assert sample["env"]["LC_ALL"] == "C" and "HOME" not in sample["env"], sample["env"]
        check_warmup(os.path.join(path, sample["folder"]))
    for name in ("host.json", "host-after.json", "build.json", "summary.json"):
        read_json(path, name)
    assert read_json(path, "summary.json")["valid"] == 4
    check_hashes(path)


@case("dpdk over memif is measured like any other stack")
def dpdk_result(bench):
    need_stack("dpdk")
    folder = bench.experiment(fixed={"stack": "dpdk@memif", "connections": 4})
    results = read_results(bench.result(folder))
    assert [r["valid"] for r in results] == [True, True]
    assert results[0]["cell"]["wait"] == "spin" and results[0]["cell"]["hugepages"] in (True, False)
    server = results[0]["server"]
    assert server["segments_out"] > 0 and server["bursts_out"] > 0
    assert server["segments_per_burst_in"] > 0 and server["segments_per_burst_out"] > 0
    assert "needs_hugepages" in results[0]["capabilities"]


@case("a malformed experiment is refused by file, line and column")
def malformed(bench):
    folder = bench.experiment()
    file = os.path.join(folder, "experiment.json")
    for text, expected in (
            ('{\n "name": "x",\n}', f"{file}:3:1: "),
            (json.dumps({**EXPERIMENT, "durration": "1s"}),
             "unknown key 'durration'; did you mean 'duration'?"),
            (json.dumps({**EXPERIMENT, "runs": -1}),
             "'runs' is -1; accepted: a whole number from 1 to 1000")):
        write(file, text)
        outcome = bench.run(folder)
        assert outcome.returncode == 4, outcome.stdout
        assert expected in outcome.stderr, outcome.stderr
        assert "nothing was run: 1 problem\n" in outcome.stderr, outcome.stderr
    os.unlink(file)
    outcome = bench.run(folder)
    assert outcome.returncode == 4 and "No such file or directory" in outcome.stderr, outcome.stderr
    assert bench.made() == []


@case("a wrong command line is refused with what was meant")
def wrong_command_line(bench):
    folder = bench.experiment()
    for arguments, expected in (
            ((folder, "--sett", "depth=1"), "did you mean '--set'?"),
            ((folder, "--set", "depht=1"), "--set depht=1: unknown key 'depht'"),
            ((folder, "--set", b"depth=\xff"), "--set depth="),
            ((folder, "--set", b"\xff=1"), ": not UTF-8"),
            ((folder, "--set", "depth"), "--set: 'depth' is not accepted"),
            ((folder, folder), "one DIR is wanted"),
            ((), "DIR is missing")):
        outcome = bench.run(*arguments)
        assert outcome.returncode == 4 and expected in outcome.stderr, (arguments, outcome.stderr)
    assert bench.made() == []


@case("connections that will lack descriptors are found before anything runs")
def too_few_descriptors(bench):
    fixed = {"stack": "epoll@loopback", "connections": 100}
    folder = bench.experiment(fixed=fixed, factors={"depth": [1]})
    for arguments in (("--dry-run",), ()):
        outcome = bench.run(folder, *arguments, preexec_fn=lambda: limit_files(80))
        assert outcome.returncode == 4, outcome.stdout + outcome.stderr
        assert "100 connections need 106 descriptors, and the limit is 80" in outcome.stderr, outcome.stderr
    assert bench.made() == []


@case("a dry run prints the plan and leaves nothing")
def dry_run(bench):
    outcome = bench.run(bench.experiment(), "--dry-run", "--set", "depth=7", "--set", "duration=2s")
    assert outcome.returncode == 0, outcome.stderr
    assert re.findall(r"^s0.*", outcome.stdout, re.M) == ["s0001 run 1 immediate.d7", "s0002 run 1 coalesce.d7"], outcome.stdout
    assert "and a window of 2s each\n" in outcome.stdout, outcome.stdout
    assert bench.made() == [] and not os.path.exists(bench.lock)


def forbid_io_uring():
    """In a child: from here on io_uring_setup fails with EPERM, as under a container's filter."""
    rules = [(0x20, 0, 0, 0), (0x15, 0, 1, SYS_IO_URING_SETUP),
             (0x06, 0, 0, 0x50000 | errno.EPERM), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules),
                                                      ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program):
        os._exit(77)


@case("a stack that the host forbids is named before anything is run")
def forbidden_stack(bench):
    """A host that forbids a stack is said before a sample is run, not by each sample."""
    filtered = {"preexec_fn": forbid_io_uring}
    probe = subprocess.run([WEIR, "stacks", "--json"], capture_output=True, check=False,
                           **filtered)
    if probe.returncode == 77:
        raise Skip("this host has no filters of system calls")
    uring = next(one for one in json.loads(probe.stdout)["stacks"] if one["name"] == "uring")
    if not uring["built"]:
        raise Skip("this build has no uring")
    assert "forbids io_uring" in uring["unusable"], uring
    for changes in ({"stack": "uring@loopback"},
                    {"stack": "epoll@loopback", "client_stack": "uring@loopback"}):
        folder = bench.experiment(fixed={**EXPERIMENT["fixed"], **changes})
        outcome = bench.run(folder, **filtered)
        assert outcome.returncode == 4, outcome.stderr
        assert "nothing was run: 1 problem\n" in outcome.stderr, outcome.stderr
        assert "the host forbids io_uring" in outcome.stderr, outcome.stderr
    assert bench.run(bench.experiment(), "--dry-run", **filtered).returncode == 0
    doctor = subprocess.run([WEIR, "doctor", "--json"], capture_output=True, check=False,
                            **filtered)
    found = [check for check in json.loads(doctor.stdout)["checks"]
             if check["name"] == "stack" and check["found"].startswith("uring: ")]
    assert len(found) == 1 and found[0]["state"] == "note", found
    assert "forbids io_uring" in found[0]["found"], found


@case("a list on the command line makes a factor, and a size may have its unit")
def listed_levels(bench):
    """A list on the command line makes a factor; a size may have its unit."""
    outcome = bench.run(bench.experiment(), "--dry-run", "--set", "delivery=coalesce",
                        "--set", 'request_bytes=["1KiB", 16]',
                        "--set", 'stack=["epoll@loopback","epoll@unix"]')
    assert outcome.returncode == 0, outcome.stderr
    assert " coalesce.d4.q1024.epoll@unix\n" in outcome.stdout, outcome.stdout


@case("server and client meet on a Unix socket that is gone afterwards")
def unix_socket(bench):
    """Server and client meet on a socket file of the sample's own, which is gone afterwards."""
    fixed = {"stack": "epoll@unix", "connections": 2, "client_wait": "adaptive:50us"}
    with bench.start(bench.experiment(fixed=fixed, factors={"wait": ["block"]})) as runner:
        bench.await_measuring("s0001")
        ground = ground_of(runner.pid)
        assert set(os.listdir(ground)) - {"autogroup"} == {"run", "s0001.sock"}, os.listdir(ground)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 0, stdout + stderr
    assert not os.path.exists(ground)
    result = read_results(path_in(stdout))[0]
    assert result["valid"] and result["completed"] > 0, result
    assert result["cell"]["wait"] == "block" and result["cell"]["client_wait"] == "adaptive:50us", result["cell"]
    assert ready_of(bench.sample_file("s0001", "server.log"))["held_cpus"] == result["pins"]["server_cpus"]


def usable_stacks():
    """(usable, sleeping): the names of the stacks that can be had here, and of those that can sleep."""
    usable = {name: stack for name, stack in stacks().items() if stack["built"] and not stack["unusable"]}
    return list(usable), [name for name, stack in usable.items() if "can_block" in stack["capabilities"]]


@case("every experiment of the repository is planned whole")
def known_experiments(bench):
    """Each is planned whole, but for stacks that cannot be had here or that never sleep."""
    built, sleeping = usable_stacks()
    folders = os.path.join(ROOT, "experiments")
    names = [name for name in sorted(os.listdir(folders)) if os.path.isdir(os.path.join(folders, name))]
    assert "first-look" in names
    for name in names:
        experiment = read_json(folders, name, "experiment.json")
        assert experiment["name"] == name
        assert os.path.exists(os.path.join(folders, name, "README.md"))
        factors = experiment.get("factors", {})
        named = factors.get("stack", [experiment["fixed"].get("stack")])
        usable = sleeping if {"block", "adaptive:50us"} & set(factors.get("wait", [])) else built
        stacks = [one for one in named if one.split("@")[0] in usable]
        lacking = len(stacks) < len(named)
        chosen = ["--set", f"stack={json.dumps(stacks)}"] if lacking else []
        outcome = bench.run(os.path.join(folders, name), "--dry-run", *chosen)
        assert outcome.returncode == 0, (name, outcome.stderr)
        cells = 1
        for factor, levels in factors.items():
            cells *= len(stacks if factor == "stack" else levels)
        cells *= len(experiment.get("scenarios", "1")) * len(experiment.get("variants", "1"))
        said = f"{cells * experiment.get('runs', 1)} samples, about "
        known = not {"excludes", "profiles"} & set(experiment)
        assert not known or said in outcome.stdout, (name, outcome.stdout[-200:])


@case("an output that is no folder is refused")
def unwritable_output(bench):
    write(bench.output, "a file, not a folder")
    outcome = bench.run(bench.experiment())
    assert outcome.returncode == 4, outcome.stderr
    assert "cannot make a result directory" in outcome.stderr, outcome.stderr
    assert "--output" in outcome.stderr


@case("a lock that is another file is refused and stays as it is")
def lock_elsewhere(bench):
    lock = bench.lock
    write(lock, "a year of measurements")
    outcome = bench.run(bench.experiment())
    assert outcome.returncode == 4 and f"{lock} is no lock" in outcome.stderr, outcome.stderr
    assert read(lock) == "a year of measurements"


class Reporting:
    """A run into a result, of which a report is being made: python3 is stopped as it begins."""

    def __init__(self, bench):
        arguments = bench.arguments(bench.experiment(factors=ONE_CELL))[:-1]
        self.runner = subprocess.Popen([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, "WEIR_ROOT": ROOT})
        wait_for(lambda: self.analysis() or self.runner.poll() is not None)
        if self.runner.poll() is not None:
            raise Skip("no report can be made here")
        self.pid = self.analysis()
        os.kill(self.pid, signal.SIGSTOP)

    def analysis(self):
        """The process id of the analysis, or None."""
        for pid in children_of(self.runner.pid) if is_alive(self.runner.pid) else []:
            with contextlib.suppress(OSError):
                if b"analysis.report" in read_bytes(f"/proc/{pid}/cmdline"):
                    return pid
        return None


@case("Ctrl-C while the report is made ends with 130, and says that the result is whole")
def interrupted_report(bench):
    reporting = Reporting(bench)
    reporting.runner.send_signal(signal.SIGINT)
    stdout, stderr = reporting.runner.communicate(timeout=DEADLINE_S)
    assert reporting.runner.returncode == 130, (reporting.runner.returncode, stderr)
    assert "interrupted by SIGINT; the result is whole all the same" in stderr, stderr
    assert not is_alive(reporting.pid)
    assert bench.weir("verify", path_in(stdout)).returncode == 0


@case("a runner killed with -9 while the report is made takes the analysis along")
def killed_report(bench):
    reporting = Reporting(bench)
    reporting.runner.kill()
    reporting.runner.communicate(timeout=DEADLINE_S)
    wait_for(lambda: not is_alive(reporting.pid))
    made, = bench.made()
    assert bench.weir("verify", os.path.join(bench.output, made)).returncode == 0


@case("a report follows if it can, and its lack is said loudly")
def report_follows(bench):
    """With a report if there can be one; without, the samples count all the same."""
    arguments = bench.arguments(bench.experiment(factors={"depth": [1, 2]}))[:-1]
    lost = bench.weir(*arguments, env={**os.environ, "WEIR_ROOT": "/nonexistent"})
    assert lost.returncode == 4 and "NO REPORT" in lost.stderr, lost.stderr
    assert all(result["valid"] for result in read_results(results_path(lost)))
    check_hashes(results_path(lost))
    if not os.path.exists(os.path.join(ROOT, "analysis", "report.py")):
        raise Skip("this tree has no analysis/")
    made = bench.weir(*arguments, env={**os.environ, "WEIR_ROOT": ROOT})
    assert made.returncode == 0, made.stderr
    if "packages are missing" in made.stderr:
        raise Skip(made.stderr.strip())
    assert os.path.exists(os.path.join(results_path(made), "report.html")), made.stderr
    assert "\nWhether depth 2 serves more than depth 1 cannot be said: no interval" in made.stdout, made.stdout
    assert "\nIt rests on 2 valid samples of 2" in made.stdout, made.stdout
    check_hashes(results_path(made))


@case("a run whose variants fail the gate that it states ends with 1, and has its report")
def gate_fails(bench):
    """A megabyte in place of 64 bytes is served less often, on every host."""
    folder = bench.experiment(factors=ONE_CELL, runs=2, gate={"kind": "point", "rps": 0.98},
                              variants={"base": {}, "big": {"set": {"response_bytes": "1MiB"}}})
    outcome = bench.weir(*bench.arguments(folder)[:-1], env={**os.environ, "WEIR_ROOT": ROOT})
    if "packages are missing" in outcome.stderr:
        raise Skip(outcome.stderr.strip())
    assert outcome.returncode == 1 and "NO REPORT" not in outcome.stderr, (outcome.returncode, outcome.stderr)
    assert os.path.exists(os.path.join(results_path(outcome), "report.html"))
    check_hashes(results_path(outcome))


@case("without --output results go to the repository")
def default_output(bench):
    """Without --output, results go to results/ in the repository that WEIR_ROOT names."""
    arguments = bench.arguments(bench.experiment(factors=ONE_CELL))
    at = arguments.index("--output")
    del arguments[at:at + 2]
    root = os.path.join(bench.folder, "root")
    os.mkdir(root)
    made = bench.weir(*arguments, cwd=bench.folder, env={**os.environ, "WEIR_ROOT": root})
    assert made.returncode == 0, made.stderr
    assert os.path.dirname(results_path(made)) == os.path.join(root, "results"), made.stdout


@case("doctor finds out whether first-look can run, and how to mend what is missing")
def doctor_knows(bench):
    outcome = bench.weir("doctor", "--json")
    found = json.loads(outcome.stdout)
    missing = [check for check in found["checks"] if check["state"] == "missing"]
    assert found["can_run_first_look"] == (not missing)
    assert outcome.returncode == (4 if missing else 0)
    assert {"cores", "numa", "hugepages", "stack"} <= {check["name"] for check in found["checks"]}
    for check in found["checks"]:
        assert check["state"] in ("ok", "note", "missing") and check["found"], check
        assert check["state"] == "ok" or check["mend"], check


if __name__ == "__main__":
    sys.exit(run_tests())
