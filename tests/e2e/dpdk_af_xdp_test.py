#!/usr/bin/python3
"""serve over an AF_XDP socket on a veth whose other end is the kernel's, and what goes wrong there.

Usage: dpdk_af_xdp_test.py WEIR [WORD...]. Speaks TAP; with words only the tests whose names contain one run. Standard
library only.
"""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from processes import DEADLINE_S, WEIR, Process, run_tests, test

HEAD = struct.Struct("<IQQI")
START_END = 3
OPCODE_STRESS = 1
SERVER_IP, KERNEL_IP, PORT = "10.88.5.2", "10.88.5.1", 7878
RING = 2048  # buffers that the driver lends to the kernel, and completions that may be outstanding
INSIDE = "--inside"


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


class Veth:
    """A pair: our end, which has no address, and the kernel's, whose offloads are off unless asked for."""

    count = 0

    def __init__(self, offloads=False):
        Veth.count += 1
        self.name = f"wx{os.getpid() % 100000}n{Veth.count}"
        self.peer = f"{self.name}p"
        ip("link", "add", self.name, "type", "veth", "peer", "name", self.peer)
        if not offloads:
            command = ["ethtool", "-K", self.peer, "tx", "off", "tso", "off", "gso", "off", "gro", "off"]
            subprocess.run(command, check=True, capture_output=True)
        ip("link", "set", self.name, "up")
        ip("address", "add", f"{KERNEL_IP}/24", "dev", self.peer)
        ip("link", "set", self.peer, "up")

    def has_program(self):
        return "xdp" in json.loads(ip("-json", "link", "show", "dev", self.name))[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "link", "delete", self.name], check=False, capture_output=True)


class Server(Process):
    """A server on our end, ready."""

    # DPDK 22.11 does not delete the memory area it registered, 80 bytes of libxdp's
    suppressions = tempfile.NamedTemporaryFile("w", suffix=".lsan")
    suppressions.write("leak:xsk_umem__create\n")
    suppressions.flush()

    def __init__(self, veth, *flags):
        self.device = f"dpdk@af_xdp:{veth.name}"
        where = ["--address", f"{SERVER_IP}/24", "--listen", f"{SERVER_IP}:{PORT}", "--hugepages", "no"]
        super().__init__(
            "serve", "--stack", self.device, *where, "--handler", "echo", *flags,
            env=os.environ | {"LSAN_OPTIONS": f"suppressions={self.suppressions.name}:print_suppressions=0"},
        )
        try:
            self.await_line("ready ")
        except AssertionError:
            super().__exit__()
            raise

    def end(self):
        """Tells it to stop; its final accounts."""
        self.process.terminate()
        return self.expect(0, "")

    def expect(self, status, words):
        """It ends with `status` and says `words` once, or nothing; its final accounts."""
        got, out, error = self.wait()
        assert got == status, (got, error)
        assert error.count(words) == 1 if words else error == "", error
        return json.loads(out.splitlines()[-1].removeprefix("final "))


def connect():
    connection = socket.create_connection((SERVER_IP, PORT), timeout=DEADLINE_S)
    connection.settimeout(DEADLINE_S)
    return connection


def body_of(number, size):
    return bytes((number * 31 + i) & 0xFF for i in range(size))


def take(connection, count):
    taken = b""
    while len(taken) < count:
        piece = connection.recv(count - len(taken))
        assert piece, f"the stream ended with {len(taken)} of {count} bytes"
        taken += piece
    return taken


def exchange(connection, sizes):
    """Sends all requests without waiting, then checks the answers: in order and unchanged."""
    frames = [HEAD.pack(20 + size, i, OPCODE_STRESS, START_END) + body_of(i, size) for i, size in enumerate(sizes)]
    connection.sendall(b"".join(frames))
    for i, frame in enumerate(frames):
        assert take(connection, len(frame)) == frame, f"answer {i} differs from its request"


def serves(wait):
    with Veth() as veth, Server(veth, "--wait", wait) as server:
        assert veth.has_program()
        connections = [connect() for _ in range(16)]
        for connection in connections:
            exchange(connection, [0, 1, 23, 256, 1436, 1437, 5000])
        # more frames each way than there are buffers and completions: both are given back
        for _ in range(200):
            exchange(connections[0], [40000])
        for connection in connections:
            connection.close()
        final = server.end()
        assert not veth.has_program()
    details = final["details"]
    assert details["port_frames_in"] > 2 * RING and details["port_frames_out"] > 2 * RING, details
    assert details["drop_tcp_checksum"] == details["port_missed"] == 0, details
    assert final["transport"]["accepted"] == final["transport"]["closed"] == 16, final["transport"]
    if wait == "spin":
        assert details["descriptor_sleeps"] == details["naps"] == 0, details
    else:
        assert details["descriptor_sleeps"] > details["naps"], details
        assert 0 < final["transport"]["wakeups"] <= final["transport"]["waits"], final["transport"]


