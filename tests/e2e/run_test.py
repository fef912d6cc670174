#!/usr/bin/python3
"""`weir run` from the outside: whole results, named faults, nothing left behind. Speaks TAP.

usage: run_test.py WEIR [SUBSTRING...]
"""

import ctypes
import errno
import hashlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

DEADLINE_S = 60
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)
from tests.support import thread  # noqa: E402: the repository must be on the path first
SYS_IO_URING_SETUP = 425
EXPERIMENT = {
    "schema": "weir.experiment/1",
    "name": "tiny",
    "fixed": {"stack": "epoll@loopback", "connections": 4, "request_bytes": 32},
    "factors": {"delivery": ["immediate", "coalesce"], "depth": [4]},
    "runs": 1,
    "warmup": "100ms",
    "duration": "300ms",
}


class Skip(Exception):
    """The host cannot show this; the text says why."""


class Bench:
    """A folder for one test, and `weir run` in it."""

    def __init__(self, weir, folder):
        self.weir = weir
        self.folder = folder
        self.output = os.path.join(folder, "out")

    def experiment(self, **changes):
        folder = os.path.join(self.folder, "experiment")
        os.makedirs(folder, exist_ok=True)
        text = json.dumps({**EXPERIMENT, **changes}, indent=1)
        self.write(os.path.join(folder, "experiment.json"), text)
        return folder

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def command(self, *arguments):
        lock = os.path.join(self.folder, "lock")
        flags = ["--output", self.output, "--lock", lock, "--no-report"]
        return [self.weir, "run", *arguments, *flags]

    def run(self, *arguments, **options):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True,
                              errors="replace", timeout=DEADLINE_S, check=False, **options)

    def start(self, *arguments):
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def made(self):
        return sorted(os.listdir(self.output)) if os.path.isdir(self.output) else []

    def sample_file(self, sample_id, name):
        """The text of a file of a sample in the directory being made; "" if it is not there yet."""
        for result in self.made():
            samples = os.path.join(self.output, result, "samples")
            for sample in os.listdir(samples) if os.path.isdir(samples) else []:
                path = os.path.join(samples, sample, name)
                if sample.startswith(sample_id) and os.path.exists(path):
                    with open(path, encoding="utf-8") as file:
                        return file.read()
        return ""

    def await_measuring(self, sample_id):
        """Waits until the sample's client measures; the server's process id from its ready line."""
        wait_for(lambda: "phase measure\n" in self.sample_file(sample_id, "client.log"))
        return ready_of(self.sample_file(sample_id, "server.log"))["pid"]


def wait_for(condition, deadline_s=DEADLINE_S):
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.01)


def ready_of(log):
    return json.loads(re.search(r"^ready (\{.*\})$", log, re.M).group(1))


