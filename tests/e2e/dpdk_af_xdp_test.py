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

HEAD = struct.Struct("<IQQI")
START_END = 3
OPCODE_STRESS = 1
SERVER_IP, KERNEL_IP, PORT = "10.88.5.2", "10.88.5.1", 7878
RING = 2048  # buffers that the driver lends to the kernel, and completions that may be outstanding
DEADLINE_S = 30
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


class Server:
    """A server on our end, ready."""

    # DPDK 22.11 does not delete the memory area it registered, 80 bytes of libxdp's
    suppressions = tempfile.NamedTemporaryFile("w", suffix=".lsan")
    suppressions.write("leak:xsk_umem__create\n")
    suppressions.flush()

    def __init__(self, program, veth, *flags):
        self.device = f"dpdk@af_xdp:{veth.name}"
        where = ["--address", f"{SERVER_IP}/24", "--listen", f"{SERVER_IP}:{PORT}", "--hugepages", "no"]
        self.process = subprocess.Popen(
            [program, "serve", "--stack", self.device, *where, "--handler", "echo", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"LSAN_OPTIONS": f"suppressions={self.suppressions.name}:print_suppressions=0"},
        )
        if not any(line.startswith("ready ") for line in iter(self.process.stdout.readline, "")):
            raise AssertionError(self.process.stderr.read().strip() or "the server said nothing")

    def end(self):
        """Tells it to stop; its final accounts."""
        self.process.terminate()
        return self.expect(0, "")

    def expect(self, status, words):
        """It ends with `status` and says `words` once, or nothing; its final accounts."""
        out, error = self.process.communicate(timeout=DEADLINE_S)
        assert self.process.returncode == status, (self.process.returncode, error)
        assert error.count(words) == 1 if words else error == "", error
        return json.loads(out.splitlines()[-1].removeprefix("final "))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


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


def serves(program, wait):
    with Veth() as veth, Server(program, veth, "--wait", wait) as server:
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


def serves_spinning(program):
    serves(program, "spin")


def serves_sleeping(program):
    serves(program, "block")


def unfinished_checksums(program):
    with Veth(offloads=True) as veth, Server(program, veth) as server:
        with socket.socket() as connection:
            connection.settimeout(1)
            assert connection.connect_ex((SERVER_IP, PORT)) != 0
        final = server.end()
    assert final["details"]["drop_tcp_checksum"] > 0, final["details"]
    assert final["transport"]["accepted"] == 0


def removed_interface(program):
    with Veth() as veth, Server(program, veth, "--wait", "block") as server:
        with connect() as connection:
            exchange(connection, [100])
            ip("link", "delete", veth.name)
            final = server.expect(3, f"the interface of {server.device} was removed")
    assert final["transport"]["accepted"] == final["transport"]["closed"] == 1, final["transport"]
    assert final["details"]["link_downs"] == 1, final["details"]


def removed_program(program):
    with Veth() as veth, Server(program, veth) as server:
        with connect() as connection:
            exchange(connection, [100])
            ip("link", "set", "dev", veth.name, "xdp", "off")
            final = server.expect(3, f"the XDP program of {server.device} was removed")
    assert final["transport"]["accepted"] == final["transport"]["closed"] == 1, final["transport"]
    assert final["details"]["link_downs"] == 1, final["details"]


def overload(program):
    """The server stands still while more frames come than there are buffers to take them."""
    sent = 3 * RING
    with Veth() as veth, Server(program, veth) as server:
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


def killed(program):
    with Veth() as veth:
        with Server(program, veth) as server:
            with connect() as connection:
                exchange(connection, [100])
            server.process.kill()
            server.process.wait()
        with Server(program, veth) as server:
            with connect() as connection:
                exchange(connection, [100])
            server.end()


TESTS = [
    ("a spinning server answers the kernel and gives its program back", serves_spinning),
    ("a server that blocks sleeps on its socket and answers the same", serves_sleeping),
    ("frames with unfinished checksums are counted, not served", unfinished_checksums),
    ("a removed interface ends the server with status 3", removed_interface),
    ("a program that another tool detached ends the server with status 3", removed_program),
    ("frames that find no buffer are counted, and service goes on", overload),
    ("what a killed server leaves on the interface does not keep the next one away", killed),
]


def run_tests(program, words):
    failed = 0
    chosen = [test for test in TESTS if not words or any(word in test[0] for word in words)]
    print(f"1..{len(chosen)}", flush=True)
    ip("link", "set", "lo", "up")
    for number, (name, test) in enumerate(chosen, 1):
        try:
            test(program)
            print(f"ok {number} - {name}", flush=True)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            text = f"{type(error).__name__}: {error}"
            print("\n".join(f"# {line}" for line in text.splitlines()), flush=True)
    return 1 if failed else 0


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


def refusal(program):
    """Why no server can be had, though the kernel could do it; None if one can."""
    try:
        with Veth() as veth, Server(program, veth) as server:
            server.end()
    except (AssertionError, subprocess.SubprocessError) as error:
        if "install the package" in str(error) or isinstance(error, subprocess.SubprocessError):
            return " ".join(str(error).split())
    return None


def main():
    program = os.path.abspath(sys.argv[1])
    words = [word for word in sys.argv[2:] if word != INSIDE]
    reason = missing()
    if not reason and INSIDE not in sys.argv:
        # a namespace that ends with this process, whatever becomes of it
        inside = [sys.executable, os.path.abspath(__file__), program, INSIDE, *words]
        return subprocess.run(["unshare", "--net", *inside], check=False).returncode
    reason = reason or refusal(program)
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    return run_tests(program, words)


if __name__ == "__main__":
    sys.exit(main())
