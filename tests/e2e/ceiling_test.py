#!/usr/bin/python3
"""`weir ceiling` and the bare echo under `weir serve`, from the outside. Speaks TAP.

usage: ceiling_test.py WEIR [SUBSTRING...]
"""

import json
import os
import re
import socket
import subprocess
import sys

from bench import ROOT, Bench, case, read, read_json, read_results, results_path
from processes import Server, Skip, run_tests, stacks_over_loopback

SHARE = r"\d+\.\d% \(\d+\.\d-\d+\.\d\)"


class CeilingBench(Bench):
    """Runs `weir ceiling`, and loads for bare servers."""

    def ceiling(self, *arguments):
        """A tiny one: one cell of epoll, short windows."""
        if len(os.sched_getaffinity(0)) < 2:
            raise Skip("server and client need a CPU each")
        return self.weir("ceiling", "--stack", "epoll@loopback", "--connections", 4, "--depth", 4,
                         "--warmup", "50ms", "--duration", "150ms", "--output", self.folder,
                         "--lock", self.lock, "--no-report", *arguments)

    def load(self, address, *arguments):
        """A short load; its result."""
        path = os.path.join(self.folder, "client.json")
        outcome = self.weir("load", "--connect", address, "--warmup", "20ms", "--duration", "150ms",
                            "--json", path, *arguments)
        assert outcome.returncode == 0, outcome.stderr
        return read_json(path)


class BareServer(Server):
    """A bare echo that is ready; `final` is its last word once it has ended."""

    def __init__(self, *arguments):
        super().__init__("--bare", *arguments)
        self.final = None

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.final = self.end()
        finally:
            super().__exit__(kind, *_)


def bare_answers_verified(bench):
    """load verifies every byte of every answer, whatever the depth and the sizes."""
    for depth, request, response in ((1, 256, 64), (32, 256, 64), (7, 0, 0), (3, 16360, 16360),
                                     (16, 1, 9000), (64, 5000, 3)):
        with BareServer("--request-bytes", request, "--response-bytes", response) as server:
            load = bench.load(server.address, "--connections", 8, "--depth", depth,
                              "--request-bytes", request, "--response-bytes", response)
        assert load["completed"] > 0 and load["failed"] == 0, (depth, request, response, load)
        counted = server.final["server"]
        assert counted["requests"] == counted["responses"] >= load["completed"], counted
        assert counted["connections"] == 8, counted


def bare_accounts(bench):
    """The same lines with the same keys as of the pipeline; what only that counts is null."""
    with BareServer("--request-bytes", 40, "--response-bytes", 16) as server:
        bench.load(server.address, "--connections", 4, "--depth", 8, "--request-bytes", 40,
                   "--response-bytes", 16)
    assert server.ready["pipeline"] is False and server.ready["delivery"] is None
    assert server.ready["request_bytes"] == 40 and server.ready["response_bytes"] == 16
    known = {name for name, value in server.final["server"].items() if value is not None}
    assert known == {"requests", "responses", "connections"}, known
    assert "connections_closed" in server.final["server"]
    requests, transport = server.final["server"]["requests"], server.final["transport"]
    assert transport["received_bytes"] == requests * (40 + 24), transport
    assert transport["written_bytes"] == requests * (16 + 24), transport
    assert transport["accepted"] == 4 and transport["writes"] * 8 >= requests, transport
    assert transport["syscalls"] > 0 and transport["polls"] > 0 and transport["wakeups"] > 0
    assert transport["segments_out"] is None and transport["copied_bytes"] is None
    busy = server.final["busy"]
    assert busy["busy_turns"] > 0 and busy["busy_ns"] > 0 and busy["waited_ns"] > 0, busy


def bare_http(_bench):
    """Over HTTP the bytes of its answers are the pipeline's, but for the time of day."""
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    http = ("--protocol", "http1", "--response-bytes", 100)
    for stack in stacks_over_loopback():
        answers = []
        with BareServer("--stack", stack, *http, "--request-bytes", len(request)) as server:
            answers.append(ask_twice(server.port, request))
        with Server("--stack", stack, *http) as server:
            answers.append(ask_twice(server.port, request))
        assert answers[0] == answers[1], answers


