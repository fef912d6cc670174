"""processes: `weir` as real processes, for tests that speak TAP.

The one argument of a test file is the built `weir`; further arguments are substrings of the names of the tests to run.
"""

import ctypes
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

WEIR = os.path.abspath(sys.argv[1])
DEADLINE_S = 30
TESTS = []
# Under nohup it is ignored, and so it would be by every process that is told to end by it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test(name):
    """Registers a test; its name is a sentence."""
    def register(function):
        TESTS.append((name, function))
        return function
    return register


class Skip(Exception):
    """Why a test does not apply to this host."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A weir process whose output lines can be awaited."""

    def __init__(self, *args, **options):
        self.process = subprocess.Popen([WEIR, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, **options)
        self.lines = []
        self.partial = b""

    def await_line(self, prefix, timeout_s=DEADLINE_S):
        """The first line, old or new, that begins so."""
        end = time.monotonic() + timeout_s
        seen = 0
        while True:
            for line in self.lines[seen:]:
                if line.startswith(prefix):
                    return line
            seen = len(self.lines)
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                error = self.process.stderr.read().decode() if ready else "(still running)"
                raise AssertionError(f"no line '{prefix}': {error}")
            *whole, self.partial = (self.partial + data).split(b"\n")
            self.lines += [line.decode() for line in whole]

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout_s=DEADLINE_S):
        """Exit status, all of stdout, all of stderr."""
        try:
            rest, error = self.process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        text = "".join(line + "\n" for line in self.lines) + (self.partial + rest).decode()
        return self.process.returncode, text, error.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Server(Process):
    """A server that is ready, on a free port of `ip` unless it gets a whole `address`."""

    def __init__(self, *args, ip="127.0.0.1", address=None, **options):
        self.port = free_port()
        self.address = address or f"{ip}:{self.port}"
        super().__init__("serve", "--listen", self.address, *args, **options)
        self.ready = json.loads(self.await_line("ready ").split(" ", 1)[1])

    def end(self):
        """Ends it in good order; the object of its last line."""
        self.signal(signal.SIGTERM)
        status, out, error = self.wait()
        assert status == 0, (status, error)
        assert error == "", error
        return json.loads(out.splitlines()[-1].removeprefix("final "))


def run(*args, **options):
    with Process(*args, **options) as process:
        return process.wait()


def load(server, *args, expect=0):
    """Runs a short load with its result in a file; that result and stderr."""
    flags = {"--warmup": "20ms", "--duration": "150ms", "--connections": 8}
    flags.update(zip(args[::2], args[1::2]))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        words = [word for flag in flags.items() for word in flag]
        status, out, error = run("load", "--connect", server.address, "--json", path, *words)
        assert status == expect, (status, out, error)
        with open(path, encoding="utf-8") as file:
            return json.load(file), error


def stacks_over_loopback():
    """The stacks of sockets that this host has."""
    listed = subprocess.run([WEIR, "stacks", "--json"], capture_output=True, check=True)
    usable = {stack["name"] for stack in json.loads(listed.stdout)["stacks"] if stack["built"] and not stack["unusable"]}
    return sorted(usable & {"epoll", "uring"})


def limit_files(count):
    """Allows this process so many descriptors, and no more even if it runs with privilege."""
    drop_from_bounding_set, may_raise_limits = 24, 24
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
    ctypes.CDLL(None).prctl(drop_from_bounding_set, may_raise_limits, 0, 0, 0)


def judge_result(result, args):
    """A valid result agrees with itself."""
    assert result["schema"] == "weir.load/1"
    assert result["failed"] == 0 and result["failures"] == [], result["failures"]
    assert result["completed"] > 0, args
    assert abs(result["effective_rps"] - result["completed"] / result["elapsed_s"]) < 1
    for kind in ("service", "intended"):
        latency = result["latency_us"][kind]
        counts = [count for _, count in result["histogram"][kind]]
        values = [value for value, _ in result["histogram"][kind]]
        assert latency["n"] == result["completed"] == sum(counts)
        assert values == sorted(set(values))
        quantiles = [latency[name] for name in ("min", "p50", "p90", "p99", "p999", "max")]
        assert quantiles == sorted(quantiles) and quantiles[0] > 0, quantiles
        assert round(latency["max"] * 1000) <= values[-1], (latency["max"], values[-1])
    assert 0 < result["client"]["busy_share"] <= 1
    assert result["client"]["transport"]["writes"] > 0


def judge_final(final, delivery, depths):
    """The server's accounts agree with each other and with its policy."""
    server, transport = final["server"], final["transport"]
    assert server["requests"] == server["responses"] > 0
    assert server["errors"] == server["cut_short"] == server["connections_broken"] == 0, server
    assert server["connections"] == server["connections_closed"]
    if delivery == "immediate":
        assert transport["writes"] == server["responses"]
    elif max(depths) > 1:
        assert transport["writes"] < server["responses"]
    assert final["busy"]["busy_turns"] <= final["busy"]["turns"]
    assert final["process"]["user_us"] + final["process"]["system_us"] > 0


def run_tests():
    """Runs what the command line chooses; the exit status."""
    number = failed = 0
    for name, function in TESTS:
        if sys.argv[2:] and not any(word in name for word in sys.argv[2:]):
            continue
        number += 1
        try:
            function()
            print(f"ok {number} - {name}")
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}")
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            place = error.__traceback__
            while place.tb_next:
                place = place.tb_next
            print(f"not ok {number} - {name}")
            text = f"line {place.tb_lineno}: {type(error).__name__}: {error}"
            for line in text.splitlines():
                print(f"# {line}")
        sys.stdout.flush()
    print(f"1..{number}")
    return 1 if failed else 0
