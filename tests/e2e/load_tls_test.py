#!/usr/bin/python3
"""`weir load --tls` against servers that are not ours: nginx and openssl s_server. Speaks TAP.

usage: load_tls_test.py WEIR [SUBSTRING...]
"""

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from tests.e2e.nginx import Nginx  # noqa: E402: as above
from tests.e2e.processes import (  # noqa: E402
    DEADLINE_S, Server, Skip, free_port, judge_result, run, run_tests, stacks_over_loopback, test)

TLS = """listen 127.0.0.1:{{port}} ssl;
        ssl_certificate {cert}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;"""
GET = ("--protocol", "http1", "--request-bytes", 0, "--path", "/64")


class Certificate:
    """A self-signed certificate for 127.0.0.1 and its key."""

    def __enter__(self):
        if not shutil.which("openssl"):
            raise Skip("openssl is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.cert, self.key = f"{self.folder.name}/cert.pem", f"{self.folder.name}/key.pem"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                   "-keyout", self.key, "-out", self.cert, "-days", "2", "-subj", "/CN=weir.test",
                   "-addext", "subjectAltName=DNS:weir.test,IP:127.0.0.1"]
        subprocess.run(command, check=True, capture_output=True)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


def served(certificate):
    """nginx under TLS, and its address there as the one to be loaded."""
    nginx = Nginx(TLS.format(cert=certificate.cert, key=certificate.key))
    nginx.address = f"127.0.0.1:{nginx.tls_port}"
    return nginx


@test("nginx's files are verified under TLS 1.2 and 1.3, at depth 1 and pipelined, on each stack")
def versions():
    with Certificate() as certificate, served(certificate) as nginx:
        for stack in stacks_over_loopback():
            for version, depth in (("1.2", 8), ("1.3", 1)):
                args = (*GET, "--stack", stack, "--expect-file", nginx.file(64), "--depth", depth, "--tls-min", version,
                        "--tls-max", version, "--tls-ca", certificate.cert, "--connections", 8)
                result = load_tls(nginx, *args)
                judge_result(result, args)
                assert result["tls"]["version_max"] == version, result["tls"]
                negotiated = result["tls"]["negotiated"]
                assert sum(negotiated.values()) == 8, negotiated
                assert all(name.startswith(f"TLSv{version} ") for name in negotiated), negotiated


def load_tls(server, *args, expect=0):
    """A short load under TLS; its result, or what it said where another status than 0 is expected."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        status, out, error = run("load", "--connect", server.address, "--json", path, "--warmup", "20ms", "--duration",
                                 "100ms", "--tls", *args)
        assert status == expect, (status, out, error)
        if expect:
            return error
        with open(path, encoding="utf-8") as file:
            return json.load(file)


@test("a certificate that nobody vouches for is refused, unless the client is told to take any")
def untrusted():
    with Certificate() as certificate, served(certificate) as nginx:
        args = (*GET, "--expect-file", nginx.file(64), "--connections", 1)
        error = load_tls(nginx, *args, expect=3)
        assert "self-signed certificate" in error and "--tls-insecure" in error, error
        judge_result(load_tls(nginx, *args, "--tls-insecure"), args)
        error = load_tls(nginx, *args, "--tls-ca", certificate.cert, "--tls-name", "other.test", expect=3)
        assert "hostname mismatch" in error.lower(), error


@test("openssl s_server's answer is digested, under TLS 1.2 and 1.3")
def s_server():
    body = bytes(range(256)) * 70
    with Certificate() as certificate:
        with open(f"{certificate.folder.name}/answer", "wb") as file:
            file.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        for version in ("1.2", "1.3"):
            with SServer(certificate) as server:
                args = ("--request-bytes", 0, "--path", "/answer", "--response-bytes", len(body), "--tls", "--tls-ca",
                        certificate.cert, "--tls-min", version, "--tls-max", version)
                _, out, error = run("load", "--connect", server.address, "--digest", 1, "--protocol", "http1", *args)
                answer = b"200\n" + body + b"%d\n" % len(body)
                assert f"digest {hashlib.sha256(answer).hexdigest()} {len(answer)}\n" in out, (out, error)


class SServer:
    """openssl's own server of files that hold whole answers."""

    def __init__(self, certificate):
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self.process = subprocess.Popen(
            ["openssl", "s_server", "-accept", str(port), "-cert", certificate.cert, "-key", certificate.key, "-HTTP"],
            cwd=certificate.folder.name, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = port

    def __enter__(self):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                time.sleep(0.01)
        raise AssertionError("openssl s_server does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(DEADLINE_S)


MISMATCHES = [
    (("--tls-max", "1.3", "--tls-min", "1.3", "--tls-ciphersuites", "TLS_AES_128_GCM_SHA256"),
     ("--tls-min", "1.3", "--tls-ciphersuites", "TLS_AES_256_GCM_SHA384")),
    (("--tls-groups", "X25519"), ("--tls-groups", "P-256")),
]


@test("sides that have nothing in common are told of versions, ciphers and certificates, not of the server's room")
def nothing_in_common():
    for served_with, asked_with in MISMATCHES:
        with Server("--tls", *served_with) as server:
            error = load_tls(server, "--tls-insecure", "--connections", 1, *asked_with, expect=3)
            assert "no version, cipher or certificate in common" in error and "--conn-max" not in error, error
            server.end()


@test("a server that is full is asked for its room under TLS, too")
def full():
    with Server("--tls", "--conn-max", 2) as server:
        error = load_tls(server, "--tls-insecure", "--connections", 8, expect=3)
        assert "does the server's --conn-max allow so many?" in error, error


@test("a client under TLS of a plain port is asked whether both speak it")
def tls_to_plain():
    for protocol in ("framed", "http1"):
        with Server("--protocol", protocol) as server:
            error = load_tls(server, "--protocol", protocol, "--tls-insecure", "--connections", 1, expect=3)
            assert "do both sides speak TLS, or neither?" in error, (protocol, error)


if __name__ == "__main__":
    sys.exit(run_tests())
