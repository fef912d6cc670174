#!/usr/bin/python3
"""A foreign peer for weir's own TCP: Linux, across a tap device, in a network namespace of its own.

Usage: dpdk_tap_test.py WEIR [WORD...]. Speaks TAP; with words only the tests whose names contain one run. Standard
library only.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

import namespace

HEAD = struct.Struct("<IQQI")
HEAD_BYTES = 24
START_END = 3
OPCODE_STRESS = 1
SERVER_IP, KERNEL_IP, PORT = "10.88.7.2", "10.88.7.1", 7878
DEADLINE_S = 30


class Skip(Exception):
    """A test's reason not to run here."""


def request(number, body):
    return HEAD.pack(20 + len(body), number, OPCODE_STRESS, START_END) + body


def body_of(number, size):
    return bytes((number * 31 + i) & 0xFF for i in range(size))


class Answers:
    """Frames received from a socket, one after the other."""

    def __init__(self, connection):
        self.connection = connection
        self.buffer = b""

    def take(self, count):
        while len(self.buffer) < count:
            piece = self.connection.recv(65536)
            if not piece:
                raise AssertionError(f"the stream ended with {len(self.buffer)} of {count} bytes")
            self.buffer += piece
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def next(self):
        length, number, opcode, flags = HEAD.unpack(self.take(HEAD_BYTES))
        return number, opcode, flags, self.take(length - 20)


def connect():
    connection = socket.create_connection((SERVER_IP, PORT), timeout=DEADLINE_S)
    connection.settimeout(DEADLINE_S)
    return connection


def exchange(connection, sizes):
    """Sends all requests without waiting, then checks the answers: in order and unchanged."""
    answers = Answers(connection)
    connection.sendall(b"".join(request(i, body_of(i, size)) for i, size in enumerate(sizes)))
    for i, size in enumerate(sizes):
        number, opcode, flags, body = answers.next()
        assert (number, opcode, flags) == (i, OPCODE_STRESS, START_END), (number, opcode, flags, i)
        assert body == body_of(i, size), f"the body of answer {i} differs"


def ping_is_answered(_bench):
    if not shutil.which("ping"):
        raise Skip("ping is not installed")
    for size in ("0", "56", "1400"):
        command = ["ping", "-c", "3", "-i", "0.2", "-W", "5", "-s", size, SERVER_IP]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert " 0% packet loss" in run.stdout, run.stdout + run.stderr


def pipelined_requests_are_answered(_bench):
    with connect() as connection:
        exchange(connection, [256] * 64)
        exchange(connection, [0, 1, 23, 24, 25, 1436, 1437, 5000, 0, 40000])


def connections_stand_side_by_side(_bench):
    connections = [connect() for _ in range(32)]
    for connection in connections:
        exchange(connection, [10, 300, 2000])
    for connection in reversed(connections):
        exchange(connection, [7])
        connection.close()


def large_bodies_pass(_bench):
    with connect() as connection:
        exchange(connection, [200000])


def half_close_is_answered_by_the_end(_bench):
    with connect() as connection:
        connection.sendall(request(5, b"last"))
        connection.shutdown(socket.SHUT_WR)
        answers = Answers(connection)
        assert answers.next() == (5, OPCODE_STRESS, START_END, b"last")
        assert connection.recv(1) == b""


def closed_ports_refuse(_bench):
    try:
        socket.create_connection((SERVER_IP, PORT + 1), timeout=DEADLINE_S).close()
    except ConnectionRefusedError:
        return
    raise AssertionError("connecting to a closed port was not refused")


def capture_is_sound(bench):
    """Over all the packets that the tests before it made, and some of its own."""
    if not bench.capture:
        raise Skip("tcpdump is not installed")
    if not shutil.which("tshark"):
        raise Skip("tshark is not installed")
    connections_stand_side_by_side(bench)
    bench.stop_capture()
    options = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    sums = " || ".join(f"{layer}.checksum.status == 0" for layer in ("ip", "tcp", "icmp"))

    def count(display_filter):
        command = ["tshark", "-n", "-r", bench.capture_path, *options, "-Y", display_filter]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return run.stdout.splitlines()

    sent = count(f"tcp && ip.src == {SERVER_IP}")
    assert len(sent) > 100, f"the capture has {len(sent)} of the server's packets only"
    # of the kernel's own packets one in 65,536 has the checksum 0xFFFF, which tshark calls bad
    lines = count(f"ip.src == {SERVER_IP} && (_ws.malformed || {sums})")
    assert not lines, "\n".join(lines[:10])


