#!/usr/bin/python3
"""Clients of `weir serve` that are broken or mean harm, over real sockets, plain and under TLS.

Usage: http_faults_test.py WEIR [WORD...]. Speaks TAP. Each fault has a server of its own. A witness, whose connection
is open all the while, is answered before and after it; at the end exactly the counters that the test names have moved.
"""

import contextlib
import functools
import http.client
import os
import random
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time

from processes import Server, Skip, run, run_tests, test

WAIT_S = 20
ASK = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
PLAIN = ("--protocol", "http1", "--conn-max", "512")
TLS = (*PLAIN, "--tls")
# What may move and is no fault; any other counter of these that moves has to be named.
FAULTS = ("errors", "cut_short", "timeouts_head", "timeouts_body", "timeouts_idle", "timeouts_send",
          "connections_refused", "connections_broken", "tls_handshakes_failed", "tls_handshakes_late",
          "tls_handshakes_refused", "tls_alerts_in", "tls_broken", "tls_truncated")


def tls_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Witness:
    """A client that does nothing wrong, and never connects a second time."""

    def __init__(self, server, tls):
        if tls:
            self.connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=WAIT_S,
                                                          context=tls_context())
        else:
            self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT_S)
        self.connection.connect()
        self.connection.auto_open = 0

    def ask(self):
        self.connection.request("GET", "/")
        answer = self.connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status

    def close(self):
        """Ends in good order."""
        if isinstance(self.connection.sock, ssl.SSLSocket):
            self.connection.sock = self.connection.sock.unwrap()
        self.connection.close()


def judge(final, moved):
    counters = {**final["details"], **final["server"]}
    wrong = {name: counters[name] for name in FAULTS if counters.get(name, 0) != moved.get(name, 0)}
    assert not wrong, f"{wrong}, expected {moved}"


def fault(name, *flags, **moved):
    """Registers a test: what its function does to a server moves these counters by so much, and harms nobody else."""
    def register(function):
        @test(name)
        @functools.wraps(function)
        def judged():
            with Server(*flags) as server:
                server.witness = Witness(server, "--tls" in flags)
                server.witness.ask()
                function(server)
                server.witness.ask()
                server.witness.close()
                judge(server.end(), moved)
        return function
    return register


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), WAIT_S)


def rest_of(connection):
    """All that comes up to the end, in whatever way it comes."""
    data = b""
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        while piece := connection.recv(65536):
            data += piece
    return data


def answer_to(server, data):
    """What a server answers to bytes, up to the end that it makes."""
    with connect(server) as connection:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(data)
        return rest_of(connection)


def codes(answer):
    """The codes of answers whose bodies have no status line."""
    return [int(piece[:3]) for piece in answer.split(b"HTTP/1.1 ")[1:]]


# --- requests ---


@fault("what is sound before garbage is answered first, what is behind it never", *PLAIN, errors=1)
def sound_then_garbage(server):
    answer = answer_to(server, ASK * 100 + b"GET / HTTP/1.1\r\nHost : a\r\n\r\n" + ASK)
    assert codes(answer) == [200] * 100 + [400], codes(answer)[-3:]
    assert b"Connection: close" in answer


@fault("a request glued to a body begins exactly behind it", *PLAIN, "--handler", "echo")
def glued_to_a_body(server):
    post = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
    chunks = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n0\r\nA: b\r\n\r\n"
    answer = answer_to(server, (post + chunks) * 50 + LAST)
    assert codes(answer) == [200] * 101, codes(answer)
    assert answer.count(b"\r\n\r\nhello") == 50 and answer.count(b"GET") == 50


