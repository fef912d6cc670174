#!/usr/bin/python3
"""weir's reading of HTTP/1.1 against that of nginx, haproxy, node and python3-h11, on a generated grid of bytes.

Usage: http_differential_test.py WEIR [WORD...]; with --list it prints every difference as Markdown in place of tests.

Each case is one request, mostly malformed, with another behind it that asks for the end. What a server makes of the
two is the list of the codes that it answers. weir may refuse what others take; it may never take what one of them
refuses, nor see other requests than they do. Peers that are not installed are left out, and said so.
"""

import asyncio
import contextlib
import functools
import re
import shutil
import subprocess
import sys
import tempfile

LIST = "--list" in sys.argv
if LIST:
    sys.argv.remove("--list")
# pylint: disable=wrong-import-position
from processes import Server, Skip, free_port, run_tests, test  # noqa: E402

try:
    import h11
except ImportError:
    h11 = None

IDLE_S = 0.25  # after which a server that answers nothing waits for more
AT_ONCE = 24
LAST = b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
NGINX = """
daemon off; master_process off; pid %(folder)s/nginx.pid; error_log %(folder)s/error.log;
events { worker_connections 512; }
http {
  access_log off; client_body_temp_path %(folder)s; proxy_temp_path %(folder)s; fastcgi_temp_path %(folder)s;
  uwsgi_temp_path %(folder)s; scgi_temp_path %(folder)s;
  server { listen 127.0.0.1:%(port)d; location / { return 200 "ok"; } }
}
"""
HAPROXY = """
global
  maxconn 512
defaults
  mode http
  timeout client 5s
  timeout http-request 5s
  timeout server 5s
  timeout connect 5s
frontend f
  bind 127.0.0.1:%(port)d
  http-request wait-for-body time 2s if { req.body_size gt 0 } or { req.hdr(transfer-encoding) -m found }
  http-request return status 200 content-type text/plain string ok
"""
NODE = """
const http = require('http');
http.createServer((request, response) => {
  request.on('data', () => {});
  request.on('end', () => response.end('ok'));
}).listen(%(port)d, '127.0.0.1', () => console.log('ready'));
"""


# --- the grid ---


def post(fields, body=b"hello"):
    return b"POST / HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n\r\n" + body


def chunked(body):
    return post(b"Transfer-Encoding: chunked", body)


def lengths():
    """Content-Length in every form that was ever misread."""
    values = [b"5", b"05", b"005", b"+5", b"-5", b"-1", b"0x5", b"5_", b"1_0", b"5 5", b"5,5", b"5, 5", b"5;5", b"",
              b" ", b"5\t", b"\t5", b"5\x0b", b"\x0b5", b"5\x00", b"5a", b"a5", b"5.0", b"5e0", b"\xb2",
              b"18446744073709551616", b"18446744073709551621", b"9223372036854775808", b"4294967301",
              b"99999999999999999999999999", b'"5"', b"'5'", b"five", b"5\r\n", b"5\r\n "]
    for value in values:
        yield "length", post(b"Content-Length: " + value)
    for fields in (b"Content-Length: 5\r\nContent-Length: 5", b"Content-Length: 5\r\nContent-Length: 6",
                   b"Content-Length: 6\r\nContent-Length: 5", b"Content-Length: 5\r\ncontent-length: 0",
                   b"Content-Length : 5", b" Content-Length: 5", b"Content-Length\t: 5", b"Content-Length:5",
                   b"Content_Length: 5", b"Content-Length\x00: 5", b"Content-Length: 5\r\nX: y\r\n\tz",
                   b"X: y\r\n Content-Length: 5", b"\x0bContent-Length: 5", b"Content-Length\x0b: 5"):
        yield "length", post(fields)


