#!/usr/bin/python3
"""serve and load over a veth pair: made, used, removed, left behind by a killed server and cleaned up.

Usage: veth_test.py WEIR [WORD...]. Speaks TAP; with words only the tests whose names contain one run. Standard
library only.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from processes import DEADLINE_S, WEIR, Process, Skip, run_tests, test

PORT = 7878
IP4, IP6 = f"10.78.0.1:{PORT}", f"[fd78::1]:{PORT}"
CLAIMS = "/run/weir"


def own_id(name):
    """An ID that no other run of these tests has."""
    return f"e2e{os.getpid()}-{name}"


def traces_of(one):
    """What the host has of a pair: namespaces and the claim."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if line.startswith(f"weir-{one}-")]
    return sorted(names) + [f"veth-{one}"] * os.path.exists(f"{CLAIMS}/veth-{one}")


def whole(one):
    return [f"weir-{one}-client", f"weir-{one}-server", f"veth-{one}"]


def interfaces():
    """Of the namespace that these tests run in."""
    return sorted(os.listdir("/sys/class/net"))


class Server(Process):
    """A server over a veth pair; ready, unless it is expected to refuse."""

    def __init__(self, stack, *flags):
        super().__init__("serve", "--stack", stack, *flags)
        self.ready = None

    def await_ready(self):
        """Reads to the ready line, whose object it keeps."""
        self.ready = json.loads(self.await_line("ready ").removeprefix("ready "))
        return self

    def end(self, number=signal.SIGTERM, status=0):
        """Ends it by a signal; what it said on stderr."""
        self.signal(number)
        return self.expect(status)

    def expect(self, status):
        """It ends with `status`; what it said on stderr."""
        got, _, error = self.wait()
        assert got == status, (got, error)
        return error

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        """Ends it in good order, so that it removes its pair."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.communicate(timeout=DEADLINE_S)
            except subprocess.TimeoutExpired:
                pass
        super().__exit__()


def serve(one, *flags, stack="epoll"):
    return Server(f"{stack}@veth:{one}", *flags).await_ready()


def load(one, *flags, stack="epoll", status=0):
    """Runs a short load; its result, if there is one, and stderr."""
    short = ["--warmup", "10ms", "--duration", "50ms", "--connections", "4"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        command = [WEIR, "load", "--stack", f"{stack}@veth:{one}", "--json", path, *short, *flags]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE_S)
        assert run.returncode == status, (run.returncode, run.stdout, run.stderr)
        if not os.path.exists(path):
            return None, run.stderr
        with open(path, encoding="utf-8") as file:
            return json.load(file), run.stderr


def exchange(stack):
    """Over both families, by one server after the other."""
    one = own_id(stack)
    before = interfaces()
    for address in (IP4, IP6):
        if address == IP6 and not os.path.exists("/proc/net/if_inet6"):
            continue
        with serve(one, "--listen", address, stack=stack) as server:
            assert traces_of(one) == whole(one), traces_of(one)
            result, _ = load(one, "--connect", address, "--depth", "4", stack=stack)
            assert result["completed"] > 0 and result["failed"] == 0, result["failures"]
            assert server.ready["listen"] == address, server.ready
            assert server.end() == ""
        assert traces_of(one) == [], traces_of(one)
    assert interfaces() == before, interfaces()


def exchange_over_epoll():
    exchange("epoll")


def exchange_over_uring():
    listed = subprocess.run([WEIR, "stacks", "--json"], capture_output=True, text=True, check=True).stdout
    uring = next((stack for stack in json.loads(listed)["stacks"] if stack["name"] == "uring"), None)
    if not uring or not uring["built"]:
        raise Skip(uring["absent"] if uring else "there is no uring stack")
    exchange("uring")


def facts_are_known():
    one = own_id("facts")
    with serve(one) as server:
        link = server.ready["link"]
    assert server.ready["listen"] == IP4, server.ready
    assert (link["kind"], link["id"], link["mtu"]) == ("veth", one, 1500), link
    assert link["server_netns"] == f"weir-{one}-server", link
    assert sorted(link["offloads"]) == ["gro", "gso", "rx_checksum", "tso", "tx_checksum"], link
    assert all(value in (True, False) for value in link["offloads"].values()), link


def defaults_meet():
    """Without any address, and on several workers, of which each must be in the namespace."""
    one = own_id("plain")
    workers = str(min(2, len(os.sched_getaffinity(0))))
    with serve(one, "--workers", workers) as server:
        result, _ = load(one)
        assert result["completed"] > 0 and result["config"]["connect"] == IP4, result["config"]
        assert server.end() == ""


def every_end_removes():
    one = own_id("ends")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with serve(one) as server:
            assert server.end(number) == ""
        assert traces_of(one) == [], (number, traces_of(one))
    with Server(f"epoll@veth:{one}", "--listen", "10.99.0.1:7878") as server:
        error = server.expect(4)
    assert "cannot listen on 10.99.0.1:7878" in error, error
    assert traces_of(one) == [], traces_of(one)


def early_signal_removes():
    """One that comes while the pair is being made, or before."""
    one = own_id("early")
    with Server(f"epoll@veth:{one}") as server:
        end = time.monotonic() + DEADLINE_S
        while not os.path.exists(f"{CLAIMS}/veth-{one}"):
            assert time.monotonic() < end and server.process.poll() is None, "no claim was made"
        assert server.end() == ""
    assert traces_of(one) == [], traces_of(one)


def killed_server_leaves_stale():
    one, other = own_id("killed"), own_id("next")
    with serve(one) as server:
        server.kill()
    assert traces_of(one) == whole(one), traces_of(one)
    _, error = load(one, status=4)
    assert f"'{one}' is stale, its server (pid {server.process.pid}) is dead" in error, error
    listed = subprocess.run([WEIR, "doctor", "--json"], capture_output=True, text=True, check=False).stdout
    notes = [check["found"] for check in json.loads(listed)["checks"] if check["name"] == "left behind"]
    assert notes and f"veth pair {one}" in notes[0], notes
    with serve(other):
        assert traces_of(one) == [], traces_of(one)
        assert traces_of(other) == whole(other), traces_of(other)


def killed_id_is_made_anew():
    one = own_id("again")
    with serve(one) as server:
        server.kill()
    with serve(one) as server:
        result, _ = load(one)
        assert result["completed"] > 0, result
        assert server.end() == ""
    assert traces_of(one) == [], traces_of(one)


def half_a_pair_is_removed():
    """As a server leaves it that was killed while it made the pair."""
    one = own_id("half")
    with serve(one) as server:
        server.kill()
    subprocess.run(["ip", "netns", "delete", f"weir-{one}-client"], check=True)
    with serve(own_id("sweeper")):
        assert traces_of(one) == [], traces_of(one)


def run_sweeps():
    """Over another link than veth, whose servers would sweep as well."""
    one = own_id("swept")
    with serve(one) as server:
        server.kill()
    with tempfile.TemporaryDirectory() as folder:
        experiment = {
            "schema": "weir.experiment/1",
            "name": "sweep",
            "question": "Is what a dead server left removed?",
            "fixed": {"stack": "epoll@loopback", "connections": 4},
            "factors": {"depth": [1]},
            "runs": 1,
            "order": "rotate",
            "seed": 1,
            "warmup": "0.1s",
            "duration": "0.1s",
        }
        with open(os.path.join(folder, "experiment.json"), "w", encoding="utf-8") as file:
            json.dump(experiment, file)
        command = [WEIR, "run", folder, "--output", f"{folder}/out", "--no-report"]
        command += ["--lock", f"{folder}/lock"]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
    assert traces_of(one) == [], traces_of(one)


def two_ids_stand_side_by_side():
    one, two = own_id("left"), own_id("right")
    with serve(one) as left, serve(two) as right:
        for each in (one, two):
            result, _ = load(each)
            assert result["completed"] > 0 and result["failed"] == 0, result["failures"]
        assert left.end() == ""
        assert traces_of(one) == [] and traces_of(two) == whole(two), (traces_of(one), traces_of(two))
        load(two)
        assert right.end() == ""
    assert traces_of(two) == [], traces_of(two)


def load_comes_second():
    one = own_id("absent")
    _, error = load(one, status=4)
    assert f"there is no veth pair '{one}'" in error and f"@veth:{one}" in error, error
    assert traces_of(one) == [], traces_of(one)


def id_in_use_is_refused():
    one = own_id("taken")
    with serve(one) as server:
        with Server(f"epoll@veth:{one}") as second:
            error = second.expect(4)
        assert f"in use by weir (pid {server.process.pid})" in error, error
        load(one)
        assert server.end() == ""


def foreign_namespace_is_left_alone():
    one = own_id("foreign")
    name = f"weir-{one}-client"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        with Server(f"epoll@veth:{one}") as server:
            error = server.expect(4)
        assert "that weir does not know of" in error, error
        assert traces_of(one) == [name], traces_of(one)
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


def refused(stack, *flags):
    """A server that must not start: its words on stderr."""
    with Server(stack, *flags) as server:
        return server.expect(4)


def nonsense_is_refused():
    assert "1 to 32 letters, digits and '-'" in refused("epoll@veth:a/b")
    assert "does not go over a veth pair" in refused("epoll@veth", "--listen", "unix:/tmp/weir-veth.sock")


def missing_ip_is_said():
    one = own_id("no-ip")
    with tempfile.TemporaryDirectory() as empty:
        command = [WEIR, "serve", "--stack", f"epoll@veth:{one}"]
        run = subprocess.run(command, env={"PATH": empty}, capture_output=True, text=True, check=False)
    assert run.returncode == 4 and "apt-get install iproute2" in run.stderr, run
    assert traces_of(one) == [], traces_of(one)


CASES = [
    ("epoll is served over IPv4 and IPv6, and nothing is left", exchange_over_epoll),
    ("uring is served over IPv4 and IPv6, and nothing is left", exchange_over_uring),
    ("the ready line says what the link is", facts_are_known),
    ("server and client meet without addresses, on all workers", defaults_meet),
    ("each signal of ending and a refused address remove the pair", every_end_removes),
    ("a signal that comes while the pair is made removes it", early_signal_removes),
    ("the pair of a killed server is stale and goes with the next server's start", killed_server_leaves_stale),
    ("the ID of a killed server can be used at once", killed_id_is_made_anew),
    ("what is left of half a pair is removed", half_a_pair_is_removed),
    ("a run removes stale pairs as it starts", run_sweeps),
    ("two IDs stand side by side", two_ids_stand_side_by_side),
    ("a load without a server's pair is refused", load_comes_second),
    ("an ID in use is refused with its owner's pid", id_in_use_is_refused),
    ("a namespace that weir did not make is left alone", foreign_namespace_is_left_alone),
    ("bad IDs and Unix sockets are refused", nonsense_is_refused),
    ("a missing ip is said with the remedy", missing_ip_is_said),
]


def missing():
    """Why this host cannot run the tests; None if it can."""
    if not shutil.which("ip"):
        return "ip (iproute2) is needed"
    listed = subprocess.run([WEIR, "doctor", "--json"], capture_output=True, text=True, check=False).stdout
    veth = next(check for check in json.loads(listed)["checks"] if check["name"] == "veth pairs")
    return None if veth["state"] == "ok" else veth["mend"]


def main():
    reason = missing()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    for name, function in CASES:
        test(name)(function)
    return run_tests()


if __name__ == "__main__":
    sys.exit(main())