def read_json(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def results_path(outcome):
    """The path in the last line of a run's output."""
    last = outcome.stdout.splitlines()[-1]
    assert last.startswith("results: "), (last, outcome.stderr)
    return last[len("results: "):]


def read_results(path):
    with open(os.path.join(path, "results.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def is_alive(pid):
    """Whether a process runs; a zombie that nobody has waited for yet does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def grounds_of(pid):
    return [name for name in os.listdir("/tmp") if name.startswith(f"weir-run-{pid}-")]


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def check_hashes(path):
    """Every file but the manifest is in it with its size and digest, and nothing else is."""
    listed = {}
    for entry in read_json(path, "manifest.json")["files"]:
        with open(os.path.join(path, entry["path"]), "rb") as file:
            content = file.read()
        assert len(content) == entry["bytes"], entry
        assert hashlib.sha256(content).hexdigest() == entry["sha256"], entry
        listed[entry["path"]] = True
    there = {os.path.relpath(os.path.join(folder, name), path)
             for folder, _, names in os.walk(path) for name in names}
    assert there - {"manifest.json"} == set(listed), there ^ set(listed)


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


def whole_result(bench):
    folder = bench.experiment(runs=2)
    outcome = bench.run(folder)
    assert outcome.returncode == 0, outcome.stderr
    path = results_path(outcome)
    assert bench.made() == [os.path.basename(path)]
    assert re.fullmatch(r"\d{8}T\d{6}Z-tiny-[A-Za-z0-9-]+", os.path.basename(path)), path
    with open(os.path.join(folder, "experiment.json"), "rb") as ours, \
            open(os.path.join(path, "experiment.json"), "rb") as copy:
        assert ours.read() == copy.read()
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


def dpdk_result(bench):
    listed = subprocess.run([bench.weir, "stacks", "--json"], capture_output=True, check=True)
    stacks = json.loads(listed.stdout)["stacks"]
    absent = next(stack["absent"] for stack in stacks if stack["name"] == "dpdk")
    if absent:
        raise Skip(absent)
    folder = bench.experiment(fixed={"stack": "dpdk@memif", "connections": 4})
    outcome = bench.run(folder)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    results = read_results(results_path(outcome))
    assert [r["valid"] for r in results] == [True, True]
    assert results[0]["cell"]["wait"] == "spin" and results[0]["cell"]["hugepages"] in (True, False)
    server = results[0]["server"]
    assert server["segments_out"] > 0 and server["bursts_out"] > 0
    assert server["segments_per_burst_in"] > 0 and server["segments_per_burst_out"] > 0
    assert "needs_hugepages" in results[0]["capabilities"]


def killed_server(bench):
    folder = bench.experiment(runs=2, duration="1s")
    with bench.start(folder) as runner:
        os.kill(bench.await_measuring("s0002"), signal.SIGKILL)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stderr
    path = stdout.splitlines()[-1][len("results: "):]
    results = read_results(path)
    assert [r["valid"] for r in results] == [True, False, True, True]
    reasons = results[1]["invalid_reasons"]
    assert "killed by signal 9 (Killed) in the client's phase `measure`" in reasons[0], reasons
    assert "the client ended with status 3 in its phase `" in reasons[1], reasons
    assert results[1]["server"]["writes"] is None and results[1]["server"]["writes_reason"]
    check_hashes(path)


def stopped_server(bench):
    folder = bench.experiment(factors={"depth": [4]}, duration="1s")
    with bench.start(folder) as runner:
        server = bench.await_measuring("s0001")
        os.kill(server, signal.SIGSTOP)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stderr
    assert not is_alive(server)
    reasons = read_results(stdout.splitlines()[-1][len("results: "):])[0]["invalid_reasons"]
    assert any("did not stop within 8 s of SIGTERM" in reason for reason in reasons), reasons


def silent_worker(bench):
    """The second snapshot lacks the server's one worker, which is stopped meanwhile."""
    with bench.start(bench.experiment(factors={"depth": [4]}, duration="1s")) as runner:
        server = bench.await_measuring("s0001")
        wait_for(lambda: "snapshot {" in bench.sample_file("s0001", "server.log"))
        try:
            with thread.Stopped(*thread.workers_of(server)):
                wait_for(lambda: "did not answer" in bench.sample_file("s0001", "server.log"))
        except thread.Refused as reason:
            runner.kill()
            raise Skip(reason) from reason
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stderr
    result = read_results(stdout.splitlines()[-1][len("results: "):])[0]
    said = "the server gave 1 of 2 snapshots: weir serve: worker 0 did not answer within 2 s: no snapshot"
    assert result["invalid_reasons"] == [said], result["invalid_reasons"]
    assert result["server"]["rss_start_kib"] is None and result["server"]["writes"] is None


def paused_client(bench):
    folder = bench.experiment(factors={"depth": [4]}, duration="1s")
    with bench.start(folder) as runner:
        bench.await_measuring("s0001")
        client = children_of(runner.pid)[1]
        os.kill(client, signal.SIGSTOP)
        time.sleep(2)
        os.kill(client, signal.SIGCONT)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stdout + stderr
    reasons = read_results(stdout.splitlines()[-1][len("results: "):])[0]["invalid_reasons"]
    assert any("stood still" in reason for reason in reasons), reasons


def failing_client(bench):
    """The client is given an option that only opening finds fault with."""
    listed = subprocess.run([bench.weir, "stacks", "--json"], capture_output=True, check=True)
    if not any(stack["name"] == "uring" and stack["built"] for stack in json.loads(listed.stdout)["stacks"]):
        raise Skip("built without liburing")
    fixed = {"stack": "epoll@loopback", "client_stack": "uring@loopback,buffers=3", "connections": 4}
    folder = bench.experiment(fixed=fixed, factors={"depth": [1]})
    outcome = bench.run(folder)
    assert outcome.returncode == 3, outcome.stdout + outcome.stderr
    result = read_results(results_path(outcome))[0]
    assert result["valid"] is False
    assert "the client ended with status 4" in result["invalid_reasons"][0], result
    assert "must be a power of two" in result["invalid_reasons"][0], result
    assert not any("snapshots" in reason for reason in result["invalid_reasons"]), result


def too_few_descriptors(bench):
    fixed = {"stack": "epoll@loopback", "connections": 100}
    folder = bench.experiment(fixed=fixed, factors={"depth": [1]})
    for arguments in (("--dry-run",), ()):
        outcome = bench.run(folder, *arguments, preexec_fn=lambda: limit_files(60))
        assert outcome.returncode == 4, outcome.stdout + outcome.stderr
        assert "100 connections need 106 descriptors, and the limit is 60" in outcome.stderr, outcome.stderr
    assert bench.made() == []


def limit_files(count):
    import ctypes
    import resource
    drop_from_bounding_set, may_raise_limits = 24, 24
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
    ctypes.CDLL(None).prctl(drop_from_bounding_set, may_raise_limits, 0, 0, 0)


def malformed(bench):
    folder = bench.experiment()
    file = os.path.join(folder, "experiment.json")
    for text, expected in (
            ('{\n "name": "x",\n}', f"{file}:3:1: "),
            (json.dumps({**EXPERIMENT, "durration": "1s"}),
             "unknown key 'durration'; did you mean 'duration'?"),
            (json.dumps({**EXPERIMENT, "runs": -1}),
             "'runs' is -1; accepted: a whole number from 1 to 1000")):
        bench.write(file, text)
        outcome = bench.run(folder)
        assert outcome.returncode == 4, outcome.stdout
        assert expected in outcome.stderr, outcome.stderr
        assert "nothing was run: 1 problem\n" in outcome.stderr, outcome.stderr
    os.unlink(file)
    outcome = bench.run(folder)
    assert outcome.returncode == 4 and "No such file or directory" in outcome.stderr, outcome.stderr
    assert bench.made() == []


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


def dry_run(bench):
    outcome = bench.run(bench.experiment(), "--dry-run", "--set", "depth=7", "--set", "duration=2s")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.count("--depth 7 ") == 2, outcome.stdout
    assert outcome.stdout.count("--duration 2s ") == 2, outcome.stdout
    assert bench.made() == [] and not os.path.exists(os.path.join(bench.folder, "lock"))


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


def forbidden_stack(bench):
    """A host that forbids a stack is said before a sample is run, not by each sample."""
    filtered = {"preexec_fn": forbid_io_uring}
    probe = subprocess.run([bench.weir, "stacks", "--json"], capture_output=True, check=False,
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
    doctor = subprocess.run([bench.weir, "doctor", "--json"], capture_output=True, check=False,
                            **filtered)
    found = [check for check in json.loads(doctor.stdout)["checks"]
             if check["name"] == "stack" and check["found"].startswith("uring: ")]
    assert len(found) == 1 and found[0]["state"] == "note", found
    assert "forbids io_uring" in found[0]["found"], found


def listed_levels(bench):
    """A list on the command line makes a factor; a size may have its unit."""
    outcome = bench.run(bench.experiment(), "--dry-run", "--set", "delivery=coalesce",
                        "--set", 'request_bytes=["1KiB", 16]',
                        "--set", 'stack=["epoll@loopback","epoll@unix"]')
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.count("--request-bytes 1024 ") == 2, outcome.stdout
    assert outcome.stdout.count(" --listen unix:/tmp/weir-run-PID-XXXXXX/s0") == 2, outcome.stdout
    assert " coalesce.d4.q1024.epoll@unix\n" in outcome.stdout, outcome.stdout


def unix_socket(bench):
    """Server and client meet on a socket file of the sample's own, which is gone afterwards."""
    fixed = {"stack": "epoll@unix", "connections": 2, "client_wait": "adaptive:50us"}
    with bench.start(bench.experiment(fixed=fixed, factors={"wait": ["block"]})) as runner:
        bench.await_measuring("s0001")
        ground = f"/tmp/{grounds_of(runner.pid)[0]}"
        assert os.listdir(ground) == ["s0001.sock"], os.listdir(ground)
        stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 0, stdout + stderr
    assert not os.path.exists(ground)
    path = stdout.splitlines()[-1][len("results: "):]
    result = read_results(path)[0]
    assert result["valid"] and result["completed"] > 0, result
    assert result["cell"]["wait"] == "block" and result["cell"]["client_wait"] == "adaptive:50us", result["cell"]
    assert ready_of(bench.sample_file("s0001", "server.log"))["held_cpus"] == result["pins"]["server_cpus"]


def stacks_of(bench):
    """(usable, sleeping): the names of the stacks that can be had here, and of those that can sleep."""
    outcome = subprocess.run([bench.weir, "stacks", "--json"], capture_output=True, check=True)
    stacks = [stack for stack in json.loads(outcome.stdout)["stacks"]
              if stack["built"] and not stack["unusable"]]
    sleeping = [stack["name"] for stack in stacks if "can_block" in stack["capabilities"]]
    return [stack["name"] for stack in stacks], sleeping


def known_experiments(bench):
    """Each is planned whole, but for stacks that cannot be had here or that never sleep."""
    built, sleeping = stacks_of(bench)
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


def full_disk(bench):
    if os.geteuid() != 0:
        raise Skip("only root may mount a small file system")
    folder = bench.experiment(runs=20)
    os.mkdir(bench.output)
    mount = ["mount", "-t", "tmpfs", "-o", "size=160k", "weir-test", bench.output]
    subprocess.run(mount, check=True)
    try:
        outcome = bench.run(folder)
        made = bench.made()
    finally:
        subprocess.run(["umount", bench.output], check=True)
    assert outcome.returncode == 4, outcome.stdout + outcome.stderr
    assert "No space left on device" in outcome.stderr, outcome.stderr
    assert len(made) == 1 and made[0].endswith(".partial"), made
    assert "results: " not in outcome.stdout


def unwritable_output(bench):
    bench.write(bench.output, "a file, not a folder")
    outcome = bench.run(bench.experiment())
    assert outcome.returncode == 4, outcome.stderr
    assert "cannot make a result directory" in outcome.stderr, outcome.stderr
    assert "--output" in outcome.stderr


def interrupted(bench):
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with bench.start(bench.experiment(duration="20s")) as runner:
            bench.await_measuring("s0001")
            children = children_of(runner.pid)
            assert len(children) == 2, children
            runner.send_signal(signal_number)
            _, stderr = runner.communicate(timeout=DEADLINE_S)
        assert runner.returncode == 128 + signal_number, (runner.returncode, stderr)
        assert not any(is_alive(pid) for pid in children)
        assert grounds_of(runner.pid) == []
        made = bench.made()
        assert len(made) == 1 and made[0].endswith(".partial") and made[0] in stderr, (made, stderr)
        assert "INCOMPLETE.txt" in os.listdir(os.path.join(bench.output, made[0]))
        shutil.rmtree(bench.output)


def killed_runner(bench):
    folder = bench.experiment(duration="20s")
    with bench.start(folder) as runner:
        bench.await_measuring("s0001")
        children = children_of(runner.pid)
        runner.kill()
    assert len(children) == 2, children
    wait_for(lambda: not any(is_alive(pid) for pid in children))
    assert len(grounds_of(runner.pid)) == 1
    outcome = bench.run(folder, "--set", "duration=100ms")
    assert outcome.returncode == 0, outcome.stderr
    assert grounds_of(runner.pid) == []


def stale_link(bench):
    kept = os.path.join(bench.folder, "kept")
    os.mkdir(kept)
    bench.write(os.path.join(kept, "precious"), "not weir's")
    link = f"/tmp/weir-run-4194305-{os.path.basename(bench.folder)}"  # above any process's number
    os.symlink(kept, link)
    try:
        assert bench.run(bench.experiment(), "--set", "duration=100ms").returncode == 0
    finally:
        os.unlink(link)
    assert os.listdir(kept) == ["precious"]


def lock_elsewhere(bench):
    lock = os.path.join(bench.folder, "lock")
    bench.write(lock, "a year of measurements")
    outcome = bench.run(bench.experiment())
    assert outcome.returncode == 4 and f"{lock} is no lock" in outcome.stderr, outcome.stderr
    with open(lock, encoding="utf-8") as file:
        assert file.read() == "a year of measurements"


def report_follows(bench):
    """With a report if there can be one; without, the samples count all the same."""
    arguments = bench.command(bench.experiment(factors={"depth": [1, 2]}))[:-1]
    lost = subprocess.run(arguments, capture_output=True, text=True, timeout=DEADLINE_S,
                          env={**os.environ, "WEIR_ROOT": "/nonexistent"}, check=False)
    assert lost.returncode == 4 and "NO REPORT" in lost.stderr, lost.stderr
    assert all(result["valid"] for result in read_results(results_path(lost)))
    check_hashes(results_path(lost))
    if not os.path.exists(os.path.join(ROOT, "analysis", "report.py")):
        raise Skip("this tree has no analysis/")
    made = subprocess.run(arguments, capture_output=True, text=True, timeout=DEADLINE_S,
                          env={**os.environ, "WEIR_ROOT": ROOT}, check=False)
    assert made.returncode == 0, made.stderr
    if "packages are missing" in made.stderr:
        raise Skip(made.stderr.strip())
    assert os.path.exists(os.path.join(results_path(made), "report.html")), made.stderr
    assert "\nWhether depth 2 serves more than depth 1 cannot be said: no interval" in made.stdout, made.stdout
    assert "\nIt rests on 2 valid samples of 2" in made.stdout, made.stdout
    check_hashes(results_path(made))


def default_output(bench):
    """Without --output, results go to results/ in the repository that WEIR_ROOT names."""
    command = bench.command(bench.experiment(factors={"depth": [1]}))
    at = command.index("--output")
    del command[at:at + 2]
    root = os.path.join(bench.folder, "root")
    os.mkdir(root)
    made = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, cwd=bench.folder,
                          env={**os.environ, "WEIR_ROOT": root}, check=False)
    assert made.returncode == 0, made.stderr
    assert os.path.dirname(results_path(made)) == os.path.join(root, "results"), made.stdout


def doctor_knows(bench):
    outcome = subprocess.run([bench.weir, "doctor", "--json"], capture_output=True, check=False)
    found = json.loads(outcome.stdout)
    missing = [check for check in found["checks"] if check["state"] == "missing"]
    assert found["can_run_first_look"] == (not missing)
    assert outcome.returncode == (4 if missing else 0)
    assert {"cores", "numa", "hugepages", "stack"} <= {check["name"] for check in found["checks"]}
    for check in found["checks"]:
        assert check["state"] in ("ok", "note", "missing") and check["found"], check
        assert check["state"] == "ok" or check["mend"], check


def two_at_once(bench):
    folder = bench.experiment(duration="20s")
    with bench.start(folder) as runner:
        bench.await_measuring("s0001")
        outcome = bench.run(folder)
        runner.send_signal(signal.SIGINT)
        runner.communicate(timeout=DEADLINE_S)
    assert outcome.returncode == 4, outcome.stdout
    holder = f"another measurement is running on this host: pid {runner.pid}, "
    assert holder in outcome.stderr, outcome.stderr


TESTS = (
    ("an experiment ends in a whole, hashed result directory", whole_result),
    ("dpdk over memif is measured like any other stack", dpdk_result),
    ("a server killed in the measured window invalidates its sample alone", killed_server),
    ("a server that hangs is killed and its sample invalid", stopped_server),
    ("a client that was stopped for a while makes the sample invalid", paused_client),
    ("a snapshot that would lack a worker is not given and its sample invalid", silent_worker),
    ("a client that fails makes the sample invalid with its last words", failing_client),
    ("a malformed experiment is refused by file, line and column", malformed),
    ("a wrong command line is refused with what was meant", wrong_command_line),
    ("connections that will lack descriptors are found before anything runs", too_few_descriptors),
    ("a dry run prints the plan and leaves nothing", dry_run),
    ("a stack that the host forbids is named before anything is run", forbidden_stack),
    ("a list on the command line makes a factor, and a size may have its unit", listed_levels),
    ("server and client meet on a Unix socket that is gone afterwards", unix_socket),
    ("every experiment of the repository is planned whole", known_experiments),
    ("a full disk ends the run and leaves nothing that reads as whole", full_disk),
    ("a report follows if it can, and its lack is said loudly", report_follows),
    ("without --output results go to the repository", default_output),
    ("doctor finds out whether first-look can run, and how to mend what is missing", doctor_knows),
    ("an output that is no folder is refused", unwritable_output),
    ("an interrupt ends both children and keeps what there is as partial", interrupted),
    ("a killed runner takes its children along and the next cleans up", killed_runner),
    ("a link among the stale folders is not followed", stale_link),
    ("a lock that is another file is refused and stays as it is", lock_elsewhere),
    ("a second run at the same time is refused and told who holds the host", two_at_once),
)


def run_one(weir, number, name, test):
    """Runs one test and prints its TAP line; whether it passed."""
    folder = tempfile.mkdtemp(prefix="weir-run-test-")
    try:
        test(Bench(weir, folder))
    except Skip as reason:
        print(f"ok {number} - {name} # SKIP {reason}", flush=True)
    except Exception:  # whatever it is, the other tests are to run
        print(f"not ok {number} - {name}")
        for line in traceback.format_exc().splitlines():
            print(f"# {line}", flush=True)
        return False
    else:
        print(f"ok {number} - {name}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return True


def main():
    weir, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    chosen = [test for test in TESTS if not wanted or any(word in test[0] for word in wanted)]
    passed = [run_one(weir, number, *test) for number, test in enumerate(chosen, 1)]
    print(f"1..{len(chosen)}")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