def codings():
    """Transfer-Encoding likewise, alone and beside a length."""
    body = b"5\r\nhello\r\n0\r\n\r\n"
    values = [b"chunked", b"Chunked", b"CHUNKED", b"xchunked", b"chunkedx", b"chunked ", b" chunked", b"chunked\t",
              b"chunked\x0b", b"\x0bchunked", b"chunked\x00", b"chunked,", b",chunked", b"chunked, chunked",
              b"chunked,chunked", b"identity", b"gzip", b"gzip, chunked", b"chunked, gzip", b"chunked, identity",
              b"identity, chunked", b"chunked;q=1", b"chunked;a", b'"chunked"', b"'chunked'", b"chun ked", b"",
              b"chunked\r\n ", b"\r\n chunked", b"cow", b"chunked, cow", b"cow, chunked"]
    for value in values:
        yield "coding", post(b"Transfer-Encoding: " + value, body)
    for fields in (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                   b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                   b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
                   b"Transfer-Encoding : chunked", b" Transfer-Encoding: chunked", b"Transfer-Encoding\t: chunked",
                   b"Transfer_Encoding: chunked", b"Transfer-Encoding:chunked", b"X: y\r\n Transfer-Encoding: chunked",
                   b"Transfer-Encoding\x00: chunked", b"Transfer-Encoding\r\n: chunked"):
        yield "coding", post(fields, body)
    for length in (b"0", b"5", b"15", b"3"):
        for value in (b"chunked", b"identity", b"xchunked", b"chunked, identity"):
            yield "both", post(b"Content-Length: " + length + b"\r\nTransfer-Encoding: " + value, body)
            yield "both", post(b"Transfer-Encoding: " + value + b"\r\nContent-Length: " + length, body)
    old = b"POST / HTTP/1.0\r\nHost: a\r\n"
    yield "coding", old + b"Transfer-Encoding: chunked\r\n\r\n" + body
    yield "coding", old + b"Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + body


def chunks():
    """Sizes, extensions, ends and trailers of chunks."""
    sizes = [b"5", b"05", b"0000000000000005", b"00000000000000005", b"0x5", b"0X5", b"+5", b"-5", b"-0", b"5_", b"5 ",
             b" 5", b"\t5", b"5\t", b"5\x00", b"5\x0b", b"", b"g", b"5g", b"5;", b"5;a", b"5;a=b", b'5;a="b"', b"5 ;a",
             b"5; a=b", b"5;a\x00", b"5;\n", b"5;a\r", b"5\r", b"5,", b"ffffffffffffffff", b"10000000000000005",
             b"fffffffffffffff5", b"8000000000000005", b"5;" + b"a" * 200]
    for size in sizes:
        yield "chunk", chunked(size + b"\r\nhello\r\n0\r\n\r\n")
    for body in (b"5\nhello\r\n0\r\n\r\n", b"5\rhello\r\n0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n", b"5\r\nhello0\r\n\r\n",
                 b"5\r\nhello\r0\r\n\r\n", b"5\r\nhelloX\r\n0\r\n\r\n", b"5\r\nhell\r\n0\r\n\r\n", b"5\r\nhello\rX0\r\n\r\n",
                 b"5\r\nhello\r\n\r\n0\r\n\r\n", b"5\r\nhello\r\n0\n\r\n", b"5\r\nhello\r\n0\r\n\n",
                 b"5\r\nhello\r\n0\r\n\r", b"5\r\nhello\r\n00\r\n\r\n", b"5\r\nhello\r\n0;a\r\n\r\n",
                 b"5\r\nhello\r\n0\r\nA: b\r\n\r\n", b"5\r\nhello\r\n0\r\nA : b\r\n\r\n", b"5\r\nhello\r\n0\r\nA\r\n\r\n",
                 b"5\r\nhello\r\n0\r\n: b\r\n\r\n", b"5\r\nhello\r\n0\r\nA: b\n\r\n", b"5\r\nhello\r\n0\r\nA: b\x00\r\n\r\n",
                 b"5\r\nhello\r\n0\r\n A: b\r\n\r\n", b"5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n", b"0\r\n\r\n",
                 b"\r\n0\r\n\r\n", b"5\r\nhello\r\n-0\r\n\r\n", b"5\r\nhello\r\n0 \r\n\r\n"):
        yield "chunk", chunked(body)


