#!/usr/bin/python3
"""`weir load --protocol http1` against servers that are not ours: nginx and Python's http.server. Speaks TAP.

usage: load_http1_test.py WEIR [SUBSTRING...]
"""

import hashlib
import http.server
import itertools
import os
import re
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from tests.e2e.nginx import SIZES, Nginx  # noqa: E402: as above
from tests.e2e.processes import (  # noqa: E402
    Process, Server, free_port, judge_result, load, run, run_tests, stacks_over_loopback, test)

HTTP = ("--protocol", "http1")
GET = (*HTTP, "--request-bytes", 0)
CONFIG = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "configs", "http.json")


class Answerer(http.server.BaseHTTPRequestHandler):
    """Answers with 1000 bytes of 0x5A, or with the request's body; under /chunked in chunks, behind an interim answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self):
        self.server.asked.add((self.command, self.path, self.headers["Host"]))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"\x5a" * 1000
        if self.path == "/chunked":
            self.send_response_only(103)
            self.send_header("Link", "</style.css>; rel=preload")
            self.end_headers()
        self.send_response(200)
        if self.path != "/chunked":
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(body), 300):
            self.wfile.write(b"%x;at=%d\r\n%b\r\n" % (len(body[at:at + 300]), at, body[at:at + 300]))
        self.wfile.write(b"0\r\nX-Trailer: yes\r\n\r\n")

    do_GET = do_POST = do_PUT = answer  # noqa: N815: as http.server has it

    def log_message(self, *_):
        pass


class Python(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answerer)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        self.asked = set()

    def handle_error(self, *_):
        """A client that goes away is none."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


def digest_of(server, *args):
    status, out, error = run("load", "--connect", server.address, "--digest", 20, *args)
    assert status == 0, (status, out, error)
    return re.search(r"^digest ([0-9a-f]{64}) (\d+)$", out, re.M).groups()


def hash_of(body, count=20):
    answer = b"200\n" + body + b"%d\n" % len(body)
    return hashlib.sha256(answer * count).hexdigest(), str(len(answer) * count)


@test("every file of nginx is verified to its last byte, at depth 1 and pipelined, on each stack")
def files():
    ways = itertools.cycle(itertools.product((1, 8), stacks_over_loopback()))
    with Nginx() as nginx:
        for size, (depth, stack) in zip(SIZES, ways):
            args = (*GET, "--stack", stack, "--path", f"/{size}", "--expect-file", nginx.file(size),
                    "--depth", depth, "--duration", "50ms", "--warmup", "10ms")
            judge_result(load(nginx, *args)[0], args)


@test("a file of 50 MiB is verified to its last byte")
def large():
    size = 50 * 1024 * 1024
    with Nginx() as nginx:
        nginx.add(size)
        with open(nginx.file(size), "rb") as file:
            body = file.read()
        expected = f"{nginx.folder.name}/expected"
        args = ("load", "--connect", nginx.address, "--digest", 2, *GET, "--path", f"/{size}", "--expect-file", expected)
        for last, wanted in ((body[-1], 0), (body[-1] ^ 1, 3)):
            with open(expected, "wb") as file:
                file.write(body[:-1] + bytes([last]))
            status, out, error = run(*args)
            assert status == wanted and "digest %s %s\n" % hash_of(body, 2) in out, (status, out, error)
        assert f"wrong_bytes (1): connection 0: byte {size - 1} of" in error, error


@test("nginx answers over IPv6 and a Unix socket, too")
def families():
    with Nginx() as nginx:
        for address in (f"[::1]:{nginx.port}", f"unix:{nginx.folder.name}/socket"):
            nginx.address = address
            args = (*GET, "--path", "/64", "--expect-file", nginx.file(64))
            judge_result(load(nginx, *args)[0], args)


@test("heads are scanned as fast as this CPU can, as a server does, and the result says how")
def scan():
    with Server(*HTTP) as server:
        result, _ = load(server, *HTTP)
        assert result["http"] == {"scan": server.ready["http"]["scan"]}, result["http"]
    with Server() as server:
        result, _ = load(server)
        assert result["http"] is None, result["http"]


@test("what HEAD is answered with ends with its head")
def head():
    with Nginx() as nginx:
        args = (*GET, "--method", "HEAD", "--path", "/64", "--response-bytes", 64, "--depth", 8)
        judge_result(load(nginx, *args)[0], args)


@test("what nginx answers wrongly is told in its words")
def wrong():
    with Nginx() as nginx:
        cases = [
            ("/none", 64, "wrong_status (1): connection 0: the server says 404 Not Found: <html>"),
            ("/64", 1, "wrong_length (1): connection 0: a response body of 64 bytes, asked for 1"),
            ("/16383", 16385, "wrong_length (1): connection 0: a response body of 16383 bytes, asked for 16385"),
            ("/bounded/64", 64, "wrong_head (1): connection 0: a response behind which the server closes"),
        ]
        for path, size, says in cases:
            args = ("--path", path, "--expect-file", nginx.file(size), "--connections", 1)
            error = load(nginx, *GET, *args, expect=3)[1]
            assert says in error, (says, error)
        args = ("--path", "/none", "--expect-status", 404, "--connections", 1, "--expect-file", nginx.file(64))
        assert "wrong_length" in load(nginx, *GET, *args, expect=3)[1]


