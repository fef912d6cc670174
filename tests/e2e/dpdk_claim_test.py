#!/usr/bin/python3
"""dpdk's devices and own addresses have one process each, and who is late is told who has them. Speaks TAP.

usage: dpdk_claim_test.py WEIR [SUBSTRING...]
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile

from bench import need_root, need_stack
from processes import Server, Skip, run, run_tests, test

OWN = "10.99.0.1"


def dpdk(device, own=OWN):
    return ["--stack", f"dpdk@{device}", "--address", f"{own}/24", "--hugepages", "no"]


def serving(device):
    need_stack("dpdk")
    need_root("have dpdk's devices")
    return Server(*dpdk(device), ip=OWN)


def refused(says, *arguments):
    status, out, error = run(*arguments)
    assert status == 4 and re.search(says, error), (status, out, error)


@contextlib.contextmanager
def socket_path():
    with tempfile.TemporaryDirectory(prefix="weir-claim-test-") as folder:
        yield os.path.join(folder, "s.sock")


@contextlib.contextmanager
def veth():
    """Two ends of a wire, both here, by names that nobody else has."""
    need_root("make interfaces")
    ends = f"wct{os.getpid() % 100000}a", f"wct{os.getpid() % 100000}b"
    made = subprocess.run(["ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1]],
                          capture_output=True, text=True, check=False)
    if made.returncode:
        raise Skip(f"no veth pair: {made.stderr.strip()}")
    try:
        for end in ends:
            subprocess.run(["ip", "link", "set", end, "up"], check=True)
        yield ends
    finally:
        subprocess.run(["ip", "link", "delete", ends[0]], check=True)


@test("a second server on a memif socket is refused and told who has it")
def same_socket():
    with socket_path() as path, serving(f"memif:{path}") as server:
        refused(rf"in use by .*{server.process.pid}", "serve", *dpdk(f"memif:{path}", "10.99.0.7"),
                "--listen", "10.99.0.7:7878")
        server.end()


@test("an own address that the other end of a memif link has is refused, by whatever way the socket is named")
def same_address():
    with socket_path() as path, serving(f"memif:{path}") as server:
        alias = f"{os.path.dirname(path)}/../{os.path.basename(os.path.dirname(path))}/s.sock"
        for name in (path, alias):
            refused(rf"the own address {OWN} on the memif link .* is in use by weir \(pid {server.process.pid}\)",
                    "load", *dpdk(f"memif:{name}"), "--connect", server.address, "--duration", "50ms")
        status, _, error = run("load", *dpdk(f"memif:{path}", "10.99.0.2"), "--connect", server.address,
                               "--warmup", "20ms", "--duration", "50ms", "--connections", "2")
        assert status == 0, error
        server.end()


@test("a second process on one interface is refused and told who has it, until that is killed")
def same_interface():
    with veth() as (end, _):
        server = serving(f"af_packet:{end}")
        with server:
            for verb in ("serve", "--listen", "10.99.0.7:7878"), ("load", "--connect", f"{OWN}:7878"):
                refused(rf"the interface {end} is in use by weir \(pid {server.process.pid}\)", verb[0],
                        *dpdk(f"af_packet:{end}", "10.99.0.7"), *verb[1:])
            server.signal(signal.SIGKILL)
            server.process.wait()
        with serving(f"af_packet:{end}") as again:
            again.end()


@test("an own address that the kernel has is refused with the interface that has it")
def kernels_address():
    need_stack("dpdk")
    with veth() as (end, other):
        subprocess.run(["ip", "address", "add", f"{OWN}/24", "dev", other], check=True)
        refused(rf"{OWN} is the kernel's on {other}", "serve", *dpdk(f"af_packet:{end}"), "--listen", f"{OWN}:7878")


if __name__ == "__main__":
    sys.exit(run_tests())