@fault("a body longer than its length is the next request, and refused as such", *PLAIN, "--handler", "echo", errors=1)
def longer_than_its_length(server):
    answer = answer_to(server, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello, world" + LAST)
    assert codes(answer) in ([200, 400], [200, 501]), codes(answer)


@fault("a body shorter than its length is awaited for its time", *PLAIN, "--handler", "echo", "--body-timeout", "200ms",
       errors=1, timeouts_body=1)
def shorter_than_its_length(server):
    answer = answer_to(server, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\nhello")
    assert codes(answer) in ([408], []), answer


@fault("who expects 100 gets it, and 408 if nothing follows", *PLAIN, "--handler", "echo", "--body-timeout", "200ms",
       errors=1, timeouts_body=1)
def expects_and_is_silent(server):
    answer = answer_to(server, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    assert codes(answer) == [100, 408], answer


@fault("a head that is not ended gets 408, silence gets the end", *PLAIN, "--head-timeout", "200ms", errors=1, timeouts_head=2)
def head_is_not_ended(server):
    with connect(server) as silent:
        assert codes(answer_to(server, b"GET / HTTP/1.1\r\nHost: a\r\n")) == [408]
        assert rest_of(silent) == b""


@fault("300 idle connections are ended in silence after their time", *PLAIN, "--idle-timeout", "1s", timeouts_idle=300)
def idle_connections(server):
    def is_over(connection):
        try:
            return connection.recv(1) == b""
        except TimeoutError:
            return False


    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connect(server)) for _ in range(300)]
        for connection in connections:
            connection.sendall(ASK)
        for connection in connections:
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        for connection in connections:
            connection.settimeout(0.1)
            while not is_over(connection):
                server.witness.ask()


@fault("HEAD has no body, and the close and HTTP/1.0 are as asked for", *PLAIN)
def ends_as_asked(server):
    head = answer_to(server, b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + b"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert codes(head) == [200, 200] and head.endswith(b"\r\n\r\n") and head.count(b"\r\n\r\n") == 2, head
    assert codes(answer_to(server, LAST + ASK)) == [200]
    assert codes(answer_to(server, b"GET / HTTP/1.0\r\n\r\n" + ASK)) == [200]
    kept = answer_to(server, b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + LAST)
    assert codes(kept) == [200, 200] and b"Connection: keep-alive\r\n" in kept, kept


@test("304 has no body, and a matching request keeps its connection")
def not_modified_has_no_body():
    with tempfile.TemporaryDirectory(prefix="weir-faults-") as folder:
        with open(f"{folder}/file", "wb") as file:
            file.write(b"x" * 5000)
        with Server(*PLAIN, "--handler", f"static:{folder}") as server:
            witness = Witness(server, False)
            witness.connection.request("GET", "/file")
            answer = witness.connection.getresponse()
            tag = answer.getheader("ETag")
            assert answer.status == 200 and len(answer.read()) == 5000 and tag
            text = f"GET /file HTTP/1.1\r\nHost: a\r\nIf-None-Match: {tag}\r\n\r\n".encode()
            answer = answer_to(server, text * 3 + LAST.replace(b"/", b"/file", 1))
            assert codes(answer) == [304, 304, 304, 200] and answer.count(b"x" * 5000) == 1, answer[:2000]
            witness.close()
            judge(server.end(), {})


@fault("HTTP/2's preface is a method that is unknown", *PLAIN, errors=1)
def preface(server):
    answer = answer_to(server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00" + LAST)
    assert codes(answer) == [501], answer


@fault("an upgrade to HTTP/2 is not taken, and the request answered in HTTP/1.1", *PLAIN)
def upgrade(server):
    answer = answer_to(server, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                       b"HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n" + LAST)
    assert codes(answer) == [200, 200], answer


@fault("a TLS hello on the plain port gets 400", *PLAIN, errors=1)
def hello_in_plain(server):
    answer = answer_to(server, client_hello())
    assert codes(answer) == [400], answer


@fault("clients that are gone before their answers are told nobody", *PLAIN, "--handler", "respond:1MiB",
       cut_short=50, connections_broken=50)
def gone_before_the_answer(server):
    for _ in range(50):
        with connect(server) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(ASK * 20)
            assert connection.recv(1)


# --- TLS ---


def client_hello():
    """A whole ClientHello, as OpenSSL writes it."""
    out = ssl.MemoryBIO()
    session = tls_context().wrap_bio(ssl.MemoryBIO(), out)
    with contextlib.suppress(ssl.SSLWantReadError):
        session.do_handshake()
    return out.read()


@fault("plain HTTP on the TLS port is turned away at once", *TLS, tls_handshakes_failed=1)
def plain_to_tls(server):
    answer = answer_to(server, LAST)
    assert b"200 OK" not in answer and len(answer) < 100, answer


@fault("random bytes on the TLS port are turned away, at the latest with the handshake's time", *TLS,
       "--tls-handshake-timeout", "300ms", tls_handshakes_failed=100, tls_handshakes_late=50)
def random_to_tls(server):
    source = random.Random(7)
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connect(server)) for _ in range(100)]
        for number, connection in enumerate(connections):
            # Half begin like a record of a handshake, of more bytes than ever come.
            start = b"\x16\x03\x01\x02\x00" if number % 2 else b"\x00\x00"
            connection.sendall(start + source.randbytes(300))
        for connection in connections:
            assert len(rest_of(connection)) < 100


@fault("a hello byte by byte is cut off at the handshake's time", *TLS, "--tls-handshake-timeout", "300ms",
       tls_handshakes_failed=1, tls_handshakes_late=1)
def slow_hello(server):
    hello = client_hello()
    sent = 0
    with connect(server) as connection, contextlib.suppress(OSError):
        connection.settimeout(0.01)
        for sent in range(len(hello)):
            connection.sendall(hello[sent:sent + 1])
            with contextlib.suppress(TimeoutError):
                assert connection.recv(100) == b""
                break
    assert 0 < sent < len(hello) - 1, sent


@fault("a stream ended without close_notify within a body is a truncation", *TLS, "--handler", "echo",
       tls_truncated=1, cut_short=1, connections_broken=1)
def truncated(server):
    with connect(server) as plain:
        connection = tls_context().wrap_socket(plain)
        connection.sendall(ASK)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\nhello")
        os.close(connection.detach())


@fault("the wrong that one client does is not another's: 20 bad ones among 100 good ones", *TLS,
       tls_handshakes_failed=20)
def bad_among_good(server):
    with contextlib.ExitStack() as stack:
        good = []
        for number in range(100):
            if number % 5 == 0:
                bad = stack.enter_context(connect(server))
                bad.sendall(b"\x16\x03\x01\x00\x05hello" if number % 2 else LAST)
            plain = stack.enter_context(connect(server))
            good.append(stack.enter_context(tls_context().wrap_socket(plain)))
        for _ in range(3):
            for connection in good:
                connection.sendall(ASK)
            for connection in good:
                assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        for connection in good:
            connection.unwrap()


def s_client(server, *words):
    if not shutil.which("openssl"):
        raise Skip("there is no openssl; install openssl")
    done = subprocess.run(["openssl", "s_client", "-connect", server.address, *words], input=b"", capture_output=True,
                          check=False, timeout=WAIT_S)
    return (done.stdout + done.stderr).decode(errors="replace")


@fault("versions before 1.2 are refused with protocol_version", *TLS, tls_handshakes_failed=2)
def old_versions(server):
    for version in ("-tls1", "-tls1_1"):
        text = s_client(server, version, "-cipher", "ALL:@SECLEVEL=0")
        assert "alert protocol version" in text, text[-600:]


@fault("1.2 is refused with protocol_version where 1.3 is the least", *TLS, "--tls-min", "1.3", tls_handshakes_failed=1)
def version_below_the_least(server):
    text = s_client(server, "-tls1_2")
    assert "alert protocol version" in text, text[-600:]


@fault("no cipher in common is refused with handshake_failure", *TLS, tls_handshakes_failed=1)
def no_cipher(server):
    text = s_client(server, "-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256")
    assert "alert handshake failure" in text, text[-600:]


@fault("no protocol in common is refused with no_application_protocol", *TLS, tls_handshakes_failed=1)
def no_protocol(server):
    text = s_client(server, "-alpn", "h2")
    assert "alert number 120" in text, text[-600:]


@fault("who does not trust the server says so, and is counted", *TLS, tls_handshakes_failed=1, tls_alerts_in=1)
def distrust(server):
    text = s_client(server, "-verify_return_error", "-tls1_2")
    assert "verify error" in text, text[-600:]


@fault("a flood of connections that never shake hands leaves room for who does", *TLS, "--tls-handshakes-max", "8",
       "--tls-handshake-timeout", "500ms", tls_handshakes_refused=92, tls_handshakes_failed=8, tls_handshakes_late=8)
def handshake_flood(server):
    with contextlib.ExitStack() as stack:
        for number in range(100):
            with contextlib.suppress(ConnectionResetError):
                connection = stack.enter_context(connect(server))
                if number >= 8:
                    assert connection.recv(1) == b""
        time.sleep(0.6)
        later = Witness(server, True)
        later.ask()
        later.close()


# --- what a server does not start with ---


CA = """
[ca]
default_ca = own
[own]
database = %(folder)s/index
serial = %(folder)s/serial
new_certs_dir = %(folder)s
default_md = sha256
policy = any
[any]
commonName = supplied
"""


def openssl(*words):
    if not shutil.which("openssl"):
        raise Skip("there is no openssl; install openssl")
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def make_pair(folder, name, *words):
    """A key, and a certificate or what `words` make of it."""
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=a",
            "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.crt", *words)
    os.chmod(f"{folder}/{name}.key", 0o600)