@test("http.server is asked for what was said, with and without a body")
def requests():
    with Python() as python:
        args = (*HTTP, "--path", "/some/where?x=y", "--response-bytes", 1000)
        judge_result(load(python, *args, "--request-bytes", 0)[0], args)
        judge_result(load(python, *args, "--handler", "echo", "--host", "example.org", "--depth", 4)[0], args)
        assert python.asked == {("GET", "/some/where?x=y", python.address),
                                ("POST", "/some/where?x=y", "example.org")}, python.asked


@test("chunks of http.server are put together, and digested as the body that they are")
def chunked():
    with Python() as python:
        args = (*GET, "--response-bytes", 1000, "--path")
        judge_result(load(python, *args, "/chunked", "--depth", 4)[0], args)
        assert digest_of(python, *args, "/chunked") == digest_of(python, *args, "/", "--depth", 8) == hash_of(b"\x5a" * 1000)
        error = load(python, *args, "/chunked", "--response-bytes", 999, "--connections", 1, expect=3)[1]
        assert "wrong_length (1): connection" in error and "asked for 999" in error, error


@test("a file to be expected that is absent or too large is refused before anything is sent")
def refused():
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(64 * 1024 * 1024 + 1)
        for path, says in ((file.name, "67108864 bytes"), (f"{file.name}.none", "No such file")):
            status, _, error = run("load", *GET, "--expect-file", path)
            assert status == 4 and path in error and says in error, (status, error)


@test("another protocol than the server's is told, either way")
def mixed_up():
    with Server() as framed, Server("--protocol", "http1") as http1:
        error = load(framed, *HTTP, "--connections", 1, expect=3)[1]
        assert "first line is malformed; does the server speak HTTP/1.1 there?" in error, error
        error = load(http1, "--connections", 1, expect=3)[1]
        assert "exceeds the limit; do server and client have the same --protocol" in error, error


@test("an answer of HTTP that is wrong still has its digest")
def wrong_digest():
    with Nginx() as nginx:
        with open(nginx.file(64), "rb") as file:
            right = hash_of(file.read())
        status, out, error = run("load", "--connect", nginx.address, "--digest", 20, *GET, "--path", "/64")
        assert status == 3 and f"digest {right[0]} {right[1]}\n" in out, (status, out)
        assert "wrong_bytes (1)" in error, error


@test("how long one request is stands behind the configuration, as a bare server has to be told it")
def request_length():
    for args in ((*GET, "--path", "/some/where"), (*HTTP, "--request-bytes", 77), ("--request-bytes", 77)):
        _, out, _ = run("load", "--connect", f"127.0.0.1:{free_port()}", "--connections", 1, *args)
        own = re.search(r"^request of (\d+) bytes \(a bare server: --request-bytes (\d+)\)$", out, re.M)
        assert own, out
    assert own.groups() == ("101", "77"), own.groups()  # a frame has 24 bytes besides


@test("a bare server that is told that length answers, and one told another is named when nothing comes")
def bare_length():
    for args in (GET, ()):
        port = free_port()
        connect = f"127.0.0.1:{port}"
        _, out, _ = run("load", "--connect", connect, "--connections", 1, *args)
        own = int(re.search(r"--request-bytes (\d+)\)", out)[1])
        for wrong in (0, 1):
            with Server("--bare", *args[:2], "--request-bytes", own + wrong, address=connect) as server:
                error = load(server, *args, "--stall-timeout", "300ms", "--connections", 1, expect=3 * wrong)[1]
                assert ("or a bare one with another --request-bytes" in error) == bool(wrong), error


@test("a server that is told to end during a load is asked about that first")
def told_to_end():
    for protocol in ("http1", "framed"):
        with Server("--protocol", protocol) as server:
            with Process("load", "--protocol", protocol, "--connect", server.address, "--warmup", "0s", "--duration", "20s",
                         "--connections", 4, "--hold") as client:
                client.await_line("phase connected")
                client.signal(signal.SIGUSR1)
                time.sleep(0.3)
                server.end()
                status, _, error = client.wait()
        assert status == 3 and re.search(r"; was (it told to end, or|the server told to end\?)", error), (status, error)
        assert "HTTP/1.0" not in error, error


@test("a path that does not begin with a slash is told so, whatever the client follows")
def path():
    for args in (HTTP, ("--from-config", CONFIG)):
        status, _, error = run("load", *args, "--path", "nope")
        assert status == 4 and "--path 'nope' does not begin with '/'" in error, (status, error)


if __name__ == "__main__":
    sys.exit(run_tests())
