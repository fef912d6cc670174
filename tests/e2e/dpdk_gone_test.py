#!/usr/bin/python3
"""What serve does when the interface under its dpdk device is removed.

Usage: dpdk_gone_test.py WEIR [WORD...]. Speaks TAP; with words only the tests whose names contain one run. Standard
library only.
"""

import json
import os
import socket
import subprocess
import sys
import time

import namespace

SERVER_IP, KERNEL_IP, PORT = "10.88.9.2", "10.88.9.1", 7878
DEADLINE_S = 30


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Server:
    """A server over an interface, ready."""

    def __init__(self, program, device, wait):
        where = ["--address", f"{SERVER_IP}/24", "--listen", f"{SERVER_IP}:{PORT}"]
        self.process = subprocess.Popen(
            [program, "serve", "--stack", f"dpdk@{device}", "--hugepages", "no", "--wait", wait, *where],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if not any(line.startswith("ready ") for line in iter(self.process.stdout.readline, "")):
            raise AssertionError(self.process.stderr.read().strip() or "the server said nothing")

    def expect_gone(self, device):
        """It must end by itself and say why, once; its final accounts."""
        out, error = self.process.communicate(timeout=DEADLINE_S)
        assert self.process.returncode == 3, (self.process.returncode, error)
        assert error.count(f"the interface of dpdk@{device} was removed") == 1, error
        return json.loads(out.splitlines()[-1].removeprefix("final "))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def removed_tap(program, wait):
    name = f"wgone{os.getpid() % 100000}"
    with Server(program, f"tap:{name}", wait) as server:
        ip("address", "add", f"{KERNEL_IP}/24", "dev", name)
        ip("link", "set", name, "up")
        with socket.create_connection((SERVER_IP, PORT), timeout=DEADLINE_S):
            ip("link", "delete", name)
            final = server.expect_gone(f"tap:{name}")
    assert final["transport"]["accepted"] == final["transport"]["closed"] == 1, final["transport"]
    assert final["details"]["link_downs"] == 1, final["details"]


def removed_veth(program, wait):
    name = f"vgone{os.getpid() % 100000}"
    ip("link", "add", name, "type", "veth", "peer", "name", f"{name}p")
    ip("link", "set", name, "up")
    ip("link", "set", f"{name}p", "up")
    with Server(program, f"af_packet:{name}", wait) as server:
        ip("link", "delete", name)
        # another of the same name is not the one that was opened
        ip("link", "add", name, "type", "veth", "peer", "name", f"{name}p")
        final = server.expect_gone(f"af_packet:{name}")
        ip("link", "delete", name)
    assert final["details"]["link_downs"] == 1, final["details"]


def moved_tap(program, wait):
    name = f"mgone{os.getpid() % 100000}"
    place = subprocess.Popen(["unshare", "--net", "sleep", "60"])
    try:
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{place.pid}/ns/net") == own:
            time.sleep(0.01)
        with Server(program, f"tap:{name}", wait) as server:
            ip("link", "set", name, "netns", str(place.pid))
            time.sleep(1)
            assert server.process.poll() is None, server.process.stderr.read()
            server.process.terminate()
            _, error = server.process.communicate(timeout=DEADLINE_S)
            assert server.process.returncode == 0 and error == "", (server.process.returncode, error)
    finally:
        place.kill()
        place.wait()


TESTS = [
    ("a removed tap closes its connections as link down and ends the server with status 3", removed_tap, "spin"),
    ("a removed tap wakes a server that sleeps, and ends it the same", removed_tap, "block"),
    ("a removed veth ends the server with status 3, whatever takes its name", removed_veth, "spin"),
    ("a removed veth wakes a server that sleeps, and ends it the same", removed_veth, "block"),
    ("a tap that is moved into another network namespace is not taken for removed", moved_tap, "spin"),
]


def run_tests(program, words):
    failed = 0
    chosen = [test for test in TESTS if not words or any(word in test[0] for word in words)]
    print(f"1..{len(chosen)}", flush=True)
    for number, (name, test, wait) in enumerate(chosen, 1):
        try:
            test(program, wait)
            print(f"ok {number} - {name}", flush=True)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            text = f"{type(error).__name__}: {error}"
            print("\n".join(f"# {line}" for line in text.splitlines()), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(namespace.run(run_tests))
