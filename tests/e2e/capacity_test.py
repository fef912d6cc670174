"""Ten thousand connections held by one worker: all served, each within its bytes of memory.

Run through tests/support/tap.py; WEIR names the built program.
"""

import json
import os
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest

WEIR = os.environ["WEIR"]
CONNECTIONS = 10000
SPARE_DESCRIPTORS = 64
# A connection that is served touches a page of each of its rings, and its own state: about 10 KiB. Its rings whole
# would be 128.
CONNECTION_KIB_MAX = 40
DEADLINE_S = 120  # keeps a hang from lasting; it takes seconds


class Server:
    """`weir serve`, with what it says in a file."""

    def __init__(self, stack, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.path = os.path.join(folder, "server")
        words = ("serve", "--stack", stack, "--listen", self.address, "--conn-max", str(CONNECTIONS))
        with open(self.path, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen((WEIR, *words), stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def said(self, what):
        """The object behind the first line that begins so."""
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            with open(self.path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            for line in lines[:-1]:
                if line.startswith(what + " "):
                    return json.loads(line.removeprefix(what + " "))
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        raise AssertionError(f"no line '{what}': {lines[-10:]}")

    def snapshot(self):
        self.process.send_signal(signal.SIGUSR1)
        return self.said("snapshot")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(DEADLINE_S) == 0
        return self.said("final")


def load(stack, server, folder):
    """A short load with a request outstanding on each connection; its result."""
    path = os.path.join(folder, "result.json")
    words = ("--stack", stack, "--connect", server.address, "--connections", CONNECTIONS, "--depth", 1, "--json", path,
             "--warmup", "100ms", "--duration", "500ms", "--connect-timeout", f"{DEADLINE_S}s",
             "--stall-timeout", f"{DEADLINE_S}s")
    done = subprocess.run((WEIR, "load", *map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Capacity(unittest.TestCase):
    def setUp(self):
        _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limit != resource.RLIM_INFINITY and limit < CONNECTIONS + SPARE_DESCRIPTORS:
            self.skipTest(f"{CONNECTIONS} connections need as many descriptors, {limit} are allowed (ulimit -Hn)")

    def hold(self, stack):
        listed = subprocess.run((WEIR, "stacks", "--json"), capture_output=True, text=True, check=True).stdout
        about = next(entry for entry in json.loads(listed)["stacks"] if entry["name"] == stack)
        if not about["built"]:
            self.skipTest(about["absent"])
        with tempfile.TemporaryDirectory() as folder, Server(stack, folder) as server:
            ready = server.said("ready")
            self.assertEqual(ready["pid"], server.process.pid)
            before = server.snapshot()
            begin = time.monotonic()
            result = load(stack, server, folder)
            elapsed = time.monotonic() - begin
            final = server.end()
        self.judge(stack, before, final, result, elapsed)

    def judge(self, stack, before, final, result, elapsed):
        kib = (final["process"]["rss_peak_since_start_kib"] - before["process"]["rss_kib"]) / CONNECTIONS
        print(f"# {stack}: {CONNECTIONS} connections in {elapsed:.1f} s, {kib:.1f} KiB of server memory each")
        self.assertEqual((result["failed"], result["failures"]), (0, []))
        self.assertEqual(final["server"]["connections"], CONNECTIONS)
        for name in ("connections_refused", "errors", "cut_short"):
            self.assertEqual(final["server"][name], 0, name)
        self.assertGreaterEqual(final["server"]["responses"], CONNECTIONS)
        self.assertEqual(final["server"]["responses"], final["server"]["requests"])
        if "sanitize" not in os.environ.get("WEIR_BUILT", ""):
            self.assertGreater(kib, 0)
            self.assertLess(kib, CONNECTION_KIB_MAX)

    def test_epoll(self):
        """One worker of epoll holds and serves ten thousand connections."""
        self.hold("epoll")

    def test_uring(self):
        """One worker of uring holds and serves ten thousand connections."""
        self.hold("uring")
