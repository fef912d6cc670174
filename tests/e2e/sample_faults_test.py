#!/usr/bin/python3
"""What can go wrong within one sample, and what its result then says. Speaks TAP.

usage: sample_faults_test.py WEIR [SUBSTRING...]; WEIR_WALL_CLOCK: the built tests/support/wall_clock.c
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from bench import ONE_CELL, DEADLINE_S, children_of, case, path_in, read, read_results, wait_for, write
from processes import Server, Skip, run, run_tests, test

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from tests.support import thread  # noqa: E402: the repository must be on the path first

LONG = {"factors": ONE_CELL, "duration": "1500ms"}


def strict(text):
    """JSON, and none of the words that are no numbers."""
    def refuse(word):
        raise AssertionError(f"{word} is no number of JSON")
    return json.loads(text, parse_constant=refuse)


def finish(runner, expect):
    """The result of a run's one sample, once the run is over."""
    stdout, stderr = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == expect, (runner.returncode, stdout, stderr)
    return read_results(path_in(stdout))[0]


@contextlib.contextmanager
def measured(bench, **changes):
    """(runner, server, client): a run whose sample is being measured, the only one in its folder."""
    shutil.rmtree(bench.output, ignore_errors=True)
    with bench.start(bench.experiment(**{**LONG, **changes})) as runner:
        server = bench.await_measuring("s0001")
        wait_for(lambda: len(children_of(runner.pid)) == 2)
        client = next(pid for pid in children_of(runner.pid) if pid != server)
        try:
            yield runner, server, client
        finally:
            runner.kill()


def cpu_of(tid, pid):
    """Where a thread ran last (proc(5): field 39)."""
    return int(read(f"/proc/{pid}/task/{tid}/stat").rsplit(")", 1)[1].split()[36])


def another_cpu(cpu):
    others = os.sched_getaffinity(0) - {cpu}
    if not others:
        raise Skip("one CPU is all that there is")
    return min(others)


def worker_of(pid):
    """A process's one worker: the thread that holds a CPU alone and is not the first."""
    return thread.workers_of(pid)[0]


@case("a worker that is put elsewhere from outside makes its sample invalid, with its CPU named")
def moved_worker(bench):
    for side in ("server", "client"):
        with measured(bench) as (runner, *pids):
            pid = pids[0] if side == "server" else pids[1]
            worker = worker_of(pid)
            put = cpu_of(worker, pid)
            other = another_cpu(put)
            os.sched_setaffinity(worker, {other})
            result = finish(runner, 3)
        assert result["binding"]["kept"] is False, result["binding"]
        wanted = f"the {side}'s worker 0 may run on CPU {other}, but was put on CPU {put}"
        assert wanted in result["invalid_reasons"], result["invalid_reasons"]
        assert result["binding"][side]["workers"][0]["affinity"] == [other]
        assert other in result["binding"][side]["workers"][0]["seen_on"]


@case("a worker that was elsewhere for a moment is known by its moves")
def moved_and_back(bench):
    with measured(bench) as (runner, server, _):
        worker = worker_of(server)
        put = cpu_of(worker, server)
        other = another_cpu(put)
        for cpu in (other, put):
            os.sched_setaffinity(worker, {cpu})
            wait_for(lambda: cpu_of(worker, server) == cpu)  # pylint: disable=cell-var-from-loop
        result = finish(runner, 3)
    if result["binding"]["server"]["workers"][0]["migrations"] is None:
        raise Skip("this kernel does not count moves")
    assert result["binding"]["server"]["workers"][0]["affinity"] == [put], result["binding"]
    moves = [reason for reason in result["invalid_reasons"] if "went from one CPU to another" in reason]
    assert len(moves) == 1 and f"worker 0, put on CPU {put}" in moves[0], result["invalid_reasons"]


@case("workers that stay where they were put are kept, with their memory")
def kept_workers(bench):
    result = read_results(bench.result(bench.experiment(factors=ONE_CELL)))[0]
    assert result["binding"]["kept"] is True, result["binding"]
    for side in ("server", "client"):
        said, pins = result["binding"][side], result["pins"][f"{side}_cpus"]
        assert [worker["affinity"] for worker in said["workers"]] == [[cpu] for cpu in pins], said
        assert said["memory"]["asked"] == "bind" and isinstance(said["memory"]["bound"], bool), said
        if said["memory"]["bound"]:
            assert said["workers"][0]["memory_policy"] == "bind", said
            assert said["workers"][0]["memory_nodes"] == said["memory"]["nodes"], said


@test("memory is left alone if that is asked for, and a server says so")
def unbound_memory():
    with Server("--membind", "none") as server:
        binding = server.ready["binding"]
        assert binding["memory"] == {"asked": "none", "bound": False, "bound_reason": "it was not asked for"}, binding
        assert binding["workers"][0]["memory_policy"] != "bind", binding
        assert server.ready["clock"]["reads"] in ("tsc", "CLOCK_MONOTONIC"), server.ready["clock"]
        assert {"constant_tsc", "nonstop_tsc"} <= set(server.ready["clock"])
        assert server.ready["nonce"] is None


