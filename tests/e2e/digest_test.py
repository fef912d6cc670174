#!/usr/bin/python3
"""`weir load --digest` from the outside: what a server answers, as one hash. Speaks TAP.

usage: digest_test.py WEIR [SUBSTRING...]
"""

import contextlib
import hashlib
import os
import re
import signal
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from tests.e2e.processes import Process, Server, run, run_tests, stacks_over_loopback, test  # noqa: E402: as above


def digest_of(address, *args, expect=0):
    """(hash or None, bytes, stderr) of 20 answers."""
    status, out, error = run("load", "--connect", address, "--digest", 20, *args)
    assert status == expect, (status, out, error)
    found = re.search(r"^digest ([0-9a-f]{64}) (\d+)$", out, re.M)
    return (found.group(1), int(found.group(2)), error) if found else (None, 0, error)


@test("a digest is that of every byte that is answered, in order")
def by_hand():
    frames = b"".join(struct.pack("<IQQI", 20 + 64, id_, 1, 3) + b"\x5a" * 64 for id_ in range(20))
    with Server() as server:
        assert digest_of(server.address)[:2] == (hashlib.sha256(frames).hexdigest(), len(frames))


@test("a digest of HTTP is that of every status and body, in order")
def by_hand_http():
    answers = (b"200\n" + b"\x5a" * 64 + b"64\n") * 20
    with Server("--protocol", "http1") as server:
        for depth in (1, 8):
            got = digest_of(server.address, "--protocol", "http1", "--depth", depth)
            assert got[:2] == (hashlib.sha256(answers).hexdigest(), len(answers)), got


@test("neither stack nor delivery nor depth changes a digest; the work does")
def invariant():
    found = set()
    for stack in stacks_over_loopback():
        for delivery in ("immediate", "coalesce"):
            with Server("--stack", stack, "--delivery", delivery, "--handler", "echo") as server:
                for depth in (1, 8):
                    found.add(digest_of(server.address, "--stack", stack, "--handler", "echo", "--depth", depth)[:2])
                other = digest_of(server.address, "--handler", "echo", "--request-bytes", 100)
                assert other[1] == 20 * 124 and other[:2] not in found, (other, found)
    assert len(found) == 1, found


@test("an answer that is wrong still has its digest, and the status says so")
def wrong():
    with Server("--response-bytes", 65) as server:
        right = digest_of(server.address, "--response-bytes", 65)
        got = digest_of(server.address, expect=3)
    assert got[:2] == right[:2], (got, right)
    assert "wrong_length (1): connection 0: a response body of 65 bytes, asked for 64" in got[2], got[2]


def listen_once(serve):
    """A listener on the loopback that hands its one connection to `serve`; its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        with listener, listener.accept()[0] as peer, contextlib.suppress(ConnectionError):
            serve(peer)

    threading.Thread(target=accept, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"


class Silent:
    """Takes requests and answers nothing."""

    def __init__(self):
        self.asked = threading.Event()
        self.address = listen_once(self.serve)

    def serve(self, peer):
        while peer.recv(65536):
            self.asked.set()


@test("without every answer there is no digest, and it is said how far it came")
def cut_short():
    def answer_two(peer):
        for id_ in range(2):
            peer.recv(65536)
            peer.sendall(struct.pack("<IQQI", 20 + 64, id_, 1, 3) + b"\x5a" * 64)
        peer.recv(65536)

    got = digest_of(listen_once(answer_two), expect=3)
    assert got[0] is None and "after 2 of 20 answers" in got[2], got
    got = digest_of(Silent().address, "--stall-timeout", "100ms", expect=3)
    assert got[0] is None and "stalled (20): nothing more was received after 0 of 20 answers" in got[2], got


@test("an interrupt ends a digest that waits")
def interrupted():
    server = Silent()
    with Process("load", "--connect", server.address, "--digest", 5, "--stall-timeout", "60s") as client:
        assert server.asked.wait(30)
        client.signal(signal.SIGINT)
        status, out, error = client.wait()
    assert status == 3 and not re.search("^digest ", out, re.M), (status, out)
    assert "interrupted by SIGINT" in error, error


if __name__ == "__main__":
    sys.exit(run_tests())
