#!/usr/bin/python3
"""Slow clients of weir's HTTP server, as slowhttptest has them: heads, bodies, readers, and many ranges.

Usage: http_slow_test.py WEIR [WORD...]. Speaks TAP. The slow ones dribble, so that no wait for the next byte would ever
end, while a well-behaved load runs beside them. Deadlines are absolute: all are cut off, and none early. Then
slowhttptest itself does the same, if it is there.
"""

import contextlib
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from processes import Server, Skip, load, run_tests, stacks_over_loopback, test

EACH = 100  # slow connections of a kind
DEADLINE_S = 1.0
SLACK_S = 10.0  # for a busy host; who is not cut off dribbles on for longer
DRIBBLE_S = 0.1
FLAGS = ["--protocol", "http1", "--conn-max", "1024", "--send-bytes", "64KiB", "--head-timeout", "1s", "--body-timeout",
         "1s", "--send-timeout", "1s", "--routes",
         json.dumps([{"path": "/big", "handler": "respond:15MiB"}, {"path": "/", "handler": "respond:64"}])]
# The p99 of others beside the slow ones, as a multiple of theirs alone in the same run. A server that waits for a slow
# one makes others wait for a dribble, which is a thousand times what they take; that three processes share the CPUs
# then is worth ten. What takes less than a millisecond counts as that, for then the scheduler's slices are measured.
HARM_RATIO = 30
TRIES = 3
NOISE_US = 1000
LOAD = ("--protocol", "http1", "--request-bytes", 0, "--connections", 4, "--warmup", "50ms")


class Slow:
    """A connection that is opened with some bytes, and then dribbles by `step` until it has ended."""

    def __init__(self, port, opening, step, window=None):
        self.socket = socket.socket()
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.begin = time.monotonic()
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(opening)
        self.socket.setblocking(False)
        self.step = step
        self.answer = b""
        self.lasted_s = None

    def dribble(self):
        """One step; notes the end, also one that stands behind bytes that nobody has read."""
        try:
            if self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) or not self.step(self):
                self.lasted_s = time.monotonic() - self.begin
        except BlockingIOError:
            pass
        except (ConnectionResetError, BrokenPipeError):
            self.lasted_s = time.monotonic() - self.begin


def sends(piece):
    """A step that sends, and takes what may have come."""
    def step(slow):
        slow.socket.send(piece)
        data = slow.socket.recv(4096)
        slow.answer += data
        return data
    return step


def reads(slow):
    return slow.socket.recv(100)