def make_expired(folder):
    """The same, of 2020: only `openssl ca` dates a certificate back."""
    make_pair(folder, "old")
    for name, text in ("ca.cnf", CA % {"folder": folder}), ("index", ""), ("serial", "01\n"):
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    openssl("ca", "-batch", "-selfsign", "-notext", "-config", f"{folder}/ca.cnf", "-keyfile", f"{folder}/old.key",
            "-in", f"{folder}/old.crt", "-out", f"{folder}/old.crt", "-startdate", "20200101000000Z",
            "-enddate", "20200102000000Z")


def expect_refusal(certificate, key, *parts):
    status, _, error = run("serve", *TLS, "--check", "--tls-cert", certificate, "--tls-key", key)
    assert status == 4, (status, error)
    assert all(part in error for part in parts), (parts, error)
    assert len(error.splitlines()) == 1, error


@test("a certificate or key that will not do is refused at the start with its file, the reason and a remedy")
def refused_at_start():
    with tempfile.TemporaryDirectory(prefix="weir-faults-") as folder:
        make_pair(folder, "good", "-x509")
        make_pair(folder, "other", "-x509")
        make_expired(folder)
        good, key, old = f"{folder}/good.crt", f"{folder}/good.key", f"{folder}/old.crt"
        expect_refusal(f"{folder}/none.crt", key, f"{folder}/none.crt", "No such file", "give a PEM file")
        expect_refusal(good, f"{folder}/none.key", f"{folder}/none.key", "No such file", "give a PEM file")
        expect_refusal(good, f"{folder}/other.key", f"{folder}/other.key", "does not belong", "give the pair")
        expect_refusal(old, f"{folder}/old.key", old, "has expired", "renew it")
        os.chmod(key, 0o644)
        expect_refusal(good, key, key, "mode 0644", "chmod 600")


if __name__ == "__main__":
    sys.exit(run_tests())
