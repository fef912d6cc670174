#!/usr/bin/python3
"""Foreign clients of weir's HTTP server, plain and under TLS, over every stack: curl, wrk, h2load, openssl, Python.

Usage: http_peers_test.py WEIR [WORD...]. Speaks TAP. Runs in a network namespace of its own, where our own TCP is
reached across a tap device.
"""

import contextlib
import functools
import hashlib
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile

INSIDE = "WEIR_HTTP_PEERS_INSIDE"
KIB = 1024
SIZES = [0, 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 64 * KIB + 1, 100 * KIB, 50 * KIB * KIB]
TAP_SERVER, TAP_KERNEL = "10.88.8.2", "10.88.8.1"
DEADLINE_S = 60


def enter_namespace():
    """Begins anew in a namespace of this process's own; returns once there, or says why there is none."""
    if os.environ.get(INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"):
        print("1..0 # SKIP a network namespace takes root, unshare (util-linux) and ip (iproute2)")
        sys.exit(0)
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])


enter_namespace()
# pylint: disable=wrong-import-position
from processes import Server, Skip, free_port, run, run_tests, test  # noqa: E402


def need(tool, package):
    if not shutil.which(tool):
        raise Skip(f"there is no {tool}; install {package}")


def content(size):
    """Bytes without a period that a chunk could hide."""
    piece = hashlib.sha256(str(size).encode()).digest()
    return (piece * (size // len(piece) + 1))[:size]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def ground():
    """A folder with the files to be served; removed at the end."""
    folder = tempfile.mkdtemp(prefix="weir-http-")
    os.makedirs(f"{folder}/www/files")
    for size in SIZES:
        with open(f"{folder}/www/files/{size}", "wb") as file:
            file.write(content(size))
    routes = [
        {"path": "/files", "match": "prefix", "handler": f"static:{folder}/www"},
        {"path": "/echo", "match": "exact", "handler": "echo"},
        {"path": "/", "match": "exact", "handler": "respond:64"},
    ]
    with open(f"{folder}/server.json", "w", encoding="utf-8") as file:
        json.dump({"protocol": "http1", "body_max": "64MiB", "routes": routes}, file)
    return folder


class Place:
    """A stack, plain or under TLS, with its server while the tests of it run."""

    def __init__(self, stack, tls):
        self.stack, self.tls, self.server = stack, tls, None
        self.ip = TAP_SERVER if stack == "dpdk@tap" else "127.0.0.1"
        self.title = f"{stack}, {'TLS' if tls else 'plain'}"

    def flags(self):
        flags = ["--config", f"{ground()}/server.json", "--delivery", "coalesce"]
        flags += ["--tls"] if self.tls else []
        if self.stack != "dpdk@tap":
            return ["--stack", self.stack, *flags]
        interface = f"whttp{os.getpid() % 100000}"
        return ["--stack", f"dpdk@tap:{interface}", "--hugepages", "no", "--address", f"{TAP_SERVER}/24",
                "--wait", "block", *flags]

    def open(self):
        """The running server; the first test of a place starts it."""
        if self.server:
            return self.server
        if self.stack == "dpdk@tap" and not os.path.exists("/dev/net/tun"):
            raise Skip("/dev/net/tun is missing")
        status, _, error = run("serve", *self.flags(), "--listen", f"{self.ip}:{free_port()}", "--check")
        if status != 0 and ("absent" in error or "lacks" in error):
            raise Skip(error.strip())
        self.server = Server(*self.flags(), address=f"{self.ip}:{free_port()}")
        if self.stack == "dpdk@tap":
            interface = f"whttp{os.getpid() % 100000}"
            subprocess.run(["ip", "address", "add", f"{TAP_KERNEL}/24", "dev", interface], check=True)
            subprocess.run(["ip", "link", "set", interface, "up"], check=True)
        return self.server

    def url(self, path):
        return f"{'https' if self.tls else 'http'}://{self.open().address}{path}"

    def port(self):
        return int(self.open().address.rsplit(":", 1)[1])

    def close(self):
        """Ends the server in good order, which judges its accounts too."""
        server, self.server = self.server, None
        if not server:
            raise Skip("no server was started")
        with server:
            final = server.end()
        assert final["server"]["requests"] == final["server"]["responses"] > 0, final["server"]
        return final


def tool(*command, stdin=None):
    """Runs a foreign client to its end; what it printed."""
    done = subprocess.run(command, capture_output=True, check=False, timeout=DEADLINE_S, input=stdin)
    assert done.returncode == 0, (command[:4], done.returncode, done.stderr.decode(errors="replace")[-400:])
    return done.stdout


def curl_gets_files(place):
    need("curl", "curl")
    with tempfile.TemporaryDirectory() as folder:
        words = [word for size in SIZES for word in ("-o", f"{folder}/{size}", place.url(f"/files/{size}"))]
        tool("curl", "-sS", "-k", "--fail", *words)
        for size in SIZES:
            assert digest(f"{folder}/{size}") == digest(f"{ground()}/www/files/{size}"), f"{size} bytes"


def curl_is_echoed(place):
    """Each size with Content-Length (and Expect where curl thinks it due), then in chunks."""
    need("curl", "curl")
    with tempfile.TemporaryDirectory() as folder:
        for extra in ([], ["-H", "Transfer-Encoding: chunked"]):
            for size in SIZES:
                path = f"{ground()}/www/files/{size}"
                tool("curl", "-sS", "-k", "--fail", *extra, "--data-binary", f"@{path}", "-o", f"{folder}/out",
                     place.url("/echo"))
                assert digest(f"{folder}/out") == digest(path), (size, extra)


def wrk_finds_no_error(place):
    need("wrk", "wrk")
    out = tool("wrk", "-t1", "-c8", "-d1s", place.url("/")).decode()
    assert "Socket errors" not in out and "Non-2xx" not in out and " 0 requests" not in out, out


def h2load_pipelines(place):
    need("h2load", "nghttp2-client")
    out = tool("h2load", "--h1", "-n", "4000", "-c", "8", "-m", "16", place.url("/")).decode()
    assert "4000 succeeded, 0 failed, 0 errored, 0 timeout" in out, out


def python_speaks(place):
    """Keep-alive over one connection: HEAD, GET, POST, a range, a 404, and the end that was asked for."""
    context = ssl._create_unverified_context()  # pylint: disable=protected-access
    port = place.port()
    connection = (http.client.HTTPSConnection(place.ip, port, timeout=DEADLINE_S, context=context) if place.tls
                  else http.client.HTTPConnection(place.ip, port, timeout=DEADLINE_S))

    def ask(method, path, body=None, headers=None):
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer

    with contextlib.closing(connection):
        status, body, answer = ask("HEAD", "/files/102400")
        assert (status, body, answer.getheader("Content-Length")) == (200, b"", "102400")
        assert ask("GET", "/")[:2] == (200, b"Z" * 64)
        assert ask("POST", "/echo", b"abc")[:2] == (200, b"abc")
        assert ask("GET", "/files/102400", headers={"Range": "bytes=5-9"})[:2] == (206, content(102400)[5:10])
        assert ask("GET", "/nowhere")[0] == 404
        assert connection.sock is not None, "a 404 ended the connection"
        status, _, answer = ask("GET", "/", headers={"Connection": "close"})
        assert status == 200 and answer.getheader("Connection") == "close"


def pipelined_is_answered_in_order(place):
    """1,000 requests in one go and in pieces cut anywhere."""
    requests = [f"GET /files/{size} HTTP/1.1\r\nHost: x\r\n\r\n" for size in (1, 0, 16384, 1) * 250]
    text = "".join(requests[:-1]).encode() + requests[-1].replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").encode()
    wanted = [content(size) for size in (1, 0, 16384, 1) * 250]
    with socket.create_connection((place.ip, place.port()), DEADLINE_S) as plain:
        context = ssl._create_unverified_context()  # pylint: disable=protected-access
        with context.wrap_socket(plain) if place.tls else plain as connection:
            answers = connection.makefile("rb")
            sent = 0
            for number, cut in enumerate(range(1, 10 ** 6)):
                step = (number * 7919) % 700 + 1 if number % 50 else 20000
                piece = text[sent:sent + step]
                if not piece:
                    break
                connection.sendall(piece)
                sent += len(piece)
                if number % 10 == 0:
                    drain(answers, wanted, 1, cut)
            drain(answers, wanted, len(wanted), None)
            assert answers.read() == b"", "bytes behind the last answer"


def drain(answers, wanted, count, _):
    """Reads at most `count` of the answers still wanted."""
    for _ in range(min(count, len(wanted))):
        assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
        length = None
        for line in iter(answers.readline, b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert answers.read(length) == wanted.pop(0)


def s_client_speaks(place):
    need("openssl", "openssl")
    request = b"GET /files/16385 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    for version in ("-tls1_2", "-tls1_3"):
        out = tool("openssl", "s_client", version, "-quiet", "-ign_eof", "-connect", place.open().address,
                   "-alpn", "http/1.1", stdin=request)
        head, _, body = out.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK") and body == content(16385), (version, head[:60], len(body))


def s_client_resumes(place):
    need("openssl", "openssl")
    with tempfile.TemporaryDirectory() as folder:
        session = f"{folder}/session"
        request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        command = ["openssl", "s_client", "-tls1_2", "-ign_eof", "-connect", place.open().address]
        tool(*command, "-sess_out", session, stdin=request)
        out = tool(*command, "-sess_in", session, stdin=request)
        assert b"Reused, TLSv1.2" in out, out[-400:]


def register(place):
    """The tests of one place; the last of them ends its server."""
    tests = [
        ("curl gets files of every size", curl_gets_files),
        ("curl's bodies of every size are echoed, with their length and in chunks", curl_is_echoed),
        ("wrk finds no error", wrk_finds_no_error),
        ("h2load pipelines without an error", h2load_pipelines),
        ("Python's client keeps its connection through HEAD, ranges and refusals", python_speaks),
        ("1,000 pipelined requests, cut anywhere, are answered in order", pipelined_is_answered_in_order),
    ]
    if place.tls:
        tests += [("openssl s_client speaks 1.2 and 1.3", s_client_speaks),
                  ("openssl s_client resumes a session", s_client_resumes)]
    tests.append(("the server ends in good order and its accounts agree", Place.close))
    for name, function in tests:
        test(f"{place.title}: {name}")(functools.partial(function, place))


def main():
    for stack in ("epoll", "uring", "dpdk@tap"):
        for tls in (False, True):
            register(Place(stack, tls))
    status = run_tests()
    shutil.rmtree(ground(), ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