def versions():
    for version in (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/1.9", b"HTTP/1.10", b"HTTP/1.32", b"HTTP/01.1",
                    b"HTTP/1.01", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/9.9", b"HTTP/3", b"HTTP/1", b"HTTP/", b"HTTP/1.",
                    b"HTTP/.1", b"HTTP/1,1", b"HTTP/11", b"http/1.1", b"Http/1.1", b"HTTP 1.1", b"HTTPS/1.1", b"ICE/1.0",
                    b"RTSP/1.0", b"HTTP/4294967297.1", b"HTTP/-1.1", b"HTTP/+1.1", b"HTTP/1.1x", b"XHTTP/1.1", b""):
        yield "version", b"GET / " + version + b"\r\nHost: a\r\n\r\n"
    yield "version", b"GET /\r\n\r\n"
    yield "version", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def hosts():
    for fields in (b"Host: a", b"Host: a:80", b"Host: [::1]", b"Host: [::1]:80", b"Host:", b"Host: ", b"Host: a b",
                   b"Host: a,b", b"Host: a/b", b"Host: a@b", b"Host: a?b", b"Host: a#b", b"Host: a\\b", b"Host: a:b",
                   b"Host: a:80:80", b"Host: a:-1", b"Host: a:99999999", b"Host: \x00", b"Host: a\x00", b"Host: \xff",
                   b"Host: a\r\nHost: a", b"Host: a\r\nHost: b", b"Host: a\r\nhost: a", b"Host : a", b" Host: a",
                   b"Host\x00: a", b"X: y", b"Host: a\r\n b", b"Host: [::1", b"Host: ::1]", b"Host: a:"):
        yield "host", b"GET / HTTP/1.1\r\n" + fields + b"\r\n\r\n"


def targets():
    for target in (b"/", b"*", b"a", b"", b"http://a/", b"http://a", b"http://b/", b"http:///", b"http://a b/", b"a:80",
                   b"/%", b"/%z", b"/%00", b"/%41", b"/\xff", b"/#", b"/a#b", b"/?a#b", b"//", b"/../", b"/a\\b", b"/\"", b"/<",
                   b"/{", b"/|", b"/^", b"/`", b"ftp://a/", b"HTTP://a/", b"http://u@a/", b"?"):
        yield "target", b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n"
    for method in (b"GET", b"get", b"G=", b"G\x00", b"", b"GET,", b"X" * 40, b"CONNECT", b"OPTIONS", b"TRACE", b"PUT",
                   b"\xff", b"G(T", b"PATCH"):
        yield "method", method + b" / HTTP/1.1\r\nHost: a\r\n\r\n"


def insertions():
    """Every awkward byte at every position, and in place of the byte there."""
    text = b"GET /a HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\n"
    for byte in (b" ", b"\t", b"\r", b"\n", b"\x00", b"\x0b", b"\x0c", b"\x1f", b"\x7f", b"\x80", b":", b","):
        for at in range(len(text) + 1):
            yield "inserted", text[:at] + byte + text[at:]
            if at < len(text) and text[at:at + 1] != byte:
                yield "replaced", text[:at] + byte + text[at + 1:]


@functools.cache
def cases():
    """{bytes: its group}"""
    grid = {}
    for group in (lengths, codings, chunks, versions, hosts, targets, insertions):
        for name, data in group():
            grid.setdefault(data, name)
    return grid


# --- the peers ---


def codes_of(data):
    """The codes of a stream of answers whose bodies have no line that looks like a status line."""
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3})[ \r]", data) if code != b"100"]