def dribbling(port):
    """{kind: its connections}"""
    ask = b" / HTTP/1.1\r\nHost: a\r\n"
    kinds = {
        "head": lambda: Slow(port, b"GET" + ask, sends(b"X: y\r\n")),
        "body": lambda: Slow(port, b"POST" + ask + b"Content-Length: 100000\r\n\r\n", sends(b"x")),
        "send": lambda: Slow(port, b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n", reads, 4096),
    }
    return {kind: [make() for _ in range(EACH)] for kind, make in kinds.items()}


def dribble_out(kinds):
    """Until all have ended, or should have."""
    live = [slow for those in kinds.values() for slow in those]
    end = time.monotonic() + DEADLINE_S + SLACK_S
    while live and time.monotonic() < end:
        for slow in live:
            slow.dribble()
        live = [slow for slow in live if slow.lasted_s is None]
        time.sleep(DRIBBLE_S)


def p99_us(server, duration):
    result, _ = load(server, *LOAD, "--duration", duration)
    assert result["failed"] == 0, result["failures"]
    return result["latency_us"]["service"]["p99"]


def beside(server):
    """A load in a thread, as long as the slow ones last; its p99 is in the list once it was joined."""
    found = []
    thread = threading.Thread(target=lambda: found.append(p99_us(server, "900ms")))
    thread.start()
    return thread, found


def judge_end(kind, slow):
    assert slow.lasted_s is not None, f"a slow {kind} was not cut off"
    assert slow.lasted_s >= DEADLINE_S * 0.9, f"a slow {kind} was cut off after {slow.lasted_s} s"
    assert kind == "send" or slow.answer.startswith(b"HTTP/1.1 408 "), (kind, slow.answer)


def harm(stack):
    """Has slow clients cut off; the p99 of others then, as a multiple of theirs before."""
    with Server("--stack", stack, *FLAGS) as server, contextlib.ExitStack() as opened:
        before = p99_us(server, "300ms")
        kinds = dribbling(server.port)
        for those in kinds.values():
            for slow in those:
                opened.callback(slow.socket.close)
        thread, during = beside(server)
        dribble_out(kinds)
        thread.join()
        for kind, those in kinds.items():
            for slow in those:
                judge_end(kind, slow)
        counters = server.end()["server"]
        for kind in kinds:
            assert counters[f"timeouts_{kind}"] == EACH, (kind, counters)
        return during[0] / max(before, NOISE_US)


def cuts_off(stack):
    """A server that lets others wait does so each time; a host that stands still does not."""
    harms = []
    while len(harms) < TRIES and (not harms or harms[-1] >= HARM_RATIO):
        harms.append(harm(stack))
    assert harms[-1] < HARM_RATIO, f"p99 of others beside slow clients, as a multiple: {harms}"


for _stack in stacks_over_loopback():
    test(f"{_stack}: slow heads, bodies and readers are cut off at their deadlines, and others take no harm")(
        functools.partial(cuts_off, _stack))


@test("a request of 1,300 ranges costs no more than the file")
def ranges_are_bounded():
    size = 256 * 1024
    with tempfile.TemporaryDirectory(prefix="weir-slow-") as folder:
        with open(f"{folder}/file", "wb") as file:
            file.truncate(size)
        ranges = ",".join(["0-"] + [f"5-{end}" for end in range(5, 1305)])
        text = f"GET /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\nRange: bytes={ranges}\r\n\r\n".encode()
        with Server("--protocol", "http1", "--handler", f"static:{folder}") as server:
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", server.port), SLACK_S) as connection:
                    connection.sendall(text)
                    answer = b"".join(iter(functools.partial(connection.recv, 65536), b""))
                assert answer.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 206 ", b"HTTP/1.1 416 ")), answer[:100]
                assert len(answer) < size + 1024, len(answer)
            assert server.end()["server"]["responses"] == 20


# Each as slowhttptest calls it; a reader does not find out that it was cut off before it has read what was there.
MODES = {"head": ("-H", "-l", "9"), "body": ("-B", "-s", "8192", "-l", "9"), "ranges": ("-R", "-b", "1000", "-l", "9"),
         "send": ("-X", "-w", "1", "-y", "2", "-n", "1", "-z", "1", "-l", "3")}


def slowhttptest(server, mode):
    return subprocess.Popen(
        ["slowhttptest", *MODES[mode], "-c", "50", "-r", "200", "-i", "1", "-x", "10", "-v", "1", "-u",
         f"http://{server.address}/{'big' if mode == 'send' else ''}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "TERM": "dumb"})


@test("all that slowhttptest does is cut off")
def slowhttptest_is_cut_off():
    if not shutil.which("slowhttptest"):
        raise Skip("there is no slowhttptest; install slowhttptest")
    with Server(*FLAGS) as server:
        running = {mode: slowhttptest(server, mode) for mode in MODES}
        said = {mode: process.communicate(timeout=60)[0].decode() for mode, process in running.items()}
        for mode, text in said.items():
            if mode != "send":
                assert "No open connections left" in text, (mode, text[-400:])
        counters = server.end()["server"]
    for kind in ("head", "body", "send"):
        assert counters[f"timeouts_{kind}"] == 50, (kind, counters)


if __name__ == "__main__":
    sys.exit(run_tests())