def serves_spinning():
    serves("spin")


def serves_sleeping():
    serves("block")


def unfinished_checksums():
    with Veth(offloads=True) as veth, Server(veth) as server:
        with socket.socket() as connection:
            connection.settimeout(1)
            assert connection.connect_ex((SERVER_IP, PORT)) != 0
        final = server.end()
    assert final["details"]["drop_tcp_checksum"] > 0, final["details"]
    assert final["transport"]["accepted"] == 0


def removed_interface():
    with Veth() as veth, Server(veth, "--wait", "block") as server:
        with connect() as connection:
            exchange(connection, [100])
            ip("link", "delete", veth.name)
            final = server.expect(3, f"the interface of {server.device} was removed")
    assert final["transport"]["accepted"] == final["transport"]["closed"] == 1, final["transport"]
    assert final["details"]["link_downs"] == 1, final["details"]


def removed_program():
    with Veth() as veth, Server(veth) as server:
        with connect() as connection:
            exchange(connection, [100])
            ip("link", "set", "dev", veth.name, "xdp", "off")
            final = server.expect(3, f"the XDP program of {server.device} was removed")
    assert final["transport"]["accepted"] == final["transport"]["closed"] == 1, final["transport"]
    assert final["details"]["link_downs"] == 1, final["details"]


def overload():
    """The server stands still while more frames come than there are buffers to take them."""
    sent = 3 * RING
    with Veth() as veth, Server(veth) as server:
        with connect() as connection, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
            exchange(connection, [100])
            server.process.send_signal(signal.SIGSTOP)
            for _ in range(sent):
                flood.sendto(b"nobody wants this", (SERVER_IP, 9))
            # the kernel sends it again until there is a buffer for it
            connection.sendall(HEAD.pack(24, 7, OPCODE_STRESS, START_END) + b"late")
            server.process.send_signal(signal.SIGCONT)
            assert take(connection, HEAD.size + 4)[HEAD.size:] == b"late"
            exchange(connection, [40000] * 20)
        details = server.end()["details"]
    assert details["port_missed"] > 0 and details["port_fill_empty"] > 0, details
    assert details["drop_ip_protocol"] + details["port_missed"] >= sent, details


def killed():
    with Veth() as veth:
        with Server(veth) as server:
            with connect() as connection:
                exchange(connection, [100])
            server.process.kill()
            server.process.wait()
        with Server(veth) as server:
            with connect() as connection:
                exchange(connection, [100])
            server.end()


CASES = [
    ("a spinning server answers the kernel and gives its program back", serves_spinning),
    ("a server that blocks sleeps on its socket and answers the same", serves_sleeping),
    ("frames with unfinished checksums are counted, not served", unfinished_checksums),
    ("a removed interface ends the server with status 3", removed_interface),
    ("a program that another tool detached ends the server with status 3", removed_program),
    ("frames that find no buffer are counted, and service goes on", overload),
    ("what a killed server leaves on the interface does not keep the next one away", killed),
]


def missing():
    """Why this host cannot run the tests; None if it can."""
    if os.geteuid() != 0:
        return "making a network namespace takes root"
    for tool, package in (("unshare", "util-linux"), ("ip", "iproute2"), ("ethtool", "ethtool")):
        if not shutil.which(tool):
            return f"{tool} is missing: install {package}"
    try:
        socket.socket(44, socket.SOCK_RAW).close()  # AF_XDP
    except OSError as error:
        return f"this kernel has no XDP sockets for us: {error.strerror}"
    return None


def refusal():
    """Why no server can be had, though the kernel could do it; None if one can."""
    try:
        with Veth() as veth, Server(veth) as server:
            server.end()
    except (AssertionError, subprocess.SubprocessError) as error:
        if "install the package" in str(error) or isinstance(error, subprocess.SubprocessError):
            return " ".join(str(error).split())
    return None


def main():
    inside = INSIDE in sys.argv
    reason = missing()
    if not reason and not inside:
        # a namespace that ends with this process, whatever becomes of it
        command = [sys.executable, os.path.abspath(__file__), WEIR, *sys.argv[2:], INSIDE]
        return subprocess.run(["unshare", "--net", *command], check=False).returncode
    reason = reason or refusal()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    sys.argv.remove(INSIDE)
    ip("link", "set", "lo", "up")
    for name, function in CASES:
        test(name)(function)
    return run_tests()


if __name__ == "__main__":
    sys.exit(main())