@case("a server or client that was stopped for a moment makes its sample invalid")
def stopped_for_a_moment(bench):
    for side in ("server", "client"):
        with measured(bench) as (runner, *pids):
            pid = pids[0] if side == "server" else pids[1]
            os.kill(pid, signal.SIGSTOP)
            wait_for(lambda: read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0] == "T")  # pylint: disable=W0640
            os.kill(pid, signal.SIGCONT)
            result = finish(runner, 3)
        assert f"the {side} was stopped by a signal while the sample ran" in result["invalid_reasons"], result


@case("a client that is killed makes its sample invalid with the signal and the phase")
def killed_client(bench):
    with measured(bench) as (runner, _, client):
        os.kill(client, signal.SIGKILL)
        result = finish(runner, 3)
    assert "the client was killed by signal 9 (Killed) in its phase `measure`" in result["invalid_reasons"][0], result
    assert result["completed"] is None and result["completed_reason"] == "the client left no result", result
    assert result["binding"]["kept"] is None and result["binding"]["kept_reason"], result["binding"]


@contextlib.contextmanager
def busy_loop(cpu):
    """A process that does nothing but keep a CPU busy."""
    with subprocess.Popen([sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"]) as loop:
        try:
            yield
        finally:
            loop.kill()


@case("what others do on a measured CPU is told for that CPU, and noted")
def other_load(bench):
    with measured(bench) as (runner, server, _):
        with busy_loop(cpu_of(worker_of(server), server)):
            result = finish(runner, 0)
    assert result["server"]["other_busy_cpus"] > 0.1, result["server"]
    assert result["other_busy_cpus"] > 0.1
    assert result["server"]["runqueue_wait_us"] > 0, result["server"]
    assert any(note.startswith("other processes took ") and note.endswith(" of a CPU on the server's CPUs")
               for note in result["notes"]), result["notes"]


@case("the runner costs less than a hundredth of a core while it measures")
def cheap_runner(bench):
    result = read_results(bench.result(bench.experiment(factors=ONE_CELL, duration="2s")))[0]
    assert 0 < result["runner_cpu_share"] < 0.01, result["runner_cpu_share"]
    measured_cpus = set(result["pins"]["server_cpus"] + result["pins"]["client_cpus"])
    assert result["runner_apart"] == (not measured_cpus & set(result["runner_cpus"])), result
    assert result["runner_apart"] == bool(os.sched_getaffinity(0) - measured_cpus), result


@contextlib.contextmanager
def two_cpus():
    """What is started meanwhile has two CPUs, which a server and a client hold: a runner has nowhere else to be."""
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        raise Skip("one CPU is all that there is")
    os.sched_setaffinity(0, sorted(before)[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_seconds(pid):
    """CPU time of all threads of a process so far, to the nanosecond."""
    return sum(int(read(f"/proc/{pid}/task/{tid}/schedstat").split()[0]) for tid in os.listdir(f"/proc/{pid}/task")) / 1e9


def await_drain(bench):
    wait_for(lambda: "phase drain\n" in bench.sample_file("s0001", "client.log"))


@case("a runner that has to share the measured cores takes less than a hundredth of either, seen from outside as well")
def cheap_beside(bench):
    with two_cpus(), measured(bench, duration="2s") as (runner, _, _):
        began, used = time.monotonic(), cpu_seconds(runner.pid)
        await_drain(bench)
        used, elapsed = cpu_seconds(runner.pid) - used, time.monotonic() - began
        result = finish(runner, 0)
    measured_cpus = set(result["pins"]["server_cpus"] + result["pins"]["client_cpus"])
    assert len(measured_cpus) == 2 and set(result["runner_cpus"]) == measured_cpus, result
    assert result["runner_apart"] is False
    # All of its time, on whichever core: so no core had more of it.
    assert 0 < result["runner_cpu_share"] < 0.01, result["runner_cpu_share"]
    assert elapsed > 1 and 0 < used / elapsed < 0.01, (used, elapsed)


@case("a runner that is given work while it measures is found to take more than a hundredth of a core, and that is noted")
def dear_runner(bench):
    with measured(bench) as (runner, server, _):
        with open(f"/proc/{server}/fd/2", "wb", buffering=0) as said, contextlib.suppress(BrokenPipeError):
            while "phase drain\n" not in bench.sample_file("s0001", "client.log"):
                said.write(b"a line for the log that is too much\n" * 1000)
        result = finish(runner, 0)
    assert result["runner_cpu_share"] > 0.01, result["runner_cpu_share"]
    assert any(note.startswith("the runner itself used ") for note in result["notes"]), result["notes"]


@case("a wall clock that is set is noted, and no duration follows it")
def wall_clock_set(bench):
    shim = os.environ.get("WEIR_WALL_CLOCK")
    if not shim:
        raise Skip("no clock to preload was built")
    step = os.path.join(bench.folder, "step")
    environment = {**os.environ, "LD_PRELOAD": shim, "WEIR_TEST_WALL_CLOCK": step}
    arguments = bench.arguments(bench.experiment(**LONG))
    with subprocess.Popen([os.path.abspath(sys.argv[1]), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=environment) as runner:
        bench.await_measuring("s0001")
        write(step, "")
        result = finish(runner, 0)
    assert abs(result["wall_clock_step_s"] - 3600) < 1, result["wall_clock_step_s"]
    assert any(note.startswith("the wall clock was set by +3600.") for note in result["notes"]), result["notes"]
    assert result["elapsed_s"] < 100 and result["server"]["window_s"] < 100, result


@case("an undisturbed wall clock is within a second of the monotonic one")
def wall_clock_left(bench):
    result = read_results(bench.result(bench.experiment(factors=ONE_CELL)))[0]
    assert abs(result["wall_clock_step_s"]) < 1, result["wall_clock_step_s"]


def silent_server():
    """A listener on the loopback that accepts and takes, and answers nothing; its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def take(peer):
        with peer, contextlib.suppress(ConnectionError):
            while peer.recv(65536):
                pass

    def accept():
        with listener:
            while True:
                threading.Thread(target=take, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"


def failed_load(address, *args):
    """The result of a load that must fail, and its stdout."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "client.json")
        status, out, _ = run("load", "--connect", address, "--connections", 4, "--json", path, *args)
        assert status == 3, out
        return strict(read(path)), out


@test("a load without a single answer leaves no number that is none")
def nothing_answered():
    result, out = failed_load(silent_server(), "--warmup", "10ms", "--duration", "300ms", "--stall-timeout", "100ms")
    assert result["completed"] == 0 and result["failed"] == 4, result
    assert result["latency_us"]["service"]["p50"] is None and result["latency_us"]["service"]["p50_reason"], result
    assert "nan" not in out and "inf " not in out, out
    assert result["failures"][0]["kind"] == "stalled", result["failures"]


@test("a load of nothing but errors counts none of them as a success")
def nothing_but_errors():
    with Server("--response-bytes", 1) as server:
        result, out = failed_load(server.address, "--warmup", "10ms", "--duration", "300ms")
    assert result["completed"] == 0 and result["failed"] >= 1, result
    assert result["failures"][0]["kind"] == "wrong_length", result["failures"]
    assert "n/a" in out, out


@case("a sample of nothing but errors has no number that is none, and the run says it failed")
def failed_sample(bench):
    with measured(bench) as (runner, server, _):
        os.kill(server, signal.SIGKILL)
        stdout, _ = runner.communicate(timeout=DEADLINE_S)
    assert runner.returncode == 3, stdout
    path = path_in(stdout)
    for line in read(os.path.join(path, "results.jsonl")).splitlines():
        result = strict(line)
        for part in (result, result["server"], result["client"], result["binding"]):
            for name, value in part.items():
                assert value is not None or part[name + "_reason"], name
    strict(read(os.path.join(path, "summary.json")))


@case("connections that will lack local ports are found before anything runs")
def too_few_ports(bench):
    low, high = map(int, read("/proc/sys/net/ipv4/ip_local_port_range").split())
    wanted = high - low + 2
    fixed = {"stack": "epoll@loopback", "connections": wanted}
    outcome = bench.run(bench.experiment(fixed=fixed, factors={"depth": [1]}), "--dry-run")
    if "descriptors" in outcome.stderr or "accepted:" in outcome.stderr:
        raise Skip("something else does not allow so many connections")
    assert outcome.returncode == 4, outcome.stdout
    assert f"{wanted} connections need {wanted} local ports" in outcome.stderr, outcome.stderr
    assert "sysctl -w net.ipv4.ip_local_port_range" in outcome.stderr, outcome.stderr


@case("the kernel's segments are counted on TCP, and said not to be on a Unix socket")
def segments(bench):
    fixed = {"connections": 4, "request_bytes": 32}
    folder = bench.experiment(fixed=fixed, factors={"stack": ["epoll@loopback", "epoll@unix"]})
    tcp, unix = (one["server"] for one in read_results(bench.result(folder)))
    assert 0 < tcp["segments_out"] <= 2 * tcp["writes"] + 1000, tcp
    assert tcp["segments_in"] > 0 and tcp["segments_resent"] is not None, tcp
    assert unix["segments_out"] is None and unix["segments_out_reason"] == "a Unix socket has no segments", unix
    for server in (tcp, unix):
        assert server["rss_peak_kib"] is not None and server["rss_peak_since_start_kib"] >= server["rss_end_kib"]
        assert server["host"]["cpus"] >= 1 and server["host"]["busy_us"] >= 0, server["host"]


@case("a client is marked as saturated exactly where it was busy nearly always")
def saturated(bench):
    fixed = {"stack": "epoll@loopback", "connections": 64, "response_bytes": 64, "delivery": "coalesce",
             "client_wait": "spin"}
    folder = bench.experiment(fixed=fixed, factors={"depth": [1, 64]}, duration="1s")
    for result in read_results(bench.result(folder)):
        share = result["client"]["busy_share"]
        assert result["client"]["saturated"] == (share > 0.95), result["client"]


if __name__ == "__main__":
    sys.exit(run_tests())
