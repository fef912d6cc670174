#!/usr/bin/python3
"""Large files from `weir serve`, sent by the kernel where the stack can, over real sockets; and a head whose body waits.

Usage: http_files_test.py WEIR [WORD...]. Speaks TAP. Every answer is compared with the file byte for byte.
"""

import contextlib
import hashlib
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from processes import Server, Skip, run_tests, stacks_over_loopback, test

LARGE_BYTES = 20 * 1000 * 1000
KEPT_BYTES = 1000
SHARE_BYTES = 256 * 1024  # of a turn, for one connection
WAIT_S = 20
CONTENT = hashlib.shake_256(b"weir").digest(1 << 16) * (LARGE_BYTES // (1 << 16) + 1)


@contextlib.contextmanager
def folder_of_files():
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("large", LARGE_BYTES), ("small", KEPT_BYTES)):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(CONTENT[:size])
        yield folder


def serve(folder, stack, *flags):
    return Server("--stack", stack, "--protocol", "http1", "--handler", f"static:{folder}", *flags)


def get(server, path, tls=False, **headers):
    if tls:
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=WAIT_S,
                                                 context=ssl._create_unverified_context())
    else:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT_S)
    connection.request("GET", path, headers={name.capitalize(): value for name, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def sends_files(server):
    return "sends_files" in server.ready["capabilities"]


@test("a large file is the same from every stack, and the kernel sends it where the stack says so")
def from_every_stack():
    with folder_of_files() as folder:
        for stack in stacks_over_loopback():
            with serve(folder, stack) as server:
                assert get(server, "/large") == (200, CONTENT[:LARGE_BYTES]), stack
                final = server.end()
                sent, write = final["server"]["file_bytes_sent"], final["transport"]["largest_write_bytes"]
                assert sent == (LARGE_BYTES if sends_files(server) else 0), (stack, sent)
                assert write <= SHARE_BYTES, (stack, write)


@test("with sendfile=off the same bytes are read and sent from memory")
def switched_off():
    with folder_of_files() as folder, serve(folder, "epoll@loopback,sendfile=off") as server:
        assert not sends_files(server)
        assert get(server, "/large") == (200, CONTENT[:LARGE_BYTES])
        counters = server.end()["server"]
        assert (counters["file_bytes_sent"], counters["files_streamed"]) == (0, 1), counters


@test("under TLS a file's bytes are sealed, whatever the stack below could send")
def under_tls():
    with folder_of_files() as folder, serve(folder, "epoll", "--tls") as server:
        assert not sends_files(server)
        assert get(server, "/large", tls=True) == (200, CONTENT[:LARGE_BYTES])
        assert server.end()["server"]["file_bytes_sent"] == 0


def await_tracer(pid, tracer):
    """Until a process is traced; a host may forbid that."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            if "TracerPid:\t0\n" not in file.read():
                return
        if tracer.poll() is not None:
            raise Skip("strace cannot attach: " + tracer.stderr.read().decode().strip())
        time.sleep(0.01)
    tracer.kill()
    raise AssertionError("strace did not attach in time")


def get_with_failing_sendfile(folder, rule):
    """The large file from a server whose calls of sendfile fail by the rule, and its counters."""
    with serve(folder, "epoll") as server:
        with subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=sendfile", "-e", f"inject=sendfile:{rule}", "-p",
                               str(server.ready["pid"])], stderr=subprocess.PIPE) as tracer:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT_S)
            await_tracer(server.ready["pid"], tracer)
            connection.request("GET", "/large")
            body = connection.getresponse().read()
            connection.close()
            tracer.terminate()
            tracer.communicate()
        return body, server.end()["server"]


@test("where the call fails, at first or later, the rest is read and sent from memory")
def call_fails():
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    with folder_of_files() as folder:
        for rule, some in (("error=EINVAL", False), ("error=ENOSYS", False), ("error=EIO:when=3+", True)):
            body, counters = get_with_failing_sendfile(folder, rule)
            assert body == CONTENT[:LARGE_BYTES], (rule, len(body))
            assert (counters["file_bytes_sent"] > 0) == some, (rule, counters)


@test("a range of a large file is that range, and only it is sent")
def ranges():
    with folder_of_files() as folder, serve(folder, "epoll") as server:
        assert get(server, "/large", range="bytes=7000000-7099999") == (206, CONTENT[7000000:7100000])
        assert get(server, "/large", range="bytes=-1") == (206, CONTENT[LARGE_BYTES - 1:LARGE_BYTES])
        assert server.end()["server"]["file_bytes_sent"] == 100001


@test("files between other answers keep their order in one pipeline")
def pipelined():
    ask = b"".join(b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n" % name for name in (b"small", b"large", b"small", b"none", b"large"))
    with folder_of_files() as folder, serve(folder, "epoll", "--delivery", "coalesce") as server:
        with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as connection, connection.makefile("rb") as stream:
            connection.sendall(ask)
            sizes = []
            for _ in range(5):
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += stream.readline()
                size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                body = stream.read(size)
                assert body == CONTENT[:size] or b" 404 " in head, (head, len(body))
                sizes.append(size)
        assert sizes[:3] == [KEPT_BYTES, LARGE_BYTES, KEPT_BYTES] and sizes[4] == LARGE_BYTES, sizes
        assert server.end()["server"]["file_bytes_sent"] == 2 * LARGE_BYTES


@test("a file that shrinks while it is sent breaks its own connection and no other")
def shrinks():
    with folder_of_files() as folder, serve(folder, "epoll") as server:
        with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as connection:
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
            os.truncate(os.path.join(folder, "large"), 1000)
            received, broken = 100, False
            try:
                while piece := connection.recv(1 << 20):
                    received += len(piece)
            except ConnectionResetError:
                broken = True
        assert broken and received < LARGE_BYTES, (broken, received)
        assert get(server, "/small") == (200, CONTENT[:KEPT_BYTES])
        server.end()


@test("a client that does not read a file holds it up for nobody else, and is cut off in time")
def stalled_reader():
    with folder_of_files() as folder, serve(folder, "epoll", "--send-timeout", "1s") as server:
        with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as connection:
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            end = time.monotonic() + 2.5
            while time.monotonic() < end:
                assert get(server, "/small")[0] == 200
                time.sleep(0.1)
            received = 0
            with contextlib.suppress(ConnectionResetError):
                while piece := connection.recv(1 << 20):
                    received += len(piece)
            assert received < LARGE_BYTES, received
        assert server.end()["server"]["timeouts_send"] == 1


class SlowUpstream:
    """Answers each request with a head, and with its body only once it is told to."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.body_now = threading.Event()
        self.thread = threading.Thread(target=self.answer, daemon=True)
        self.thread.start()

    def answer(self):
        connection, _ = self.listener.accept()
        with connection:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                piece = connection.recv(65536)
                if not piece:
                    return
                head += piece
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            self.body_now.wait(WAIT_S)
            connection.sendall(b"data: 1\n\n")


@test("a proxied head reaches the client while its body is still awaited")
def head_first():
    upstream = SlowUpstream()
    with Server("--protocol", "http1", "--handler", f"proxy:{upstream.address}") as server:
        with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as connection, connection.makefile("rb") as stream:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = stream.readline()
                assert line, head
                head += line
            assert head.startswith(b"HTTP/1.1 200") and b"text/event-stream" in head, head
            assert not upstream.body_now.is_set()
            upstream.body_now.set()
            assert stream.readline() == b"0009\r\n" and stream.read(9) == b"data: 1\n\n"
        server.end()


if __name__ == "__main__":
    sys.exit(run_tests())