async def ask(port, data):
    """The codes that a server answers to a case, up to the end of the connection or of its patience."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    with contextlib.suppress(OSError, asyncio.TimeoutError):
        writer.write(data + LAST)
        await writer.drain()
        while piece := await asyncio.wait_for(reader.read(65536), IDLE_S):
            answer += piece
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return codes_of(answer)


async def ask_all(port):
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(data):
        async with gate:
            return await ask(port, data)

    return dict(zip(cases(), await asyncio.gather(*map(one, cases()))))


def over_socket(port):
    return asyncio.run(ask_all(port))


def by_h11(data):
    """The same of h11, which has no sockets."""
    connection = h11.Connection(h11.SERVER)
    codes = []
    connection.receive_data(data + LAST)
    try:
        while True:
            event = connection.next_event()
            if event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                if event is h11.PAUSED and connection.our_state is h11.DONE:
                    connection.start_next_cycle()
                    continue
                return codes
            if isinstance(event, h11.EndOfMessage):
                codes.append(200)
                connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                connection.send(h11.EndOfMessage())
    except h11.RemoteProtocolError as error:
        return [*codes, error.error_status_hint]
    except h11.LocalProtocolError:
        return codes  # the end that was asked for


@contextlib.contextmanager
def started(command, port, **options):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as process:
        try:
            asyncio.run(await_port(port, process))
            yield
        finally:
            process.terminate()
            process.wait(10)


async def await_port(port, process):
    for _ in range(500):
        assert process.poll() is None, f"{process.args[0]} ended with {process.returncode}"
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{process.args[0]} does not listen")


def of_file(template, name, command):
    """A peer whose configuration is a file."""
    with tempfile.TemporaryDirectory(prefix="weir-peer-") as folder:
        port = free_port()
        path = f"{folder}/{name}"
        with open(path, "w", encoding="ascii") as file:
            file.write(template % {"port": port, "folder": folder})
        with started([*command, path], port):
            return over_socket(port)


PEERS = {
    "nginx": ("nginx-light", lambda: of_file(NGINX, "nginx.conf", ["nginx", "-c"])),
    "haproxy": ("haproxy", lambda: of_file(HAPROXY, "haproxy.cfg", ["haproxy", "-f"])),
    "node": ("nodejs", lambda: of_file(NODE, "server.js", ["node"])),
}


@functools.cache
def answers():
    """{peer: {case: codes}} of the peers that are installed, weir among them."""
    found = {}
    with Server("--protocol", "http1", "--handler", "respond:2", "--conn-max", "4096") as server:
        found["weir"] = over_socket(server.port)
        server.end()
    for name, (_, asks) in PEERS.items():
        if shutil.which(name):
            found[name] = asks()
    if h11:
        found["h11"] = {data: by_h11(data) for data in cases()}
    return found


REFUSALS = (400, 408, 411, 413, 414, 417, 431, 501, 505)


def taken(codes):
    """How many requests were understood: answers before the first that says the request was not."""
    return next((number for number, code in enumerate(codes) if code in REFUSALS), len(codes))


def differences(peer):
    """[(group, case, weir's codes, the peer's)] where the two do not understand the same requests."""
    mine, theirs = answers()["weir"], answers()[peer]
    return [(cases()[data], data, mine[data], theirs[data]) for data in cases()
            if taken(mine[data]) != taken(theirs[data])]


# Where weir takes what a peer refuses, and why that is right: (peer, a part of the case's bytes, why).
ALLOWED = [
    ("nginx", b"GET /../ ", "a path is the handler's; `static` never leaves its folder"),
    ("nginx", b"TRACE / ", "both refuse it with 405; nginx ends the connection, too"),
    ("haproxy", b"GET http://b/ ", "RFC 9112 section 3.2.2: the Host field is ignored beside an absolute-form"),
    ("node", b"GET / HTTP/1.0", "both end behind it; node calls what follows an error"),
]


def both_refuse(mine, theirs):
    """Whether each finds an error in the bytes. Node drops the answers that it owes before it."""
    return any(code in REFUSALS for code in mine) and any(code in REFUSALS for code in theirs)


def lenient(peer):
    """The differences in which weir takes more than the peer does."""
    return [one for one in differences(peer) if taken(one[2]) > taken(one[3])
            and not (peer == "node" and both_refuse(one[2], one[3]))
            and not any(peer == name and part in one[1] for name, part, _ in ALLOWED)]


def judge(peer, package):
    if peer not in answers():
        raise Skip(f"there is no {peer}; install {package}")
    wrong = lenient(peer)
    assert not wrong, "\n".join([f"{len(wrong)} cases"] + [f"{group}: {data!r}: weir {mine}, {peer} {theirs}"
                                                          for group, data, mine, theirs in wrong[:20]])


for _peer, _package in {**{name: package for name, (package, _) in PEERS.items()}, "h11": "python3-h11"}.items():
    test(f"weir takes no request that {_peer} refuses or reads otherwise")(functools.partial(judge, _peer, _package))


@test("the grid is as large as it should be, and weir answers both requests of a sound case")
def grid_is_sound():
    assert len(cases()) > 1000, len(cases())
    sound = [post(b"Content-Length: 5"), chunked(b"5\r\nhello\r\n0\r\n\r\n"), b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"]
    for data in sound:
        assert answers()["weir"][data] == [200, 200], (data, answers()["weir"][data])


def print_differences():
    """Markdown: a table a peer, sorted by group."""
    print(f"{len(cases())} cases.\n")
    for peer in answers():
        if peer == "weir":
            continue
        found = differences(peer)
        print(f"## {peer}: {len(found)} differences, {len(lenient(peer))} in which weir takes more\n")
        print(f"| group | request | weir | {peer} |\n|---|---|---|---|")
        for group, data, mine, theirs in sorted(found):
            text = repr(data)[2:-1].replace("|", "\\|").replace("`", "'")
            print(f"| {group} | `{text}` | {mine} | {theirs} |")
        print()


if __name__ == "__main__":
    if LIST:
        print_differences()
        sys.exit(0)
    sys.exit(run_tests())