def ask_twice(port, request):
    """What is answered to two requests, as many bytes as two such answers have, without the dates."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(2 * request)
        answer = b""
        while answer.count(b"Z" * 100) < 2:
            piece = connection.recv(65536)
            assert piece, answer
            answer += piece
    return re.sub(rb"Date: [^\r]*", b"Date: ", answer)


def bare_spins(bench):
    """A bare echo waits as it is told."""
    with BareServer("--wait", "spin") as server:
        bench.load(server.address, "--connections", 4)
    transport = server.final["transport"]
    assert transport["waits"] == 0 and transport["empty_polls"] > 0, transport


def bare_refusals(bench):
    for arguments, says in (
            (("--handler", "echo"), "--bare has no handlers"),
            (("--stack", "memory"), "has no bare echo; these have one: epoll"),
            (("--request-bytes", "16361"), "at most 16360"),
            (("--response-bytes", "16361"), "at most 16360"),
            (("--tls",), "leave out --tls"),
    ):
        outcome = bench.weir("serve", "--bare", *arguments)
        assert outcome.returncode == 4 and says in outcome.stderr, (arguments, outcome.stderr)
    outcome = bench.weir("serve", "--request-bytes", "10")
    assert outcome.returncode == 4 and "--bare" in outcome.stderr, outcome.stderr


def tiny_ceiling(bench):
    outcome = bench.ceiling("--runs", 2)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    line = re.search(rf"^epoll@loopback +4 +4 +[\d,]+ +[\d,]+ +{SHARE} +[\d,]+ +[\d,]+ +{SHARE}",
                     outcome.stdout, re.M)
    assert line, outcome.stdout
    assert "2 pairs: such a range holds the true median with 50 %" in outcome.stdout
    path = results_path(outcome)
    results = read_results(path)
    assert all(result["valid"] for result in results), results
    assert [(result["run"], result["cell"]["bare"]) for result in results] == [
        (1, False), (1, True), (2, True), (2, False)]
    assert all(result["server"]["busy_us_per_request"] > 0 for result in results)
    assert len({json.dumps(result["pins"]) for result in results}) == 1, "the same pins"
    for sample in read_json(path, "plan.json")["samples"]:
        assert ("--bare" in sample["server_argv"]) == sample["cell"]["bare"], sample
        assert "--bare" not in sample["client_argv"], sample


def report_of_a_ceiling(bench):
    missing = subprocess.run(["/usr/bin/python3", "-c", "import numpy, matplotlib, jinja2"],
                             capture_output=True, check=False)
    if missing.returncode:
        raise Skip("the analysis lacks its packages")
    path = results_path(bench.ceiling("--runs", 1))
    outcome = bench.weir("report", path, env={**os.environ, "WEIR_ROOT": ROOT})
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "bare" in read(os.path.join(path, "report.md"))


def gate(bench):
    """A gate that nothing misses, and one that nothing reaches: on a loaded host that is not sure."""
    outcome = bench.ceiling("--runs", 5, "--least", "1%")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "gate: at least 1%: reached in 1 of 1 cells" in outcome.stdout
    outcome = bench.ceiling("--runs", 5, "--least", "200%")
    verdict = re.search(rf"^gate: epoll@loopback, 4 connections, depth 4: (MISSED|undecided): {SHARE} of",
                        outcome.stdout, re.M)
    assert verdict, outcome.stdout + outcome.stderr
    assert outcome.returncode == {"MISSED": 1, "undecided": 2}[verdict[1]], outcome.stdout
    assert results_path(outcome)


def ceiling_refusals(bench):
    for arguments, says in (
            (("--stack", "memory"), "has no bare echo; these have one: epoll"),
            (("--stack", "epol@loopback"), "did you mean 'epoll'"),
            (("--client-stack", "epol"), "is no stack of an experiment; accepted: epoll@loopback"),
            (("--least", "90"), "a share in percent, like 90%"),
            (("--least", "0%"), "a share in percent, like 90%"),
            (("--least", "90%", "--runs", "4"), "--least wants --runs 5"),
            (("--depth", "1,1"), "none twice"),
            (("--depth", "1,1025"), "whole numbers"),
            (("--connections", "64,"), "whole numbers"),
            (("--duration", "3"), "a time with its unit"),
            (("--request-bytes", "16361"), "from 0 to 16360"),
            (("--delivery", "immediate"), "unknown flag"),
    ):
        outcome = bench.weir("ceiling", *arguments)
        assert outcome.returncode == 4 and says in outcome.stderr, (arguments, outcome.stderr)
        assert "results:" not in outcome.stdout


def dry_run(bench):
    """Two stacks with options, each a cell of its own; nothing is made."""
    outcome = bench.weir("ceiling", "--stack", "epoll@loopback", "--stack",
                        "epoll@loopback,nodelay=off", "--dry-run", "--runs", 2, "--output",
                        bench.folder)
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("server and client need a CPU each")
    assert outcome.returncode == 0, outcome.stderr
    # 2 stacks, 2 numbers of connections, 3 depths, 2 variants, 2 runs
    assert "48 samples" in outcome.stdout, outcome.stdout
    assert len(re.findall(r"^s\d{4} run \d .*bare-on", outcome.stdout, re.M)) == 24, outcome.stdout
    assert os.listdir(bench.folder) == []


CASES = (
    ("the bare echo's answers are verified at every depth and size", bare_answers_verified),
    ("a bare echo accounts in the pipeline's words", bare_accounts),
    ("over HTTP a bare echo answers as the pipeline does, byte for byte", bare_http),
    ("a bare echo waits as it is told", bare_spins),
    ("what a bare echo cannot be is refused", bare_refusals),
    ("a tiny ceiling runs to its end and prints the share", tiny_ceiling),
    ("a ceiling's result has its report", report_of_a_ceiling),
    ("the gate passes and fails by the share", gate),
    ("wrong flags are refused with what would be right", ceiling_refusals),
    ("a dry run prints the pairs and makes nothing", dry_run),
)


if __name__ == "__main__":
    for sentence, function in CASES:
        case(sentence, CeilingBench)(function)
    sys.exit(run_tests())