def server_ends_cleanly(bench):
    status = bench.close()
    assert status == 0, f"exit status {status}: {bench.server.stderr.read()}"


def sleeps_on_the_interrupt(bench):
    """The server of the tests before has ended; this one sleeps whenever nothing is to do."""
    bench.open("--wait", "block")
    with connect() as connection:
        exchange(connection, [256] * 64)
        for size in (0, 300, 5000):
            exchange(connection, [size])
    with connect() as connection:
        exchange(connection, [100000])
    assert bench.close() == 0, bench.server.stderr.read()
    final = json.loads(bench.server.stdout.read().splitlines()[-1].removeprefix("final "))
    transport, details = final["transport"], final["details"]
    assert 0 < transport["wakeups"] <= transport["waits"], transport
    assert details["descriptor_sleeps"] >= transport["waits"] - details["naps"], (details, transport)
    # naps are for frames that wait for room alone
    assert details["descriptor_sleeps"] > details["naps"], details


TESTS = [
    ("ping is answered at several sizes", ping_is_answered),
    ("pipelined requests are answered in order", pipelined_requests_are_answered),
    ("32 connections stand side by side", connections_stand_side_by_side),
    ("bodies larger than any buffer pass", large_bodies_pass),
    ("a half-closed connection gets its answer and the end", half_close_is_answered_by_the_end),
    ("a closed port refuses", closed_ports_refuse),
    ("the capture has no malformed packet and no bad checksum of ours", capture_is_sound),
    ("the server ends cleanly when told to", server_ends_cleanly),
    ("a server that blocks sleeps on the tap's interrupt", sleeps_on_the_interrupt),
]


class Bench:
    """The server on its tap and the capture of all that passes there. Whoever makes one closes it."""

    def __init__(self, program, folder):
        self.program = program
        self.server = None
        self.interface = f"wdpdk{os.getpid() % 100000}"
        self.capture = None
        self.capture_path = os.path.join(folder, "tap.pcap")

    def open(self, *flags):
        """Starts the server and lets the kernel's end of the tap be its peer."""
        stack = ["--stack", f"dpdk@tap:{self.interface}", "--hugepages", "no"]
        where = ["--address", f"{SERVER_IP}/24", "--listen", f"{SERVER_IP}:{PORT}"]
        self.server = subprocess.Popen(
            [self.program, "serve", *stack, *where, "--handler", "echo", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if not any(line.startswith("ready ") for line in iter(self.server.stdout.readline, "")):
            raise AssertionError(self.server.stderr.read().strip() or "the server said nothing")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        address = ["ip", "address", "add", f"{KERNEL_IP}/24", "dev", self.interface]
        subprocess.run(address, check=True)
        subprocess.run(["ip", "link", "set", self.interface, "up"], check=True)
        if shutil.which("tcpdump"):
            self.start_capture()

    def start_capture(self):
        self.capture = subprocess.Popen(
            ["tcpdump", "-i", self.interface, "--immediate-mode", "-U", "-Z", "root", "-w", self.capture_path],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        # "listening on ..." when it has begun
        self.capture.stderr.readline()

    def stop_capture(self):
        time.sleep(0.3)
        self.capture.terminate()
        self.capture.wait()

    def close(self):
        """Ends capture and server; the server's exit status, None if there is none."""
        if self.capture and self.capture.poll() is None:
            self.stop_capture()
        if not self.server:
            return None
        self.server.terminate()
        try:
            return self.server.wait(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.server.kill()
            return self.server.wait()


def run_one(number, name, test, bench):
    """Runs one test and prints its TAP line; whether it passed."""
    try:
        test(bench)
    except Skip as reason:
        print(f"ok {number} - {name} # SKIP {reason}", flush=True)
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        print(f"not ok {number} - {name}", flush=True)
        text = f"{type(error).__name__}: {error}"
        print("\n".join(f"# {line}" for line in text.splitlines()), flush=True)
        return False
    else:
        print(f"ok {number} - {name}", flush=True)
    return True


def run_tests(program, words):
    chosen = [test for test in TESTS if not words or any(word in test[0] for word in words)]
    print(f"1..{len(chosen)}", flush=True)
    if not chosen:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(program, folder)
        try:
            bench.open()
            passed = [run_one(number, *test, bench) for number, test in enumerate(chosen, 1)]
        finally:
            bench.close()
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(namespace.run(run_tests))
